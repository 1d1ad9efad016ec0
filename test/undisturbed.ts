/** Measuring on a machine that other programs may disturb. */
import type { MetricResult } from '../lib/results/document.js';
import { temporaryFolder } from './temporary.js';

/**
 * If the host's processor is taken away, a batch of launches lasts longer by the host's clock than by the device's.
 */
const EVENTS = String.raw`^the events around .* measured [\d.]+ ms, the host's clock [\d.]+ ms\.$`;
const WALKS =
  '^no walk of the victim lies in the time in which every neighbour ran$|^every neighbour ran beside the victim: ';
const ALONE = '^read alone: at most one window differs by more than ';
/** The simulated device answers in a thread of its own, which a busy machine keeps waiting. */
const EXCHANGES = String.raw`^The device answered only [1-9]\d* clock exchanges\.$`;
const RELEASE = String.raw`^\d+ of \d+ processes were not ready at their release`;

/**
 * For each metric, the reasons for which a busy machine can make its result `invalid` or `unsupported`. The layer and the
 * card under test have no influence on them.
 */
const DISTURBED: Readonly<Record<string, string>> = {
  'OH-001': `^clock mapping$|${EXCHANGES}`,
  'OH-004': RELEASE,
  'OH-005': '^controls off: ',
  'OH-006': String.raw`^\d+ processes: not every process made progress while all of them were at work$`,
  'OH-007': '^cells off the line: ',
  'OH-008': '^demand was not below the budget: ',
  'OH-009': "^the threads' times add up to the process's: |^the threads from before the first driver call were idle: ",
  'START-006': RELEASE,
  'IS-006': '^the tenants worked at the same time: |^neighbours worked in every block ',
  'IS-007': '^neighbours: the tenants had no window in common$|^enough windows in common: |^every neighbour worked: ',
  'IS-008': '^every tenant progressed in the common time: ',
  'IS-009': '^the offered rate was met alone: |^kernels of a request did not take longer with more work',
  'BW-001': ALONE,
  'BW-003': ALONE,
  'PCIE-003': '^the tenants did not copy at the same time: |^a tenant was not ready to copy ',
  'CACHE-001': WALKS,
  'CACHE-003': '^the tenants had no time in common$|^working sets that fit are read at ',
  'CACHE-004': WALKS,
  'FRAG-002': '^the allocator is about as fast as before after everything was freed: ',
  'SCHED-001': String.raw`^only \d+ switches were seen |^the two tenants were not on the card |${EXCHANGES}`,
  'SCHED-004': `^the other process was on the card: |^enough launches met its kernels: |${EXCHANGES}`,
  'ERR-001': `^the clocks are mapped to |${EXCHANGES}`,
  'LLM-001': EVENTS,
  'LLM-003': `^a single token streams the weights: |${EVENTS}`,
  'LLM-004': EVENTS,
  'LLM-008': EVENTS,
  'LLM-009': String.raw`^at least \d+ steps of a batch size: |^the offered load was met alone: `,
  'LLM-010': '^speed-up from 1 to the number of ranks: ',
};

/** The same for all metrics of programs under load. */
const LATE = "^the client was late by |^the client's event loop was busy ";

/** The parts of a result that this file reads. */
type Said = Pick<MetricResult, 'id' | 'status' | 'reason'>;

export const isDisturbed = ({ id, status, reason = '' }: Said): boolean =>
  (status === 'invalid' || status === 'unsupported') &&
  new RegExp(DISTURBED[id] ?? (id.includes('/') ? LATE : '^$')).test(reason);

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
