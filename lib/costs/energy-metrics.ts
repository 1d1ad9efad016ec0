/** Energy per token, request and step: of the whole run, by how many of them it counted. */
import { grouped } from '../results/grouped.js';
import type { MetricDefinition } from '../metrics/metric.js';
import { countedBy, type Per } from '../metrics/per.js';

const prefix = 'energy-per-';

/** What programs may not call metrics of theirs. */
export const isEnergyKey = (key: string): boolean => key.startsWith(prefix);

type CountingMetric = { key: string } & Pick<MetricDefinition, 'unit' | 'direction' | 'per'>;

export interface EnergyMetric {
  /** As its id ends. */
  key: string;
  name: string;
  /** The metric that counts. */
  counter: string;
}

/** Two numbers of the same are told apart by their keys. */
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
