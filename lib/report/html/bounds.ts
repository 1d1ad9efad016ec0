/** A document's strings are as long as their writer liked; what a page repeats in headings, labels and tips is not. */
import type { Effect } from '../../document.js';
import { short } from '../markup.js';
import type { Row, View } from '../view.js';
import type { Words } from '../words.js';

const NAME = 120;
const SENTENCE = 600;
const WORDS = 6_000;

export const name = (text: string): string => short(text, NAME);
export const sentence = (text: string): string => short(text, SENTENCE);
const prose = (text: string): string => short(text, WORDS);

const effect = (one: Effect): Effect => ({
  ...one,
  system: name(one.system),
  baseline: name(one.baseline),
  ...(one.reason !== undefined && { reason: sentence(one.reason) }),
});

const row = (one: Row): Row => ({
  ...one,
  id: name(one.id),
  name: name(one.name),
  unit: name(one.unit),
  cells: one.cells.map((cell) => ({
    ...cell,
    system: name(cell.system),
    effect: cell.effect && effect(cell.effect),
  })),
});

export const boundedView = (view: View): View => ({
  ...view,
  systems: view.systems.map((system) => ({ ...system, name: name(system.name) })),
  categories: view.categories.map((category) => ({ name: name(category.name), rows: category.rows.map(row) })),
  effects: view.effects.map(effect),
  computeLimits: view.computeLimits.map((limit) => ({
    ...limit,
    system: name(limit.system),
    detail: sentence(limit.detail),
  })),
  violations: view.violations.map(({ system, metric, detail }) => ({
    system: name(system),
    metric: name(metric),
    detail: sentence(detail),
  })),
  notMeasured: view.notMeasured.map((one) => ({
    ...one,
    metric: name(one.metric),
    system: name(one.system),
    reason: sentence(one.reason),
  })),
  warnings: view.warnings.map(sentence),
});

export const boundedWords = (words: Words): Words => ({
  facts: words.facts.map(([label, value]) => [name(label), prose(value)]),
  summary: words.summary.map(prose),
  statistics: words.statistics.map(prose),
  recommendations: words.recommendations.map(({ useCase, text }) => ({ useCase: name(useCase), text: prose(text) })),
  reproduction: prose(words.reproduction),
  environment: words.environment.map(([label, value]) => [name(label), prose(value)]),
});
