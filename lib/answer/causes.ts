/**
 * Effects of one cause. A metric that contains a phase shows the phase's effect again: if what is left without it is too
 * small to count, the phase is the cause and is named once.
 */
import { findMetric } from '../metrics/registry.js';
import type { SharedCause } from '../results/answer-schema.js';
import type { Effect } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { unitsIn } from '../results/text/quantity.js';
import { rowsOf, type View } from '../results/view.js';
import { isDifference } from '../results/text/effect-text.js';

/** What a phase is called. */
export const phaseName = (id: string): string => findMetric(id)?.costOf ?? findMetric(id)?.name ?? id;

/** The smallest difference that isDifference, in the metric's unit. */
function smallest(view: View, { metric, baseline }: Effect): number | null {
  const delta = findMetric(metric)?.delta;
  if (!delta) return null;
  if ('absolute' in delta) return delta.absolute;
  const row = rowsOf(view).find(({ id }) => id === metric);
  const value = row?.cells.find(({ system }) => system === baseline)?.value ?? null;
  return value === null ? null : delta.relative * Math.abs(value);
}

/** The difference of a phase in the unit of the metric that contains it. */
function converted({ difference, metric }: Effect, whole: Effect): number | null {
  const [unit, wanted] = [metric, whole.metric].map((id) => findMetric(id)?.unit ?? '');
  const factor = unitsIn(unit ?? '', wanted ?? '');
  return difference === null || factor === null ? null : difference * factor;
}

/** The fewest phases that explain an effect: one if one is enough, else all. */
function phasesOf(view: View, whole: Effect, effects: readonly Effect[]): string[] | null {
  const contained = findMetric(whole.metric)?.contains ?? [];
  const bound = smallest(view, whole);
  const phases = effects
    .filter(({ metric, verdict }) => contained.includes(metric) && verdict === whole.verdict)
    .filter(isDifference)
    .flatMap((effect) => {
      const part = converted(effect, whole);
      return part === null ? [] : [{ id: effect.metric, part }];
    })
    .sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  if (bound === null || whole.difference === null) return null;
  const total = whole.difference;
  const left = (some: typeof phases) => Math.abs(total - some.reduce((sum, { part }) => sum + part, 0));
  const explaining = [...phases.map((phase) => [phase]), ...(phases.length > 1 ? [phases] : [])];
  const found = explaining.find((some) => left(some) <= bound);
  return found ? found.map(({ id }) => id) : null;
}

function ofSystem(view: View, system: string): SharedCause[] {
  const effects = view.effects.filter((effect) => effect.system === system);
  const explained = effects.filter(isDifference).flatMap((effect) => {
    const phases = phasesOf(view, effect, effects);
    return phases ? [{ metric: effect.metric, phases }] : [];
  });
  return [...grouped(explained, ({ phases }) => phases.join(' '))].map(([, some]) => {
    const phases = some[0]?.phases ?? [];
    return { system, phases, what: phases.map(phaseName).join(' and '), explains: some.map(({ metric }) => metric) };
  });
}

/** The causes of effects of all compared systems. */
export const sharedCauses = (view: View): SharedCause[] =>
  view.systems.filter(({ isCompared }) => isCompared).flatMap(({ name }) => ofSystem(view, name));
