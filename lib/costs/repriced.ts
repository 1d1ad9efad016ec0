/** Computes the costs of a saved document again with other prices, for `report --prices`. */
import { Place } from '../config/setting-place.js';
import { isMap } from '../config/raw.js';
import { isNative } from '../results/recorded-kind.js';
import { readYaml, readYamlText } from '../config/yaml.js';
import { UsageError } from '../errors/usage-error.js';
import type { ComparisonDocument } from '../results/document.js';
import type { SystemPrice } from '../results/cost-schemas.js';
import { isComparison, type ResultDocument } from '../results/kinds.js';
import type { Limits } from '../systems/system.js';
import { nameOfLabel } from '../systems/system-name.js';
import { concluded, NOTHING_PRICED } from './concluded.js';
import { checkPriced, priceOf, type Prices, pricesIn } from './read-prices.js';
import { tenantPrices } from './tenant-prices.js';

/** Reads prices from a file, which may be one for `exec --config`: its other keys are ignored. */
export async function readPrices(file: string): Promise<Prices> {
  const source = readYaml(await readYamlText(file, '--prices'), file);
  return source.at([], () => {
    const { value } = source;
    if (!isMap(value)) throw new UsageError('Expected a map with the key prices.');
    const prices = pricesIn(new Place(value, 'the configuration'));
    if (prices === null) throw new UsageError('Expected a map with the key prices but received one without.');
    return prices;
  });
}

/**
 * Throws UsageError if the prices do not fit the document, or if it does not record which share of the card a system
 * has.
 */
export function repriced(document: ResultDocument, prices: Prices): ComparisonDocument {
  if (!isComparison(document))
    throw new UsageError('Expected the document of exec for --prices but received one of run, which has no costs.');
  const labels = document.plan.systems;
  checkPriced(prices, labels);
  const card = document.systems.flat()[0]?.gpu[0];
  if (!card) throw new UsageError('Expected a document with a round for --prices but received one without any.');
  const systems = labels.map((name, index) => ({
    name,
    unavailable: null,
    limits: () => limitsOf(document, name, isNative(document.systems[index]?.[0])),
  }));
  // The limits here are percentages, so the card's memory is 100.
  const known = tenantPrices(withEarlierShares(prices, document), { name: card.name, memoryBytes: 100 }, systems);
  return concluded({ ...document, warnings: document.warnings.filter((warning) => warning !== NOTHING_PRICED) }, known);
}

type Recorded = Pick<SystemPrice, 'from' | 'sharePercent'>;

const recordedIn = ({ prices }: ComparisonDocument, name: string): Recorded | undefined =>
  prices?.systems.find(({ system }) => system === name);

/** Adds the shares that were given before, unless there is another price. */
function withEarlierShares(prices: Prices, document: ComparisonDocument): Prices {
  const systems = new Map(prices.systems);
  for (const label of document.plan.systems) {
    const before = recordedIn(document, label);
    if (before?.from === 'prices' && before.sharePercent !== null && priceOf(prices, label) === undefined)
      systems.set(label, { sharePercent: before.sharePercent });
  }
  return { ...prices, systems };
}

/** Limits in per cent of the card, as recorded with earlier prices. */
function limitsOf(document: ComparisonDocument, name: string, isWhole: boolean): Limits {
  const before = recordedIn(document, name) ?? (isWhole ? WHOLE : undefined);
  if (before === undefined || before.from === 'prices')
    throw new UsageError(
      `The document does not record which share of the card ${nameOfLabel(name)} is limited to: give it under systems of prices, e.g. ${nameOfLabel(name)}: { share: 50% }.`,
    );
  return {
    memoryBytes: before.from === 'memory limit' ? before.sharePercent : null,
    smPercent: before.from === 'compute limit' ? before.sharePercent : null,
  };
}

const WHOLE: Recorded = { from: 'whole card', sharePercent: 100 };
