/** The executive summary: the most important effects, verdicts and states in sentences. */
import { findMetric } from '../metrics/registry.js';
import { isOfProgram } from '../metrics/stored-definitions.js';
import type { CallEffect, Effect } from '../results/document.js';
import { effectText, VERDICTS } from '../results/effect-text.js';
import { capitalised, plain } from '../results/plain.js';
import { estimateText, inOneLine, quantity } from '../results/quantity.js';
import { rowsOf, type View } from '../results/view.js';
import { callCosts, costText, type SystemCosts } from './costs.js';
import { interferenceMaps, queueSentence } from './isolation/interference.js';

/** More are left to the tables. */
const MOST_COSTS = 4;
const MOST_OPEN = 6;

export function summaryText(view: View): string[] {
  const compared = view.systems.filter(({ isCompared }) => isCompared);
  const priced = callCosts(view);
  return [
    ...(view.completed ? [] : ['Interrupted: this report contains only what was measured until then.']),
    ...(compared.length > 0 ? compared.map(({ name }) => against(view, name, priced)) : [states(view)]),
    ...unmeasuredSystems(view),
    ...(view.violations.length > 0 ? [`Limits shown not to hold: ${view.violations.length}.`] : []),
  ];
}

function against(view: View, name: string, priced: readonly SystemCosts[]): string {
  const effects = view.effects.filter(({ system }) => system === name);
  const [first] = effects;
  if (!first) return plain(`${name}: no verdict, because no metric was measured under both it and the baseline.`);
  const sentences = [
    violated(view, name),
    costs(view, effects),
    ...interferenceMaps(view).flatMap((map) => (map.system === name ? queueSentence(map) : null)),
    calls(priced.find(({ system }) => system === name)),
    tally(effects),
    open(effects),
  ];
  return plain(`${name} against ${first.baseline}: ${sentences.filter(Boolean).join(' ')}`);
}

function violated({ violations }: View, name: string): string | null {
  const own = violations.filter(({ system }) => system === name);
  const metrics = [...new Set(own.map(({ metric }) => metric))].join(', ');
  return own.length === 0
    ? null
    : `${own.length === 1 ? '1 limit' : `${own.length} limits`} did not hold (${metrics}).`;
}

/** The costs that metric definitions single out for users; without any, whatever is worse. */
function costs(view: View, effects: readonly Effect[]): string | null {
  const worse = effects.filter(({ verdict }) => verdict === 'slower').sort((a, b) => sizeOf(b) - sizeOf(a));
  const better = effects.filter(({ verdict }) => verdict === 'faster').sort((a, b) => sizeOf(b) - sizeOf(a));
  const named = (effect: Effect) => findMetric(effect.metric)?.costOf !== undefined;
  const most = (worse.some(named) ? worse.filter(named) : worse).slice(0, MOST_COSTS);
  const parts = [
    ...(most.length > 0 ? [`it costs most in ${most.map((effect) => effectCost(view, effect)).join(', ')}`] : []),
    ...(better.length > 0
      ? [
          `it is better in ${better
            .slice(0, MOST_COSTS)
            .map((effect) => effectCost(view, effect))
            .join(', ')}`,
        ]
      : []),
  ];
  return parts.length === 0 ? null : capitalised(`${parts.join('; ')}.`);
}

/** `cuInit +186.4 ms, × 2.885 (2.802 … 2.969)`. */
function effectCost(view: View, effect: Effect): string {
  const { metric, difference, ratio } = effect;
  const row = rowsOf(view).find(({ id }) => id === metric);
  const unit = row?.unit ?? '';
  const what = findMetric(metric)?.costOf ?? (isOfProgram(metric) ? metric : (row?.name ?? metric));
  const apart =
    ratio === null || difference === null
      ? ''
      : ` ${estimateText({ value: difference, ci95: null }, unit, true).value},`;
  return `${what}${apart} ${effectText(effect, unit)}`;
}

/** If two metrics measured a call, uses the more expensive result. */
function calls(own: SystemCosts | undefined): string | null {
  if (!own) return null;
  const worse = own.calls.filter(({ overheadNs }) => overheadNs > 0);
  const once = worse.filter(({ call }, i) => worse.findIndex((other) => other.call === call) === i);
  if (once.length === 0) return 'No call has a measurable cost.';
  const rest = once[MOST_COSTS];
  const others = rest ? `; ${once.length - MOST_COSTS} more ${quantity(rest.overheadNs, 'ns')} or less` : '';
  return `Each call costs: ${once.slice(0, MOST_COSTS).map(callText).join(', ')}${others}.`;
}

const callText = (call: CallEffect): string => `${call.call} ${inOneLine(costText(call))}`;

function tally(effects: readonly Effect[]): string {
  const parts = VERDICTS.flatMap((verdict) => {
    const count = effects.filter((effect) => effect.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  return `Of ${effects.length} metrics: ${parts.join(', ')}.`;
}

/** The metrics that need the fewest further rounds to be resolved. */
function open(effects: readonly Effect[]): string | null {
  const those = effects.filter(({ verdict }) => verdict === 'inconclusive');
  const known = those
    .flatMap(({ metric, roundsNeeded: rounds }) => (rounds === null ? [] : [{ metric, rounds }]))
    .sort((a, b) => a.rounds - b.rounds);
  if (those.length === 0) return null;
  const named = known.slice(0, MOST_OPEN).map(({ metric, rounds }) => `${metric} ${rounds}`);
  const more = those.length - named.length;
  return named.length === 0
    ? 'These rounds do not show how many would resolve the inconclusive metrics.'
    : `Estimated rounds that the inconclusive metrics need: ${named.join(', ')}${more > 0 ? `; ${more} more` : ''}.`;
}

/** Differences have units of their own, so they come after the ratios. */
const sizeOf = ({ ratio }: Effect): number => (ratio === null || ratio <= 0 ? -1 : Math.abs(Math.log(ratio)));

function states(view: View): string {
  const results = rowsOf(view).flatMap(({ cells }) => cells.flatMap((cell) => cell.results));
  const count = (status: string) => results.filter((result) => result.status === status).length;
  const parts = ['ok', 'unsupported', 'invalid', 'failed'].flatMap((status) =>
    count(status) > 0 ? [`${count(status)} ${status}`] : [],
  );
  const systems = view.systems.length > 1 ? ` in ${view.systems.length} systems` : '';
  return `${rowsOf(view).length} metrics${systems}: ${parts.join(', ') || 'none measured'}.`;
}

/** A system without any number: the reason, once. */
function unmeasuredSystems(view: View): string[] {
  return view.systems.flatMap(({ name }) => {
    const cells = rowsOf(view).flatMap((row) => row.cells.filter(({ system }) => system === name));
    const results = cells.flatMap((cell) => cell.results);
    if (results.length === 0 || results.some(({ status }) => status === 'ok')) return [];
    const reasons = [...new Set(results.map(({ status, reason }) => (reason ? `${status}: ${reason}` : status)))];
    return reasons.length === 1 ? [plain(`${name}: no numbers; ${reasons[0]}`)] : [plain(`${name}: no numbers.`)];
  });
}
