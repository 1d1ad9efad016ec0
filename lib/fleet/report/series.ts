/** What is compared between cards: a metric of a system, or its effect against the baseline on the same card. */
import { isOfProgram } from '../../metrics/core/stored-definitions.js';
import { findMetric } from '../../metrics/registry.js';
import type { MetricResult } from '../../results/document.js';
import type { Delta } from '../../stats/rule/effect.js';

export interface Series {
  system: string;
  /** Null for values; else the values are effects against this system. */
  baseline: string | null;
  metric: string;
  name: string;
  /** Null for ratios, of which more is worse. */
  unit: string | null;
  direction: MetricResult['direction'];
  /** The smallest difference that counts. */
  delta: Delta;
  /** Counts and answers do not vary without a cause, so nothing that rests on noise applies. */
  isExact: boolean;
}

const UNKNOWN_DELTA: Delta = { relative: 0.02 };

/** What a definition says of a metric; programs of users have their own in the document. */
function factsOf({ id, name, direction, details }: Pick<MetricResult, 'id' | 'name' | 'direction' | 'details'>) {
  const definition = findMetric(id);
  const delta = definition?.delta ?? (isOfProgram(id) ? deltaIn(details) : UNKNOWN_DELTA);
  return { metric: id, name, direction, delta, isExact: definition?.values === 'exact' };
}

function deltaIn({ delta }: Record<string, unknown>): Delta {
  const size = typeof delta === 'object' && delta !== null && 'absolute' in delta ? delta.absolute : null;
  return typeof size === 'number' && size >= 0 ? { absolute: size } : UNKNOWN_DELTA;
}

export const valueSeries = (system: string, result: MetricResult): Series => ({
  ...factsOf(result),
  system,
  baseline: null,
  unit: result.unit,
});

export function effectSeries(system: string, baseline: string, result: MetricResult, isRatio: boolean): Series {
  const facts = factsOf(result);
  return {
    ...facts,
    system,
    baseline,
    unit: isRatio ? null : result.unit,
    // Ratios are oriented.
    direction: isRatio ? 'lower' : facts.direction,
  };
}

/** Numbers the series of all cards, so that a card is a row of numbers. */
export class Catalogue {
  readonly all: Series[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(series: Series): number {
    const key = JSON.stringify([series.system, series.baseline, series.metric, series.unit]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.all.length);
    return this.all.push(series) - 1;
  }
}
