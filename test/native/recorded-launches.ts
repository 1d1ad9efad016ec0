/** The launches that OH-001 measures, from the simulated driver's record. */
import { durationOf, type Recorded, type RecordedCall } from './record.js';

/** The shortest pause before a measured launch; warm-up launches follow one another. */
const GAP_NS = 49_000;

/** The recorded launches of a row: time in the call, until the start, until the end of the wait. */
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
