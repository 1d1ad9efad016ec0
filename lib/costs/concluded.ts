/** Adds costs and rankings to a document. */
import type { ComparisonDocument } from '../results/document.js';
import type { GpuPrices } from '../results/cost-schemas.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { definitionsIn } from '../metrics/core/stored-definitions.js';
import { judged } from '../run/effects/judged.js';
import { labelAmong } from '../systems/system-name.js';
import type { System } from '../systems/system.js';
import { costMetrics, withCosts } from './cost-metrics.js';
import { checkPriced, type Prices } from './read-prices.js';
import { type Card, tenantPrices } from './tenant-prices.js';
import { rankingsOf } from './ranking.js';

/** The document with its rankings, which replace earlier ones. */
export function ranked(document: ComparisonDocument): ComparisonDocument {
  const { rankings: _before, ...rest } = document;
  const rankings = rankingsOf(document);
  return rankings.length === 0 ? rest : { ...rest, rankings };
}

export const NOTHING_PRICED =
  'Prices were given, but no metric of a program is a rate of tokens, requests or steps: give one the unit tokens/s, requests/s or steps/s, or the key per.';

/** The prices of a comparison, from before its first round until its document is complete. */
export class Costing {
  readonly #prices: Prices | null;
  readonly #systems: readonly System[];
  #known: GpuPrices | null = null;

  /** Throws UsageError if a price is for none of these systems. */
  constructor(prices: Prices | null, systems: readonly System[]) {
    if (prices)
      checkPriced(
        prices,
        systems.map(({ name }) => name),
      );
    [this.#prices, this.#systems] = [prices, systems];
  }

  /** Call once the card is known and the systems are prepared. Throws UsageError if the card has no price. */
  onCard(card: Card): void {
    this.#known = this.#prices && tenantPrices(this.#prices, card, this.#systems);
  }

  conclude(document: ComparisonDocument): ComparisonDocument {
    return concluded(document, this.#known);
  }

  /** The cost metrics of the measured metrics, for thresholds. */
  definitions(measured: readonly MetricDefinition[]): MetricDefinition[] {
    return this.#prices ? costMetrics(measured, this.#prices.currency).map(({ definition }) => definition) : [];
  }
}

/** Adds costs as metrics of each round, so that they get verdicts, gates and ranks like any other metric. */
export function concluded(document: ComparisonDocument, given: GpuPrices | null): ComparisonDocument {
  if (given === null) return ranked(document);
  const labels = document.plan.systems;
  const prices = {
    ...given,
    systems: given.systems.map((each) => ({ ...each, system: labelAmong(each.system, labels) })),
  };
  const metrics = costMetrics(definitionsIn(document.systems.flat()), prices.currency);
  if (metrics.length === 0) return ranked({ ...document, prices, warnings: [...document.warnings, NOTHING_PRICED] });
  const systems = document.systems.map((rounds) => rounds.map((round) => withCosts(round, metrics, prices)));
  // All effects are computed again, because they are decided together.
  return ranked(judged({ ...document, prices, systems }));
}
