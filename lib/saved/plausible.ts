/** Finds impossible values: a saved document is not trusted, and an impossible number is no result. */
import type { ComparisonDocument, Effect, MetricResult, RunDocument, Stats } from '../results/document.js';
import { ranked } from '../costs/concluded.js';
import { tensorCeilingTflops } from '../environment/ceilings.js';
import { impossibleValue, LARGEST } from '../metrics/impossible.js';
import { findMetric } from '../metrics/registry.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';
import { number } from '../results/plain.js';
import { callEffects } from '../metrics/call-effects.js';
import { disowned } from '../run/results.js';

/** Allows for rounding, and for clocks above their nominal maximum. */
const SLACK = 1.05;

export interface Plausible {
  document: ResultDocument;
  /** One line per impossible result. */
  problems: string[];
}

/** Marks impossible results, and every effect computed from them, as `invalid`. */
export function plausible(document: ResultDocument): Plausible {
  const problems: string[] = [];
  const round = (run: RunDocument): RunDocument => ({
    ...run,
    metrics: run.metrics.map((result) => {
      const why = impossibleGpu(run) ?? impossible(result, run) ?? impossibleSource(result, run);
      if (why === null) return result;
      problems.push(`${run.system.name}, ${result.id}: ${why}`);
      return disowned(result, why);
    }),
  });
  if (!isComparison(document)) return { document: round(document), problems };
  const systems = document.systems.map((rounds) => rounds.map(round));
  const effects = document.effects.map((effect) => {
    const why = badArm(effect, systems) ?? impossibleEffect(effect);
    if (why === null) return effect;
    if (why !== effect.reason) problems.push(`${effect.system} against ${effect.baseline}, ${effect.metric}: ${why}`);
    return withoutNumbers(effect, why);
  });
  if (problems.length === 0) return { document, problems };
  // The document holds only sums over the profile, which may contain an impossible number.
  const { programCosts: _sums, ...rest } = document;
  return { document: ranked({ ...rest, systems, effects, callEffects: callEffects(systems) }), problems };
}

function impossibleGpu({ gpu }: RunDocument): string | null {
  return gpu.some(({ memoryBytes }) => memoryBytes === 0) ? 'impossible: the GPU has 0 bytes of memory' : null;
}

/** Why the source of a cost is impossible; a cost records what it is computed from. */
function impossibleSource({ details, value }: MetricResult, run: RunDocument): string | null {
  const source = value === null ? undefined : run.metrics.find(({ id }) => id === details.of);
  return source ? impossible(source, run) : null;
}

/** Why a result cannot be what it says, or null. */
function impossible(result: MetricResult, { gpu }: RunDocument): string | null {
  const { status, value, unit, ci95, stats } = result;
  if (status !== 'ok') return value === null ? null : `impossible: ${status} with a value`;
  if (value === null) return 'impossible: ok without a value';
  const ceilings = gpu.map((device) => tensorCeilingTflops(device));
  const ceiling = ceilings.includes(null) ? null : Math.max(0, ...(ceilings as number[]));
  if (unit === 'TFLOPS' && ceiling !== null && ceilings.length > 0 && value > SLACK * ceiling)
    return `impossible: ${number(value)} TFLOPS, and ${gpu.map(({ name }) => name).join(', ')} cannot do more than ${number(ceiling)}`;
  const definition = findMetric(result.id);
  if (
    isBeyond([
      value,
      ...(ci95 ?? []),
      ...(result.blocks ?? []),
      ...(result.processValues ?? []),
      ...statsNumbers(stats),
    ])
  )
    return `impossible: a number beyond ${LARGEST}`;
  const contradicted = definition ? impossibleValue(definition, result) : null;
  if (contradicted !== null) return `impossible: ${contradicted}`;
  if (ci95 && ci95[0] > ci95[1]) return 'impossible: its interval ends before it begins';
  return stats && !ascending([stats.min, stats.p50, stats.p90, stats.p95, stats.p99, stats.p999, stats.max])
    ? 'impossible: its percentiles are not in order'
    : null;
}

const isBeyond = (numbers: readonly (number | null)[]): boolean =>
  numbers.some((each) => each !== null && Math.abs(each) > LARGEST);

const statsNumbers = (stats: Stats | null): number[] =>
  Object.values(stats ?? {}).filter((each): each is number => typeof each === 'number');

function ascending(values: readonly (number | null)[]): boolean {
  const present = values.filter((value) => value !== null);
  return present.every((value, index) => index === 0 || value >= (present[index - 1] as number));
}

/** Why one of the results behind an effect is impossible, or null. */
function badArm({ metric, system, baseline }: Effect, systems: ComparisonDocument['systems']): string | null {
  const arms = systems.flat().filter(({ system: { name } }) => name === system || name === baseline);
  const results = arms.flatMap(({ metrics }) => metrics.filter(({ id }) => id === metric));
  return results.find(({ reason }) => reason?.startsWith('impossible: '))?.reason ?? null;
}

/** Why an effect is impossible, or null. Rounding may move an end of an interval to its middle. */
function impossibleEffect({ ratio, ratioCi95, difference, differenceCi95, bootstrapCi95 }: Effect): string | null {
  if (isBeyond([ratio, difference, ...(ratioCi95 ?? []), ...(differenceCi95 ?? []), ...(bootstrapCi95 ?? [])]))
    return `impossible: a number beyond ${LARGEST}`;
  if (ratio !== null && ratio <= 0) return `impossible: a ratio of ${number(ratio)}`;
  const holds = (value: number | null, interval: Effect['ratioCi95']) =>
    value === null || interval === null || (interval[0] <= value && value <= interval[1]);
  return holds(ratio, ratioCi95) && holds(difference, differenceCi95)
    ? null
    : 'impossible: its interval does not contain it';
}

const withoutNumbers = ({ metric, system, baseline, rounds }: Effect, reason: string): Effect => ({
  ...{ metric, system, baseline, rounds, reason },
  ...{ ratio: null, ratioCi95: null, difference: null, differenceCi95: null, bootstrapCi95: null },
  ...{ verdict: 'invalid', verdictRaw: 'invalid', pValues: { welch: null, mannWhitney: null } },
});
