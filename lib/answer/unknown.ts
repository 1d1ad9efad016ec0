/** What is not known, and the command that would show it. */
import { isOfProgram } from '../metrics/core/stored-definitions.js';
import type { Card, Figure, Question, Unknown } from '../results/answer-schema.js';
import type { ComparisonDocument } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { isComparison } from '../results/kinds.js';
import { plain } from '../results/text/plain.js';
import { counted } from '../results/text/quantity.js';
import type { View } from '../results/view.js';
import { named } from './candidates.js';
import { measuringCommand, programsCommand } from './measuring-command.js';
import { metricsFor, titles } from './questions.js';
import { stallsOf } from './stalls.js';

/** Rounds that a command may ask for: more would take hours. */
const MOST_ROUNDS = 50;
/** The standard number of rounds. A single round shows no difference between rounds. */
const USUAL_ROUNDS = 5;

const isUnknown = (cards: readonly Card[], question: Question): boolean =>
  cards.every(({ lines }) => lines.some((line) => line.question === question && line.word === 'not measured'));

/** The questions that no card answers, with the reason if the metrics were tried. */
function unanswered(view: View, cards: readonly Card[]): Unknown[] {
  const questions = (Object.keys(titles) as Question[]).filter((question) => isUnknown(cards, question));
  const asked = questions.filter((question) => !reasonFor(cards, question));
  const tried = questions.flatMap((question) => {
    const reason = reasonFor(cards, question);
    return reason ? [{ text: plain(`${titles[question]}: ${reason}.`), command: null }] : [];
  });
  if (asked.length === 0) return tried;
  const metrics = asked.flatMap((question) => metricsFor[question]);
  const text = `Not measured: ${asked.map((question) => asClause[question]).join('; ')}.`;
  return [...tried, { text, command: measuringCommand(view, metrics) }];
}

/** What to measure for a limit that no figure is about. */
const LIMITS: Readonly<Record<string, string>> = { memory: 'IS-001', compute: 'IS-003' };

/** Single figures that were not measured, on lines that have other figures. */
function partlyUnanswered(view: View, cards: readonly Card[]): Unknown[] {
  const missing = cards.flatMap(({ system, lines }) =>
    lines
      .filter(({ question }) => !isUnknown(cards, question))
      .flatMap(({ question, figures }) => figures.map((one) => ({ system, question, ...one })))
      .filter(({ word, note, what }) => word === 'not measured' && note === null && what !== word),
  );
  if (missing.length === 0) return [];
  const texts = [...grouped(missing, ({ question, what }) => (question === 'limits' ? `${what} limit` : what))].map(
    ([what, some]) => `${what} of ${named(some.map(({ system }) => system))}`,
  );
  const metrics = [...new Set(missing.flatMap(({ metric, what }) => metric ?? LIMITS[what] ?? []))];
  const command = metrics.length === 0 ? null : measuringCommand(view, metrics);
  return [{ text: plain(`Not measured: ${texts.join('; ')}.`), command }];
}

const asClause: Record<Question, string> = {
  start: 'what a start costs',
  calls: 'what a launch and an allocation cost',
  program: 'what a program or a model loses',
  limits: 'whether limits hold',
  neighbours: 'what neighbours and faults do',
};

const reasonFor = (cards: readonly Card[], question: Question): string | null =>
  cards
    .flatMap(({ lines }) => lines.filter((line) => line.question === question))
    .flatMap(({ figures }) => figures.map(({ note }) => note))
    .find((note) => note !== null) ?? null;

/** The metrics of the cards without a verdict; those of programs are measured with another command. */
function undecided(view: View, cards: readonly Card[]): Unknown[] {
  const { document } = view;
  if (!isComparison(document)) return [];
  const figures = cards.flatMap(({ lines }) => lines.flatMap((line) => line.figures));
  const open = figures.filter(({ word }) => word === 'inconclusive');
  const metrics = [...new Set(open.flatMap(({ metric }) => metric ?? []))].sort();
  return [metrics.filter((metric) => !isOfProgram(metric)), metrics.filter(isOfProgram)]
    .filter((some) => some.length > 0)
    .map((some) => undecidedOf(view, document, some, open));
}

function undecidedOf(
  view: View,
  { effects, plan }: ComparisonDocument,
  metrics: readonly string[],
  open: readonly Figure[],
): Unknown {
  const about = metrics.map((metric) => {
    const what = open.find((one) => one.metric === metric)?.what ?? metric;
    return what === metric ? metric : `${what} (${metric})`;
  });
  const found = effects.filter(({ metric }) => metrics.includes(metric));
  const rounds = found.length > 0 ? Math.max(...found.map((effect) => effect.rounds)) : plan.rounds;
  const needed = found.flatMap((effect) => effect.roundsNeeded ?? []);
  const most = Math.min(MOST_ROUNDS, Math.max(USUAL_ROUNDS, 2 * rounds, ...needed));
  return {
    text: plain(`Not decided after ${counted(rounds, 'round')}: ${named(about)}.`),
    command: metrics.every(isOfProgram) ? programsCommand(view, most) : measuringCommand(view, metrics, most),
  };
}

/** Which system is better, where no test compared them with each other. */
function untested(view: View, cards: readonly Card[]): Unknown[] {
  const compared = cards.filter(({ system }) => view.systems.some(({ name, isCompared }) => isCompared && plain(name) === system)); // prettier-ignore
  const isTested = isComparison(view.document) && view.document.pairs.length > 0;
  if (compared.length < 2 || isTested) return [];
  const names = named(
    compared.map(({ system }) => system),
    'or',
  );
  const text = `Which of ${names} is better: this document has no tests between them. Measuring again adds them.`;
  const metrics = isComparison(view.document)
    ? view.document.plan.metrics.filter((metric) => !isOfProgram(metric))
    : [];
  const again =
    metrics.length === 0 ? programsCommand(view, USUAL_ROUNDS) : measuringCommand(view, metrics, USUAL_ROUNDS);
  return [{ text, command: again }];
}

/** Systems without any number: the reason, if it is one for all metrics. */
function unmeasured(view: View): Unknown[] {
  return view.systems.flatMap(({ name, rounds }) => {
    const results = rounds.flatMap(({ metrics }) => metrics);
    if (results.length === 0 || results.some(({ status }) => status === 'ok')) return [];
    const reasons = new Set(results.map(({ status, reason }) => (reason ? `${status}: ${reason}` : status)));
    const why = reasons.size === 1 ? `; ${[...reasons].join('').replace(/\.?$/, '.')}` : '.';
    return [{ text: plain(`${name}: no numbers${why}`), command: null }];
  });
}

export const unknownOf = (view: View, cards: readonly Card[]): Unknown[] => [
  ...(view.completed ? [] : [{ text: 'Not measured: what was planned after the interruption.', command: null }]),
  ...unmeasured(view),
  ...unanswered(view, cards),
  ...partlyUnanswered(view, cards),
  ...undecided(view, cards),
  ...untested(view, cards),
  ...stallsOf(view),
];
