/** Costs as separate metrics: the cost of a token, request or step for every rate of them, round by round. */
import type { GpuPrices, SystemPrice } from '../results/cost-schemas.js';
import type { MetricResult, RunDocument } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { type MetricDefinition, resultHead } from '../metrics/core/metric.js';
import { type Counted, countedBy, type Per } from '../metrics/core/per.js';
import { isOfProgram, keyOf, workloadOf } from '../metrics/core/stored-definitions.js';
import { emptyResult, sortedById } from '../run/effects/results.js';

const SECONDS_PER_HOUR = 3_600;

/** The cost is for `count` at once, because the cost of one token is too small to read. */
const kinds: Record<Per, { key: string; name: string; of: string; count: number }> = {
  token: { key: 'cost-per-million-tokens', name: 'cost per million tokens', of: 'million tokens', count: 1e6 },
  request: { key: 'cost-per-request', name: 'cost per request', of: 'request', count: 1 },
  step: { key: 'cost-per-step', name: 'cost per step', of: 'step', count: 1 },
};

/** Whether a key is reserved, so that programs may not use it for their own metrics. */
export const isCostKey = (key: string): boolean => Object.values(kinds).some((kind) => key.startsWith(kind.key));

interface CostMetric {
  definition: MetricDefinition;
  /** The metric that the cost is computed from. */
  source: MetricDefinition;
  /** The cost of a value of the source at a price of 1 per hour, in the definition's unit. */
  perPrice: (value: number) => number;
}

/**
 * Cost metrics of all rates and times of one. If a workload has two of one kind, their ids contain the keys of the
 * sources.
 */
export function costMetrics(all: readonly MetricDefinition[], currency: string): CostMetric[] {
  const rated = all.flatMap((source) => {
    const counted = isOfProgram(source.id) && !isCostKey(keyOf(source.id)) ? countedBy(source) : null;
    return counted === null || counted.as === 'number' ? [] : [{ source, counted }];
  });
  const groups = grouped(rated, ({ source, counted }) => `${workloadOf(source.id)} ${counted.per}`);
  return [...groups.values()].flatMap((group) =>
    group.map(({ source, counted }) => costMetric(source, counted, currency, group.length > 1)),
  );
}

function costMetric(source: MetricDefinition, counted: Counted, currency: string, hasOthers: boolean): CostMetric {
  const { key, name, of, count } = kinds[counted.per];
  const seconds = counted.as === 'time' ? counted.seconds : null;
  return {
    source,
    definition: {
      ...source,
      id: `${workloadOf(source.id)}/${key}${hasOthers ? `.${keyOf(source.id)}` : ''}`,
      name: hasOthers ? `${name}, by ${source.name}` : name,
      unit: `${currency} / ${of}`,
      direction: 'lower',
      question: 'What does a tenant of the system pay for it?',
      estimator: 'price of the time that it takes',
      per: 'none',
      // An absolute difference in the unit of the source does not apply to money.
      delta: 'relative' in source.delta ? source.delta : { relative: 0.02 },
    },
    perPrice: (value) => (count * (seconds === null ? 1 / value : seconds * value)) / SECONDS_PER_HOUR,
  };
}

/** The round with its costs, which replace earlier ones. */
export function withCosts(round: RunDocument, metrics: readonly CostMetric[], prices: GpuPrices): RunDocument {
  const price = prices.systems.find(({ system }) => system === round.system.name);
  const kept = round.metrics.filter(({ id }) => !metrics.some(({ definition }) => definition.id === id));
  const added = metrics.flatMap((metric) => {
    const source = kept.find(({ id }) => id === metric.source.id);
    return source ? [costOf(metric, source, price)] : [];
  });
  return { ...round, metrics: sortedById([...kept, ...added]) };
}

/** If the source has a reason instead of a number, so has the cost. */
function costOf(
  { definition, perPrice }: CostMetric,
  source: MetricResult,
  price: SystemPrice | undefined,
): MetricResult {
  const { system: _, ...paid } = price ?? {};
  const details = { delta: definition.delta, per: 'none', of: source.id, ...(price && { price: paid }) };
  if (source.status !== 'ok') return { ...emptyResult(definition, source.status, source.reason), details };
  const { value, ci95, ciScope, processes, blocks, checks } = source;
  if (price === undefined) return { ...emptyResult(definition, 'unsupported', 'the system had no price'), details };
  /** Null for a rate or time that has no cost: zero or negative. */
  const cost = (each: number): number | null => {
    const found = each > 0 ? price.perHour * perPrice(each) : 0;
    return found > 0 && Number.isFinite(found) ? found : null;
  };
  const own = cost(value);
  if (own === null)
    return {
      ...emptyResult(definition, 'invalid', `${source.id} is ${value} ${source.unit}, which has no price`),
      details,
    };
  const [ends, costs] = [ci95?.map(cost), blocks?.map(cost)];
  return {
    ...resultHead(definition),
    status: 'ok',
    value: own,
    ci95: ends?.every(isNumber) ? (ends.sort((a, b) => a - b) as [number, number]) : null,
    ciScope,
    processes,
    stats: null,
    ...(costs?.every(isNumber) && { blocks: costs }),
    details,
    checks,
  };
}

const isNumber = (value: number | null): value is number => value !== null;
