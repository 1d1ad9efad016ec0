/**
 * Shortens a document's strings, which can be arbitrarily long, where a page repeats them: in headings, labels and
 * tips.
 */
import type { Effect } from '../../results/document.js';
import type { Answer } from '../../results/answer-schema.js';
import { short } from '../text/markup.js';
import type { Row, View } from '../../results/view.js';
import type { Words } from '../text/words.js';

const NAME = 120;
const SENTENCE = 600;
const WORDS = 6_000;

export { short };

export const name = (text: string): string => short(text, NAME);
export const sentence = (text: string): string => short(text, SENTENCE);
const prose = (text: string): string => short(text, WORDS);

/** Numbers names that become equal by shortening. */
function distinct(names: readonly string[]): (text: string) => string {
  const given = new Map<string, string>();
  const used = new Set<string>();
  for (const full of names) {
    const cut = name(full);
    let shown = cut;
    for (let n = 2; !given.has(full) && used.has(shown); n++) shown = `${cut} (${n})`;
    used.add(shown);
    given.set(full, given.get(full) ?? shown);
  }
  return (text) => given.get(text) ?? name(text);
}

type Named = ReturnType<typeof distinct>;

const effect = (one: Effect, system: Named): Effect => ({
  ...one,
  system: system(one.system),
  baseline: system(one.baseline),
  ...(one.reason !== undefined && { reason: sentence(one.reason) }),
});

const row = (one: Row, system: Named): Row => ({
  ...one,
  id: name(one.id),
  name: name(one.name),
  unit: name(one.unit),
  cells: one.cells.map((cell) => ({
    ...cell,
    system: system(cell.system),
    effect: cell.effect && effect(cell.effect, system),
  })),
});

export function boundedView(view: View): View {
  const system = distinct(view.systems.map((one) => one.name));
  return {
    ...view,
    systems: view.systems.map((one) => ({ ...one, name: system(one.name) })),
    categories: view.categories.map(({ name: title, rows }) => ({
      name: name(title),
      rows: rows.map((one) => row(one, system)),
    })),
    effects: view.effects.map((one) => effect(one, system)),
    computeLimits: view.computeLimits.map((limit) => ({
      ...limit,
      system: system(limit.system),
      detail: sentence(limit.detail),
    })),
    violations: view.violations.map((one) => ({
      system: system(one.system),
      metric: name(one.metric),
      detail: sentence(one.detail),
    })),
    notMeasured: view.notMeasured.map((one) => ({
      ...one,
      metrics: one.metrics.map(name),
      system: system(one.system),
      reason: sentence(one.reason),
    })),
    warnings: view.warnings.map(sentence),
  };
}

/** Shortens a text of an answer. Commands may be longer than other texts. */
function boundedText(value: unknown, key: string): unknown {
  return typeof value === 'string' ? (key === 'command' ? prose(value) : sentence(value)) : value;
}

const boundedAnswer = (answer: Answer): Answer =>
  JSON.parse(JSON.stringify(answer, (key, value: unknown) => boundedText(value, key))) as Answer;

export const boundedWords = (words: Words): Words => ({
  facts: words.facts.map(([label, value]) => [name(label), prose(value)]),
  answer: boundedAnswer(words.answer),
  statistics: words.statistics.map(prose),
  reproduction: prose(words.reproduction),
  toFillIn: words.toFillIn.map(sentence),
  environment: words.environment.map(([label, value]) => [name(label), prose(value)]),
});
