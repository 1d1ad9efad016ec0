/** The executive summary: written from verdicts and states alone. */
import type { Effect } from '../document.js';
import { effectText, type Verdict, VERDICTS } from './effect-text.js';
import { plain } from './plain.js';
import { rowsOf, type SystemView, type View } from './view.js';

/** Beyond this many, the tables say it better. */
const MOST_NAMED = 3;

export function summaryText(view: View): string[] {
  const compared = view.systems.filter(({ isCompared }) => isCompared);
  return [
    ...(view.completed ? [] : ['Interrupted: this is what was measured until then.']),
    ...(compared.length > 0 ? compared.map((system) => against(view, system)) : [states(view)]),
    ...unmeasuredSystems(view),
    ...(view.violations.length > 0 ? [`Limits shown not to hold: ${view.violations.length}.`] : []),
  ];
}

function against(view: View, { name }: SystemView): string {
  const effects = view.effects.filter(({ system }) => system === name);
  const [first] = effects;
  if (!first) return plain(`${name}: no verdict, since no metric was measured in it and in the baseline.`);
  const parts = VERDICTS.flatMap((verdict) => {
    const those = effects.filter((effect) => effect.verdict === verdict);
    return those.length === 0 ? [] : [`${verdict} in ${those.length}${namedText(view, verdict, those)}`];
  });
  return plain(`${name} against ${first.baseline}, ${effects.length} metrics: ${parts.join(', ')}.`);
}

/** Of what differs, the largest; of the rest the number says enough. */
function namedText(view: View, verdict: Verdict, effects: readonly Effect[]): string {
  if (verdict !== 'slower' && verdict !== 'faster') return '';
  const sorted = [...effects].sort((a, b) => sizeOf(b) - sizeOf(a));
  const named = sorted.slice(0, MOST_NAMED).map((effect) => {
    const row = rowsOf(view).find(({ id }) => id === effect.metric);
    return `${effect.metric} ${effectText(effect, row?.unit ?? '')}`;
  });
  const more = sorted.length > MOST_NAMED ? ', …' : '';
  return ` (${named.join(', ')}${more})`;
}

/** Differences have units of their own: they come after the ratios. */
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

/** A system without a single number says why once, here. */
function unmeasuredSystems(view: View): string[] {
  return view.systems.flatMap(({ name }) => {
    const cells = rowsOf(view).flatMap((row) => row.cells.filter(({ system }) => system === name));
    const results = cells.flatMap((cell) => cell.results);
    if (results.length === 0 || results.some(({ status }) => status === 'ok')) return [];
    const reasons = [...new Set(results.map(({ status, reason }) => (reason ? `${status}: ${reason}` : status)))];
    return reasons.length === 1 ? [plain(`${name}: no numbers; ${reasons[0]}`)] : [plain(`${name}: no numbers.`)];
  });
}
