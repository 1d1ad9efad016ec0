/** Results without a number because other programs kept the host's processors busy. */
import type { Check, MetricResult } from '../../results/document.js';
import { HOST_AT_REST } from '../../environment/machine-health.js';

/**
 * If the host's processor is taken away, a batch of launches lasts longer by the host's clock than by the device's.
 */
const EVENTS = String.raw`^the events around .* measured [\d.]+ ms, the host's clock [\d.]+ ms\.$`;
const WALKS =
  '^no walk of the victim lies in the time in which every neighbour ran$|^every neighbour ran beside the victim: ';
const ALONE = '^read alone: at most one window differs by more than ';
const APART = '^the tenants did not run at the same time$';
/** The simulated device answers in a thread of its own, which a busy machine keeps waiting. */
const EXCHANGES = String.raw`^The device answered only [1-9]\d* clock exchanges\.$`;
const RELEASE = String.raw`^\d+ of \d+ processes were not ready at their release`;

/**
 * For each metric, the reasons for which a busy machine can make its result `invalid` or `unsupported`. The layer and the
 * card under test have no influence on them on a host at rest.
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
  'IS-015': '^slots began in time: ',
  'BW-001': `${ALONE}|${APART}`,
  'BW-002': APART,
  'BW-003': `${ALONE}|${APART}`,
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
  'LLM-011': '^the tenants worked at the same time: ',
  'LLM-010': '^speed-up from 1 to the number of ranks: ',
};

/** The parts of a result that tell. */
export type Said = Pick<MetricResult, 'id' | 'status' | 'reason'>;

/** Whether a metric says that it was disturbed in a way in which a busy host disturbs it. */
export const saysDisturbed = ({ id, status, reason = '' }: Said): boolean =>
  (status === 'invalid' || status === 'unsupported') && new RegExp(DISTURBED[id] ?? '^$').test(reason);

/** Whether the host was busy before the measurement, by whatever else ran there. */
export const wasBusy = (before: readonly Check[]): boolean =>
  before.some(({ name, passed }) => name === HOST_AT_REST && passed === false);
