/** The cost of each driver call under each system, from in-process pairs: the rows that every format shows. */
import { callEffects } from '../../metrics/core/call-effects.js';
import type { CallEffect } from '../../results/document.js';
import { isComparison } from '../../results/kinds.js';
import { capitalised, plain } from '../../results/text/plain.js';
import { counted, type EstimateText, estimateText, quantity } from '../../results/text/quantity.js';
import { rowsOf, type View } from '../../results/view.js';
import { markdownBlock, markdownText, titledMarkdown } from '../markdown/markdown-text.js';
import { type DataTable, estimate, numeric } from './table-data.js';

export interface SystemCosts {
  system: string;
  /**
   * Intercepted calls with a resolved cost, most expensive first. A call that several metrics measured appears once: a
   * reader must not have to choose between two figures.
   */
  calls: CallEffect[];
  /** Intercepted calls whose interval includes zero, or that only one round measured. */
  unresolved: CallEffect[];
}

/**
 * Metric that makes calls in a loop, with the layer's code in the cache: any other metric of the same call is closer to
 * a program.
 */
const IN_A_LOOP = 'OH-005';

/** Whether a call is shown: the first one that was not made in a loop, else that of the loop. */
function isChosen(call: CallEffect, all: readonly CallEffect[]): boolean {
  const same = all.filter((other) => other.call === call.call);
  return call === (same.find(({ metric }) => metric !== IN_A_LOOP) ?? same[0]);
}

/** Costs of calls by system, without systems that intercept none. */
export function callCosts(view: View): SystemCosts[] {
  if (!isComparison(view.document)) return [];
  const all = view.callEffects ?? callEffects(view.systems.map(({ rounds }) => rounds));
  return view.systems.flatMap(({ name }) => {
    const calls = all
      .filter(({ system, intercepted, metric }) => system === name && intercepted && !isSilent(view, name, metric))
      .filter((call, _, own) => isChosen(call, own))
      .sort((a, b) => b.overheadNs - a.overheadNs);
    const isResolved = ({ verdict }: CallEffect) => verdict === 'slower' || verdict === 'faster';
    return calls.length === 0
      ? []
      : [{ system: name, calls: calls.filter(isResolved), unresolved: calls.filter((call) => !isResolved(call)) }];
  });
}

/** Whether no value of the metric that made the pairs is shown for the system: a layer deceived it in a round. */
const isSilent = (view: View, name: string, metric: string): boolean =>
  rowsOf(view).some(
    ({ id, cells }) => id === metric && cells.some(({ system, value }) => system === name && value === null),
  );

/** Formats a cost with its sign and the interval over rounds. */
export const costText = ({ overheadNs, overheadCi95 }: CallEffect): EstimateText =>
  estimateText({ value: overheadNs, ci95: overheadCi95 }, 'ns', true);

/** Names the symbol paths on which a program meets the layer; null if it meets it on all. */
function someWays({ interceptedOn }: CallEffect): string | null {
  return interceptedOn === null || interceptedOn.length === 0 || interceptedOn.length === 3
    ? null
    : `${interceptedOn.join(' and ')} only`;
}

/** Most calls that are listed; cheaper ones are only counted. */
export const MOST_CALLS = 12;

export const COSTS_NOTE =
  'Each call is made alternately through the program’s pointer and through the driver’s own, in one process. The interval is over rounds. OH-001 makes the call in isolation; OH-005 makes it in a loop, for calls that no other metric makes, with the layer’s code and data in the nearest cache; OH-002, OH-003 and OH-007 allocate and free among as many live blocks as the call names.';

/** Summarises the calls that are not shown. */
export function restText({ calls, unresolved }: SystemCosts, shown: number): string | null {
  const rest = calls.slice(shown);
  const most = rest[0];
  const parts = [
    ...(most ? [`${rest.length} more intercepted calls cost ${quantity(most.overheadNs, 'ns')} or less each`] : []),
    ...(unresolved.length > 0
      ? [`the cost of ${counted(unresolved.length, 'intercepted call')} is not resolved: ${named(unresolved)}`]
      : []),
  ];
  return parts.length === 0 ? null : `${capitalised(parts.join('; '))}.`;
}

const MOST_NAMED = 5;

function named(calls: readonly CallEffect[]): string {
  const names = [...new Set(calls.map(({ call }) => call))];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return plain(`${names.slice(0, MOST_NAMED).join(', ')}${more}`);
}

/** Table of the calls of a system; null without any. */
export function costTable({ system, calls }: SystemCosts, most = calls.length): DataTable | null {
  if (calls.length === 0) return null;
  return {
    title: `What each call costs: ${system}`,
    columns: [
      { title: 'Call' },
      numeric('Added per call', '95 % interval'),
      numeric('Without the layer'),
      { title: 'Measured by' },
      { title: 'Intercepted on' },
      { title: 'Owner' },
      numeric('Rounds'),
    ],
    rows: calls.slice(0, most).map((cost) => ({
      metric: cost.metric,
      cells: [
        cost.call,
        estimate(costText(cost), cost.overheadNs, 'ns'),
        { text: quantity(cost.bareNs, 'ns'), sort: cost.bareNs, unit: 'ns' },
        cost.metric,
        someWays(cost) ?? 'every path',
        cost.owner ?? '–',
        { text: String(cost.rounds), sort: cost.rounds },
      ],
    })),
  };
}

/** All tables; null if no system intercepts a call. */
export function costsMarkdown(view: View): string | null {
  const systems = callCosts(view).map((costs) => {
    const content = costTable(costs, MOST_CALLS);
    const rest = restText(costs, Math.min(MOST_CALLS, costs.calls.length));
    return [
      content ? titledMarkdown(content) : `**${markdownText(costs.system)}**`,
      ...(rest === null ? [] : [markdownBlock(rest)]),
    ].join('\n\n');
  });
  return systems.length === 0 ? null : [COSTS_NOTE, ...systems].join('\n\n');
}
