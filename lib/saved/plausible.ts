/** Finds impossible values: a saved document is not trusted, and an impossible number is no result. */
import type { Effect, MetricResult, RunDocument, Stats } from '../results/document.js';
import { ranked } from '../costs/concluded.js';
import { type SmClock, tensorCeilingTflops } from '../environment/ceilings.js';
import { impossibleValue, LARGEST } from '../metrics/core/impossible.js';
import { findMetric } from '../metrics/registry.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';
import { number } from '../results/text/plain.js';
import { withoutNumbers } from '../run/effects/family.js';
import { judged } from '../run/effects/judged.js';
import { disowned } from '../run/effects/results.js';

/** Allows for rounding, and for clocks above their nominal maximum. */
const SLACK = 1.05;

interface Plausible {
  document: ResultDocument;
  /** One line per impossible result. */
  problems: string[];
}

/** Marks impossible results, and every effect computed from them, as `invalid`. */
export function plausible(document: ResultDocument): Plausible {
  const problems: string[] = [];
  const round = (run: RunDocument): RunDocument => {
    const byId = new Map(run.metrics.map((result) => [result.id, result]));
    const metrics = run.metrics.map((result) => {
      const why = impossibleGpu(run) ?? impossible(result, run) ?? impossibleSource(result, byId, run);
      if (why === null) return result;
      problems.push(`${run.system.name}, ${result.id}: ${why}`);
      return disowned(result, why);
    });
    return { ...run, metrics };
  };
  if (!isComparison(document)) return { document: round(document), problems };
  const systems = document.systems.map((rounds) => rounds.map(round));
  const hasBadResults = problems.length > 0;
  const possible = (effect: Effect): Effect => {
    const why = impossibleEffect(effect);
    if (why === null) return effect;
    problems.push(`${effect.system} against ${effect.baseline}, ${effect.metric}: ${why}`);
    return { ...effect, ...withoutNumbers(why) };
  };
  const checked = {
    ...document,
    systems,
    effects: document.effects.map(possible),
    pairs: document.pairs.map(possible),
  };
  if (problems.length === 0) return { document, problems };
  if (!hasBadResults) return { document: ranked(checked), problems };
  // Effects are decided together. Sums over a call profile may contain an impossible number, and cannot be made again.
  const { programCosts: _sums, ...rest } = checked;
  return { document: ranked(judged(rest)), problems };
}

function impossibleGpu({ gpu }: RunDocument): string | null {
  return gpu.some(({ memoryBytes }) => memoryBytes === 0) ? 'impossible: the GPU has 0 bytes of memory' : null;
}

/** Why the source of a cost is impossible; a cost records what it is computed from. */
function impossibleSource(
  { details, value }: MetricResult,
  byId: ReadonlyMap<unknown, MetricResult>,
  run: RunDocument,
): string | null {
  const source = value === null ? undefined : byId.get(details.of);
  return source ? impossible(source, run) : null;
}

/** Why a result cannot be what it says, or null. */
function impossible(result: MetricResult, { gpu }: RunDocument): string | null {
  if (result.status !== 'ok') return null;
  const { value, ci95, stats } = result;
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
  const contradicted = impossibleNumber(result, gpu);
  if (contradicted !== null) return `impossible: ${contradicted}`;
  if (ci95 && ci95[0] > ci95[1]) return 'impossible: its interval ends before it begins';
  return stats && !ascending([stats.min, stats.p50, stats.p90, stats.p95, stats.p99, stats.p999, stats.max])
    ? 'impossible: its percentiles are not in order'
    : null;
}

/** Why a number cannot be the value of its metric on these cards, or null; in the metric's unit. */
export function impossibleNumber(
  own: Pick<MetricResult, 'id' | 'value' | 'unit' | 'details'>,
  gpu: readonly (SmClock & { name: string })[],
): string | null {
  const { value, unit } = own;
  const ceilings = gpu.map((device) => tensorCeilingTflops(device));
  const ceiling = ceilings.includes(null) ? null : Math.max(0, ...(ceilings as number[]));
  if (unit === 'TFLOPS' && value !== null && ceiling !== null && ceilings.length > 0 && value > SLACK * ceiling)
    return `${number(value)} TFLOPS, and ${gpu.map(({ name }) => name).join(', ')} cannot do more than ${number(ceiling)}`;
  const definition = findMetric(own.id);
  return definition ? impossibleValue(definition, own) : null;
}

const isBeyond = (numbers: readonly (number | null)[]): boolean =>
  numbers.some((each) => each !== null && Math.abs(each) > LARGEST);

const statsNumbers = (stats: Stats | null): number[] =>
  Object.values(stats ?? {}).filter((each): each is number => typeof each === 'number');

function ascending(values: readonly (number | null)[]): boolean {
  const present = values.filter((value) => value !== null);
  return present.every((value, index) => index === 0 || value >= (present[index - 1] as number));
}

/** Why an effect is impossible, or null. Rounding may move an end of an interval to its middle. */
function impossibleEffect({ ratio, difference, ...intervals }: Effect): string | null {
  const { ratioCi90, ratioCi95, differenceCi90, differenceCi95 } = intervals;
  const ends = [ratioCi90, ratioCi95, differenceCi90, differenceCi95].flatMap((interval) => interval ?? []);
  if (isBeyond([ratio, difference, ...ends])) return `impossible: a number beyond ${LARGEST}`;
  if (ratio !== null && ratio <= 0) return `impossible: a ratio of ${number(ratio)}`;
  const holds = (value: number | null, interval: Effect['ratioCi95']) =>
    value === null || interval === null || (interval[0] <= value && value <= interval[1]);
  return [ratioCi90, ratioCi95].every((interval) => holds(ratio, interval)) &&
    [differenceCi90, differenceCi95].every((interval) => holds(difference, interval))
    ? null
    : 'impossible: its interval does not contain it';
}
