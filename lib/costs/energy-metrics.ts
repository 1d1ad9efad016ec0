/** Energy per token, request and step: the energy of the whole run divided by the number that it counted. */
import { grouped } from '../results/text/grouped.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { countedBy, type Per } from '../metrics/core/per.js';

const prefix = 'energy-per-';

/** Whether a key is reserved, so that programs may not use it for their own metrics. */
export const isEnergyKey = (key: string): boolean => key.startsWith(prefix);

type CountingMetric = { key: string } & Pick<MetricDefinition, 'unit' | 'direction' | 'per'>;

export interface EnergyMetric {
  /** The last part of the metric's id. */
  key: string;
  name: string;
  /** The metric that counts tokens, requests or steps. */
  counter: string;
}

/** If two metrics count the same thing, their keys become part of the new keys. */
export function energyMetrics(all: readonly CountingMetric[]): EnergyMetric[] {
  const counters = all.flatMap((metric): { counter: string; per: Per }[] => {
    const counted = countedBy(metric);
    return counted?.as === 'number' ? [{ counter: metric.key, per: counted.per }] : [];
  });
  return [...grouped(counters, ({ per }) => per)].flatMap(([per, group]) =>
    group.map(({ counter }) => ({
      key: `${prefix}${per}${group.length > 1 ? `.${counter}` : ''}`,
      name: `energy per ${per}${group.length > 1 ? `, by ${counter}` : ''}`,
      counter,
    })),
  );
}
