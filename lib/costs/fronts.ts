/**
 * Throughput and p99 latency of programs: a point for every system and workload (every combination of a matrix), and
 * the points that no other point beats in both.
 */
import type { ComparisonDocument, RunDocument } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { fitting } from '../results/text/quantity.js';
import { areOnOneCard } from '../results/cards.js';
import { besides } from '../results/rounds.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { countedBy, type Per, pers } from '../metrics/core/per.js';
import { definitionsIn, isOfProgram, keyOf, workloadOf } from '../metrics/core/stored-definitions.js';
import { hasRatio } from '../stats/rule/effect.js';
import { type Estimate, estimateOver } from './estimate.js';
import { isTail } from './ranking.js';

/**
 * `front`: no other candidate is better in both. `behind`: another candidate is better in both, and the intervals do
 * not overlap. `open`: another candidate is better in both, but intervals overlap. `reference`: the baseline, which is
 * not a candidate.
 */
type Standing = 'front' | 'behind' | 'open' | 'reference';

/** A value over rounds; a single round has no interval. */
export type Coordinate = Pick<Estimate, 'value'> & { interval: Estimate['interval'] | null };

export interface FrontPoint {
  system: string;
  /** The beginning of the metrics' ids, e.g. `decode@batch=8`. */
  workload: string;
  latency: Coordinate;
  throughput: Coordinate;
  standing: Standing;
  /** Indices of the points that are better in both. */
  betterThanIt: number[];
}

export interface Front {
  /** Name of the program without its matrix, e.g. `decode`. */
  program: string;
  latency: { key: string; unit: string };
  throughput: { key: string; unit: string };
  points: FrontPoint[];
  /** Systems and workloads without a point, with the reason. */
  missing: { system: string; workload: string; reason: string }[];
}

const programOf = (id: string): string => workloadOf(id).replace(/@.*/, '');

const isRateOf = (metric: MetricDefinition, per: Per): boolean => {
  const counted = countedBy(metric);
  return counted?.as === 'rate' && counted.per === per;
};

/**
 * Rates of tokens; if there are none, of requests, else of steps. Different rates of a program usually show the same.
 */
const ratesIn = (metrics: readonly MetricDefinition[]): MetricDefinition[] =>
  pers.map((per) => metrics.filter((metric) => isRateOf(metric, per))).find(({ length }) => length > 0) ?? [];

/** One front for each program, throughput and p99 latency; none with fewer than two points. */
export function frontsOf(document: ComparisonDocument): Front[] {
  const definitions = definitionsIn(document.systems.flat()).filter(({ id }) => isOfProgram(id));
  return [...grouped(definitions, ({ id }) => programOf(id))].flatMap(([program, own]) => {
    const byKey = (metrics: readonly MetricDefinition[]) => [...grouped(metrics, ({ id }) => keyOf(id))];
    return byKey(own.filter(isTail)).flatMap(([latency, tails]) =>
      byKey(ratesIn(own)).flatMap(([throughput, rates]) => {
        const pairs = pairsOf(tails, rates);
        const [first] = pairs;
        if (!first) return [];
        const front: Front = {
          program,
          latency: { key: latency, unit: first.tail.unit },
          throughput: { key: throughput, unit: first.rate.unit },
          ...pointsOf(document, pairs),
        };
        return front.points.length < 2 ? [] : [front];
      }),
    );
  });
}

interface Pair {
  workload: string;
  tail: MetricDefinition;
  rate: MetricDefinition;
}

const pairsOf = (tails: readonly MetricDefinition[], rates: readonly MetricDefinition[]): Pair[] =>
  tails.flatMap((tail) => {
    const workload = workloadOf(tail.id);
    const rate = rates.find(({ id, unit }) => workloadOf(id) === workload && unit === rates[0]?.unit);
    return rate && tail.unit === tails[0]?.unit ? [{ workload, tail, rate }] : [];
  });

