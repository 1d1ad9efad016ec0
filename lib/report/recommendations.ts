/**
 * Which system for which work, from significant differences and nothing else: a system is better in a metric where its
 * verdict is, or where both differ from the baseline the same way and their intervals do not meet.
 */
import type { Effect } from '../document.js';
import { plain } from './plain.js';
import { besides } from './rounds.js';
import { rowsOf, type SystemView, type View } from './view.js';

export interface Recommendation {
  useCase: string;
  text: string;
}

/** A use is judged by the metrics that it depends on; an unmeasured one says so. */
const useCases: readonly { name: string; depends: string; metrics: RegExp }[] = [
  { name: 'Multi-tenant isolation', depends: 'isolation metrics (IS)', metrics: /^IS-/ },
  { name: 'LLM serving', depends: 'LLM metrics', metrics: /^LLM-/ },
  { name: 'Latency-critical work', depends: 'overhead metrics (OH)', metrics: /^OH-/ },
  { name: 'Short jobs and autoscaling', depends: 'start-up metrics (START)', metrics: /^START-/ },
];

export function recommendations(view: View): Recommendation[] {
  if (!view.systems.some(({ isCompared }) => isCompared)) return [];
  return useCases.map(({ name, depends, metrics }) => {
    const all = view.effects.filter((effect) => metrics.test(effect.metric));
    const judged = all.filter(({ verdict }) => verdict !== 'invalid');
    const text = judged.length === 0 ? `Not measured here: needs ${depends}` : advice(view, judged);
    return { useCase: name, text: plain(`${text}${without(view, metrics)}.`) };
  });
}

/** What has no verdict in any system, or an invalid one: it may have said otherwise. */
function without(view: View, metrics: RegExp): string {
  const missing = rowsOf(view).filter(
    ({ id, direction, cells }) =>
      metrics.test(id) &&
      direction !== 'none' &&
      cells.some((cell, index) => view.systems[index]?.isCompared && (cell.effect?.verdict ?? 'invalid') === 'invalid'),
  );
  return missing.length === 0 ? '' : `; without a verdict everywhere: ${missing.map(({ id }) => id).join(', ')}`;
}

const NO_DIFFERENCE = 'no significant difference';

interface Choice {
  text: string;
  /** Shown to be worse in nothing, and to be better in something. */
  best: string[];
}

/** Of all systems, and where that is the baseline or nobody, of those that are compared with it. */
function advice({ systems }: View, effects: readonly Effect[]): string {
  const compared = systems.filter(({ name }) => effects.some(({ system }) => system === name));
  const baselines = systems.filter(({ isBaseline }) => isBaseline);
  const { text, best } = choice([...baselines, ...compared], effects);
  const open = text !== NO_DIFFERENCE && compared.length > 1 && !compared.some(({ name }) => best.includes(name));
  const names = compared.map(({ name }) => name).join(', ');
  const others = open ? `; of ${names} alone: ${choice(compared, effects).text}` : '';
  return `${text}${doubt(effects)}${others}`;
}

function choice(systems: readonly SystemView[], effects: readonly Effect[]): Choice {
  const duels = systems
    .flatMap((a) => systems.filter((b) => b !== a).map((b) => ({ a: a.name, b: b.name, won: wins(a, b, effects) })))
    .filter(({ won }) => won.length > 0);
  if (duels.length === 0) return { text: NO_DIFFERENCE, best: [] };
  const names = systems.map(({ name }) => name);
  const best = names.filter((name) => duels.some(({ a }) => a === name) && duels.every(({ b }) => b !== name));
  const sentence = (name: string) => {
    const own = duels.filter(({ a }) => a === name).map(({ b, won }) => `than ${b} in ${won.join(', ')}`);
    return `${name}, better ${own.join(', ')} and not shown to be worse in anything`;
  };
  if (best.length > 0) return { text: best.map(sentence).join('; or '), best };
  const each = duels.map(({ a, b, won }) => `${a} is better than ${b} in ${won.join(', ')}`);
  return { text: `a trade-off: ${each.join('; ')}`, best };
}

function doubt(effects: readonly Effect[]): string {
  const open = effects.filter(({ verdict }) => verdict === 'ambiguous').length;
  return open === 0 ? '' : `; ${open} of ${effects.length} effects are ambiguous`;
}

/** Metrics in which `a` is shown to be better than `b`; none where they were measured in different sessions. */
function wins(a: SystemView, b: SystemView, effects: readonly Effect[]): string[] {
  if (besides(a.rounds, b.rounds).length === 0) return [];
  const metrics = [...new Set(effects.map(({ metric }) => metric))];
  return metrics.filter((metric) => {
    const [first, second] = [standingOf(a.name, metric, effects), standingOf(b.name, metric, effects)];
    return first !== null && second !== null && isBetter(first, second);
  });
}

type Standing = Pick<Effect, 'verdict' | 'ratioCi95'>;

/** The baseline stands where it stands: at no difference to itself. */
function standingOf(system: string, metric: string, effects: readonly Effect[]): Standing | null {
  const own = effects.find((effect) => effect.metric === metric && effect.system === system);
  const isBaseline = effects.some((effect) => effect.metric === metric && effect.baseline === system);
  return own ?? (isBaseline ? { verdict: 'same', ratioCi95: [1, 1] } : null);
}

const rank: Partial<Record<Effect['verdict'], number>> = { faster: 0, same: 1, slower: 2 };

function isBetter(a: Standing, b: Standing): boolean {
  const [first, second] = [rank[a.verdict], rank[b.verdict]];
  if (first === undefined || second === undefined) return false;
  if (first !== second) return first < second;
  return a.verdict !== 'same' && a.ratioCi95 !== null && b.ratioCi95 !== null && a.ratioCi95[1] < b.ratioCi95[0];
}
