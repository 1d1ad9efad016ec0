/** The launches that OH-001 measures, as the simulated driver recorded them. */
import { durationOf, type Recorded, type RecordedCall } from './record.js';

/** The shortest pause before a launch that is measured; those that warm up follow one another. */
const GAP_NS = 49_000;

/** What the record says of the launches of a row: in the call, until the start, until the wait was over. */
export function recordedLaunches(recorded: Recorded, call: string) {
  const isMeasured = (before: RecordedCall, launch: RecordedCall) =>
    launch.kernel === 'gvb_stamp' && launch.entered - before.left > GAP_NS;
  const measured = recorded.following(call, isMeasured);
  const starts = new Map(recorded.following('cuStreamSynchronize', () => true).map((wait) => [wait, wait.left]));
  const waits = [...starts.keys()];
  let at = 0;
  const roundTrips = measured.map((launch) => {
    while ((waits[at]?.entered ?? Number.POSITIVE_INFINITY) < launch.left) at++;
    return (waits[at]?.left ?? Number.NaN) - launch.entered;
  });
  return { submits: measured.map(durationOf), starts: measured.map((l) => l.begins - l.entered), roundTrips };
}