function pointsOf({ plan, systems }: ComparisonDocument, pairs: readonly Pair[]): Pick<Front, 'points' | 'missing'> {
  const hasReference = plan.order.length > 0 && plan.systems.length > 1;
  const found = pairs.flatMap(({ workload, tail, rate }) =>
    plan.systems.map((system, index) => {
      const latency = coordinateOf(systems[index] ?? [], tail);
      const throughput = coordinateOf(systems[index] ?? [], rate);
      return {
        system,
        workload,
        latency,
        throughput,
        isReference: hasReference && index === 0,
        rounds: systems[index] ?? [],
      };
    }),
  );
  const placed = found.flatMap((point) => {
    const { latency, throughput } = point;
    return 'missing' in latency || 'missing' in throughput ? [] : [{ ...point, latency, throughput }];
  });
  const missing = found.flatMap(({ system, workload, latency, throughput }) => {
    const without = [latency, throughput].find((each) => 'missing' in each);
    return without && 'missing' in without ? [{ system, workload, reason: without.missing }] : [];
  });
  return {
    points: placed.map((point, i) => standing(point, i, placed)),
    missing,
  };
}

function coordinateOf(
  rounds: ComparisonDocument['systems'][number],
  { id, delta }: MetricDefinition,
): Coordinate | { missing: string } {
  const results = rounds.flatMap(({ metrics }) => metrics.filter((result) => result.id === id));
  const invalid = results.find(({ status }) => status === 'invalid');
  const values = results.flatMap(({ status, value }) => (status === 'ok' && value !== null ? [value] : []));
  const [first] = values;
  if (invalid || first === undefined) {
    const without = invalid ?? results.find(({ status }) => status !== 'ok');
    return { missing: without ? `${id} is ${without.status}: ${without.reason ?? ''}` : `${id} was not measured` };
  }
  return estimateOver(values, hasRatio(delta, values)) ?? { value: first, interval: null };
}

interface Placed extends Pick<FrontPoint, 'system' | 'workload' | 'latency' | 'throughput'> {
  isReference: boolean;
  rounds: readonly RunDocument[];
}

const isAhead = (a: Placed, b: Placed): boolean =>
  a.latency.value <= b.latency.value &&
  a.throughput.value >= b.throughput.value &&
  (a.latency.value < b.latency.value || a.throughput.value > b.throughput.value);

function isShownAhead(a: Placed, b: Placed): boolean {
  const [ownLatency, otherLatency] = [a.latency.interval, b.latency.interval];
  const [ownRate, otherRate] = [a.throughput.interval, b.throughput.interval];
  if (!ownLatency || !otherLatency || !ownRate || !otherRate) return false;
  return ownLatency[1] < otherLatency[0] && ownRate[0] > otherRate[1];
}

/** Whether rounds ran beside each other, and none of them on another card. */
function areBeside(own: readonly RunDocument[], other: readonly RunDocument[]): boolean {
  const [first] = besides(own, other).flat();
  return first !== undefined && [...own, ...other].every((round) => areOnOneCard(first, round));
}

function standing({ isReference, rounds, ...point }: Placed, index: number, all: readonly Placed[]): FrontPoint {
  const own = all[index] as Placed;
  // Results of different sessions or cards are not compared.
  const candidates = all.flatMap((other, i) =>
    other.isReference || i === index || !areBeside(rounds, other.rounds) ? [] : [{ other, i }],
  );
  const ahead = isReference ? [] : candidates.filter(({ other }) => isAhead(other, own));
  const isShown = ahead.some(({ other }) => isShownAhead(other, own));
  return {
    ...point,
    standing: isReference ? 'reference' : ahead.length === 0 ? 'front' : isShown ? 'behind' : 'open',
    betterThanIt: ahead.map(({ i }) => i),
  };
}

/** Converts the latencies to a unit that suits all points. */
export function readableFront(front: Front): Front {
  const scale = fitting(
    front.points.map(({ latency }) => latency.value),
    front.latency.unit,
  );
  const scaled = ({ value, interval }: Coordinate): Coordinate => ({
    value: value / scale.size,
    interval: interval && [interval[0] / scale.size, interval[1] / scale.size],
  });
  return {
    ...front,
    latency: { ...front.latency, unit: scale.unit },
    points: front.points.map((point) => ({ ...point, latency: scaled(point.latency) })),
  };
}
