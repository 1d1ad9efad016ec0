/** The questions that a card answers, and the metrics that answer them, the strongest evidence first. */
import { isOfProgram, keyOf } from '../metrics/core/stored-definitions.js';
import type { Question } from '../results/answer-schema.js';
import { rowsOf, type View } from '../results/view.js';

/** A source of a figure. */
export interface Source {
  /** The metric. */
  id: string;
  what: string;
  /**
   * What the figure shows: `difference` from the baseline in the metric's unit; `change` of the value in per cent;
   * `value` alone, beside the baseline's; `pair`: the metric's pairs of calls within one process, those whose name
   * begins with `call`.
   */
  as: 'difference' | 'change' | 'value' | 'pair';
  call?: string;
}

/** Possible sources of one figure. The first that any system has is used for all, so that cards can be compared. */
export type Slot = readonly Source[];

export const titles: Record<Question, string> = {
  start: 'What a start costs',
  calls: 'What a launch and an allocation cost',
  program: 'What my program or model loses',
  limits: 'Do its limits hold',
  neighbours: 'What neighbours and faults do',
};

const difference = (id: string, what: string): Source => ({ id, what, as: 'difference' });
const change = (id: string, what: string): Source => ({ id, what, as: 'change' });
const value = (id: string, what: string): Source => ({ id, what, as: 'value' });
const pair = (id: string, call: string, what: string): Source => ({ id, what, as: 'pair', call });

const start: Slot[] = [
  [
    difference('START-001', 'until the first result'),
    difference('OH-004', 'context creation'),
    difference('START-002', 'cuInit'),
    difference('START-006', 'first results of processes started together'),
  ],
];

const calls: Slot[] = [
  [
    pair('OH-001', 'cuLaunchKernel', 'launch'),
    difference('OH-001', 'launch'),
    difference('SCHED-002', 'launch'),
    pair('OH-005', 'cuLaunchKernel', 'launch in a loop'),
  ],
  [
    pair('OH-002', 'cuMemAlloc', 'allocation of 2 MiB'),
    difference('OH-007', 'allocation + free at 1 024 live blocks'),
    difference('OH-002', 'allocation of 2 MiB'),
  ],
];

const models: Slot[] = [
  [change('LLM-004', 'time per token')],
  [difference('OH-010', 'throughput lost')],
  [change('LLM-001', 'attention throughput')],
];

export const neighbours: Slot[] = [
  [
    value('IS-009', 'latency added by the worst neighbour'),
    value('BW-004', 'slow-down beside streams of memory'),
    value('PCIE-003', 'copies slowed by a neighbour'),
  ],
  [change('LLM-011', 'tokens of two tenants together')],
];

/** Ends of the ids of a program's metrics, in the order in which users ask for them. */
const PROGRAM_KEYS = [/tokens-per-second$/, /ttft$/, /itl$/, /requests-per-second$/, /wall$/];
const MOST_PROGRAM_FIGURES = 2;

/** The metrics of programs in this document, without those of victims beside their neighbours. */
function programs(view: View): Slot[] {
  const rows = rowsOf(view).filter(({ id, direction }) => isOfProgram(id) && direction !== 'none');
  const ranked = PROGRAM_KEYS.flatMap((key) => rows.filter(({ id }) => key.test(keyOf(id))));
  const others = rows.filter((row) => !ranked.includes(row));
  return [...ranked, ...others].slice(0, MOST_PROGRAM_FIGURES).map(({ id }) => [change(id, id)]);
}

/** Slots of the questions that effects answer. */
export function slotsOf(view: View, question: 'start' | 'calls' | 'program'): Slot[] {
  if (question === 'start') return start;
  if (question === 'calls') return calls;
  const own = programs(view);
  return own.length > 0 ? own : models;
}

/** What to measure for a question without an answer. */
export const metricsFor: Record<Question, readonly string[]> = {
  start: ['START-001', 'START-002'],
  calls: ['OH-001', 'OH-002'],
  program: ['LLM-004', 'OH-010'],
  limits: ['IS-001', 'IS-003', 'IS-011'],
  neighbours: ['IS-005', 'IS-009', 'IS-010'],
};
