/** Measuring on a machine that other programs may disturb. */
import type { MetricResult } from '../lib/results/document.js';
import { temporaryFolder } from './temporary.js';

/** What takes the host's processor away makes a batch of launches longer than the device says that it was. */
const EVENTS = String.raw`^the events around .* say [\d.]+ ms, the host's clock [\d.]+ ms\.$`;
const RELEASE = String.raw`^\d+ of \d+ processes were not ready at their release`;

/** By metric, for what reasons a busy machine can make its result `invalid`. No layer or card under test has part in them. */
const DISTURBED: Readonly<Record<string, string>> = {
  'OH-001': String.raw`^clock mapping$|^The device answered only \d+ clock exchanges\.$`,
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
  'IS-009': '^the offered rate was met alone: |^kernels of a request with more work did not take longer',
  'PCIE-003': '^the tenants did not copy at the same time: ',
  'FRAG-002': '^the allocator is as fast as before once all was freed: ',
  'LLM-001': EVENTS,
  'LLM-003': `^a single token streams the weights: |${EVENTS}`,
  'LLM-004': EVENTS,
  'LLM-008': EVENTS,
  'LLM-009': String.raw`^at least \d+ steps of a batch size: |^the offered load was met alone: `,
  'LLM-010': '^speed-up from 1 to the number of ranks: ',
};

/** What a result says of itself. */
type Said = Pick<MetricResult, 'id' | 'status' | 'reason'>;

export const isDisturbed = ({ id, status, reason = '' }: Said): boolean =>
  status === 'invalid' && new RegExp(DISTURBED[id] ?? '^$').test(reason);

const MOST_TIMES = 5;

/**
 * What `measure` resolves with. While a metric in it says that the machine disturbed it, it is measured again, five times
 * in all: what a user would do who reads that reason. No assertion is repeated: a number is the test's, however wrong, and
 * a metric that says so every time fails the test. `unresolved` has further reasons, which the result's own interval shows.
 */
export async function undisturbed<T>(
  measure: () => Promise<T>,
  resultsOf: (measured: T) => readonly (Said | undefined)[],
  unresolved: (measured: T) => readonly Pick<Said, 'id' | 'reason'>[] = () => [],
): Promise<T> {
  for (let time = 1; ; time++) {
    const measured = await measure();
    const invalid = resultsOf(measured).flatMap((result) => (result && isDisturbed(result) ? [result] : []));
    const disturbed = invalid.length > 0 ? invalid : unresolved(measured);
    if (disturbed.length === 0 || time === MOST_TIMES) return measured;
    for (const { id, reason } of disturbed) console.warn(`The machine disturbed ${id}, time ${time}: ${reason}`);
  }
}

/** The same of one metric whose processes record what they do: each time in a folder of its own, which is empty at first. */
export const undisturbedRecord = (
  measure: (record: string) => Promise<MetricResult>,
): Promise<{ result: MetricResult; record: string }> =>
  undisturbed(
    async () => {
      const record = temporaryFolder('record');
      return { result: await measure(record), record };
    },
    ({ result }) => [result],
  );
