/**
 * Which system for which work, from significant differences and nothing else: a system is better in a metric where its
 * verdict is, or where both differ from the baseline the same way and their intervals do not meet.
 */
import type { Effect } from '../document.js';
import { plain } from './plain.js';
import { isComparison, type View } from './view.js';

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
  if (!isComparison(view.document)) return [];
  return useCases.map(({ name, depends, metrics }) => {
    const effects = view.effects.filter((effect) => metrics.test(effect.metric) && effect.verdict !== 'invalid');
    const text = effects.length === 0 ? `Not measured here: needs ${depends}.` : advice(view, effects);
    return { useCase: name, text: plain(text) };
  });
}

interface Choice {
  text: string;
  /** Beaten in nothing, and better in something. */
  best: string[];
}

/** Of all systems, and where that is the baseline or nobody, of those that are compared with it. */
function advice({ systems }: View, effects: readonly Effect[]): string {
  const compared = systems.filter(({ name }) => effects.some(({ system }) => system === name)).map(({ name }) => name);
  const baselines = systems.filter(({ isBaseline }) => isBaseline).map(({ name }) => name);
  const { text, best } = choice([...baselines, ...compared], effects);
  const open = compared.length > 1 && !best.some((name) => compared.includes(name));
  const others = open ? ` Of ${compared.join(', ')} alone: ${choice(compared, effects).text}.` : '';
  return `${text}${doubt(effects)}.${others}`;
}

function choice(names: readonly string[], effects: readonly Effect[]): Choice {
  const duels = names
    .flatMap((a) => names.filter((b) => b !== a).map((b) => ({ a, b, won: wins(a, b, effects) })))
    .filter(({ won }) => won.length > 0);
  if (duels.length === 0) return { text: 'no significant difference', best: [] };
  const best = names.filter((name) => duels.some(({ a }) => a === name) && duels.every(({ b }) => b !== name));
  const sentence = (name: string) => {
    const own = duels.filter(({ a }) => a === name).map(({ b, won }) => `than ${b} in ${won.join(', ')}`);
    return `${name}, better ${own.join(', ')} and worse in nothing`;
  };
  if (best.length > 0) return { text: best.map(sentence).join('; or '), best };
  const each = duels.map(({ a, b, won }) => `${a} is better than ${b} in ${won.join(', ')}`);
  return { text: `a trade-off: ${each.join('; ')}`, best };
}

function doubt(effects: readonly Effect[]): string {
  const open = effects.filter(({ verdict }) => verdict === 'ambiguous').length;
  return open === 0 ? '' : `; ${open} of ${effects.length} effects are ambiguous`;
}

/** Metrics in which `a` is shown to be better than `b`. */
function wins(a: string, b: string, effects: readonly Effect[]): string[] {
  const metrics = [...new Set(effects.map(({ metric }) => metric))];
  const of = (system: string, metric: string) =>
    effects.find((effect) => effect.metric === metric && effect.system === system) ??
    baselineOf(system, metric, effects);
  return metrics.filter((metric) => {
    const [first, second] = [of(a, metric), of(b, metric)];
    return first !== null && second !== null && isBetter(first, second);
  });
}

type Standing = Pick<Effect, 'verdict' | 'ratioCi95'>;

/** The baseline stands where it stands: at no difference to itself. */
function baselineOf(system: string, metric: string, effects: readonly Effect[]): Standing | null {
  const isBaseline = effects.some((effect) => effect.metric === metric && effect.baseline === system);
  return isBaseline ? { verdict: 'same', ratioCi95: [1, 1] } : null;
}

const rank: Partial<Record<Effect['verdict'], number>> = { faster: 0, same: 1, slower: 2 };

function isBetter(a: Standing, b: Standing): boolean {
  const [first, second] = [rank[a.verdict], rank[b.verdict]];
  if (first === undefined || second === undefined) return false;
  if (first !== second) return first < second;
  return a.verdict !== 'same' && a.ratioCi95 !== null && b.ratioCi95 !== null && a.ratioCi95[1] < b.ratioCi95[0];
}
