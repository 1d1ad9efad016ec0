/**
 * Recommends systems by use, from significant differences only: a system is better in a metric if its verdict is, or if
 * both differ from the baseline in the same direction and their intervals do not overlap.
 */
import type { Effect } from '../results/document.js';
import { plain } from '../results/plain.js';
import { besides } from '../results/rounds.js';
import { rowsOf, type SystemView, type View } from '../results/view.js';

export interface Recommendation {
  useCase: string;
  text: string;
}

/** A use is judged by the metrics that it depends on; if they were not measured, the text says so. */
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

/** Metrics without a valid verdict in some system: with it the recommendation might differ. */
function without(view: View, metrics: RegExp): string {
  const missing = rowsOf(view).filter(
    ({ id, direction, cells }) =>
      metrics.test(id) &&
      direction !== 'none' &&
      cells.some((cell, index) => view.systems[index]?.isCompared && (cell.effect?.verdict ?? 'invalid') === 'invalid'),
  );
  return missing.length === 0 ? '' : `; a verdict is missing in ${missing.map(({ id }) => id).join(', ')}`;
}

interface Standings {
  name: string;
  /** Metrics in which it is shown to be better than another system, and worse. */
  better: string[];
  worse: string[];
}

/** Ranks the systems that share the GPU, best first. The baseline is the reference and no candidate. */
function advice({ systems }: View, effects: readonly Effect[]): string {
  const compared = systems.filter(({ name }) => effects.some(({ system }) => system === name));
  const [only] = compared;
  if (only && compared.length === 1) return `${alone(only.name, effects)}${doubt(effects)}`;
  const duels = compared.flatMap((a) =>
    compared.filter((b) => b !== a).map((b) => ({ a: a.name, b: b.name, won: wins(a, b, effects) })),
  );
  if (duels.every(({ won }) => won.length === 0))
    return `no significant difference between ${compared.map(({ name }) => name).join(', ')}${doubt(effects)}`;
  const unique = (ids: readonly string[]) => [...new Set(ids)];
  const standings = compared.map(({ name }): Standings => ({
    name,
    better: unique(duels.filter(({ a }) => a === name).flatMap(({ won }) => won)),
    worse: unique(duels.filter(({ b }) => b === name).flatMap(({ won }) => won)),
  }));
  const ranked = standings.sort((a, b) => scoreOf(b) - scoreOf(a));
  const places = ranked.map((one) => 1 + ranked.filter((other) => scoreOf(other) > scoreOf(one)).length);
  const text = ranked.map((one, i) => standingText(one, places[i] as number)).join('; ');
  return `${places.every((place) => place === 1) ? 'a trade-off: ' : ''}${text}${doubt(effects)}`;
}

const scoreOf = ({ better, worse }: Standings): number => better.length - worse.length;

function standingText({ name, better, worse }: Standings, place: number): string {
  const parts = [
    ...(better.length > 0 ? [`better than another in ${better.join(', ')}`] : []),
    ...(worse.length > 0 ? [`worse in ${worse.join(', ')}`] : []),
  ];
  return `${place}. ${name}: ${parts.join(', ') || 'no significant difference from the others'}`;
}

/** There is no other candidate: compares with the baseline. */
function alone(name: string, effects: readonly Effect[]): string {
  const ids = (verdict: Effect['verdict']) =>
    effects.filter((effect) => effect.verdict === verdict).map(({ metric }) => metric);
  const [slower, faster] = [ids('slower'), ids('faster')];
  const baseline = effects[0]?.baseline ?? '';
  if (slower.length + faster.length === 0) return `${name}: no significant difference from ${baseline}`;
  const parts = [
    ...(slower.length > 0 ? [`worse than ${baseline} in ${slower.join(', ')}`] : []),
    ...(faster.length > 0 ? [`better in ${faster.join(', ')}`] : []),
  ];
  return `${name} is the only sharing system that was measured: ${parts.join(', ')}`;
}

function doubt(effects: readonly Effect[]): string {
  const open = effects.filter(({ verdict }) => verdict === 'inconclusive').length;
  return open === 0 ? '' : `; ${open} of ${effects.length} effects are inconclusive`;
}

/** Metrics in which `a` is shown to be better than `b`; none if they were measured in different sessions. */
function wins(a: SystemView, b: SystemView, effects: readonly Effect[]): string[] {
  if (besides(a.rounds, b.rounds).length === 0) return [];
  const metrics = [...new Set(effects.map(({ metric }) => metric))];
  return metrics.filter((metric) => {
    const [first, second] = [standingOf(a.name, metric, effects), standingOf(b.name, metric, effects)];
    return first !== null && second !== null && isBetter(first, second);
  });
}

type Standing = Pick<Effect, 'verdict' | 'ratioCi95'>;

const standingOf = (system: string, metric: string, effects: readonly Effect[]): Standing | null =>
  effects.find((effect) => effect.metric === metric && effect.system === system) ?? null;

const rank: Partial<Record<Effect['verdict'], number>> = { faster: 0, same: 1, slower: 2 };

function isBetter(a: Standing, b: Standing): boolean {
  const [first, second] = [rank[a.verdict], rank[b.verdict]];
  if (first === undefined || second === undefined) return false;
  if (first !== second) return first < second;
  return a.verdict !== 'same' && a.ratioCi95 !== null && b.ratioCi95 !== null && a.ratioCi95[1] < b.ratioCi95[0];
}
