/** Measuring on a machine that other programs may disturb. */
import { type Said, saysDisturbed, wasBusy } from '../lib/metrics/core/disturbed.js';
import type { MetricResult } from '../lib/results/document.js';
import { type ResultDocument, roundsOf } from '../lib/results/kinds.js';
import { temporaryFolder } from './temporary.js';

/** What the machine does to a client under load (lib/load/client-health.ts), at the begin of a reason. */
export const LATE_CLIENT =
  /^(?:Error: )?(?:the client was late by |the client's event loop was busy |\d+ of \d+ requests were sent more than )/m;

/** The exit code of a command whose document has no other fault than what the machine disturbed. */
export const codeOf = (document: ResultDocument): number =>
  roundsOf(document).some(
    ({ metrics, health }) =>
      !wasBusy(health.before) && metrics.some((each) => isDisturbed(each) && each.status === 'invalid'),
  )
    ? 1
    : 0;

export const isDisturbed = (said: Said): boolean =>
  said.id.includes('/')
    ? (said.status === 'invalid' || said.status === 'unsupported') && LATE_CLIENT.test(said.reason ?? '')
    : saysDisturbed(said);

const MOST_TIMES = 5;

/**
 * The resolved value of `measure`. While a metric in it reports that the machine disturbed it, it is measured again, up
 * to five times, as a user who reads that reason would do. No assertion is repeated: any number is the test's, however
 * wrong, and a metric that reports a disturbance every time fails the test. `unresolved` adds reasons that show in the
 * result's own interval.
 */
export async function undisturbed<T>(
  measure: () => Promise<T>,
  resultsOf: (measured: T) => readonly (Said | undefined)[],
  unresolved: (measured: T) => readonly Pick<Said, 'id' | 'reason'>[] = () => [],
): Promise<T> {
  for (let time = 1; ; time++) {
    const measured = await measure();
    const noNumber = resultsOf(measured).flatMap((result) => (result && isDisturbed(result) ? [result] : []));
    const disturbed = noNumber.length > 0 ? noNumber : unresolved(measured);
    if (disturbed.length === 0 || time === MOST_TIMES) return measured;
    for (const { id, reason } of disturbed) console.warn(`The machine disturbed ${id}, time ${time}: ${reason}`);
  }
}

export interface Measured {
  result: MetricResult;
  /** The folder with the records of its processes. */
  record: string;
}

/**
 * Like `undisturbed`, for one metric whose processes record their calls; each attempt uses a new, empty folder.
 * `disturbance`: why the record or the result's details show one, or null.
 */
export const undisturbedRecord = (
  measure: (record: string) => Promise<MetricResult>,
  disturbance: (measured: Measured) => string | null = () => null,
): Promise<Measured> =>
  undisturbed(
    async () => {
      const record = temporaryFolder('record');
      return { result: await measure(record), record };
    },
    ({ result }) => [result],
    (measured) => {
      const reason = disturbance(measured);
      return reason === null ? [] : [{ id: measured.result.id, reason }];
    },
  );
