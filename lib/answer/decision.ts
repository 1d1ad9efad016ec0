/** The decision in two sentences: what to do, the number, the reason. */
import type { Advice, Broken, Card, Figure, Line } from '../results/answer-schema.js';
import type { Effect } from '../results/document.js';
import { grouped } from '../results/text/grouped.js';
import { capitalised, plain } from '../results/text/plain.js';
import { counted } from '../results/text/quantity.js';
import type { PurposeName } from '../results/text/purpose-names.js';
import { named } from './candidates.js';
import { phaseName } from './causes.js';
import { ends } from './figures.js';
import { provingFigures } from './limit-figures.js';
import { programFigure, programLoss } from './program-loss.js';
import { useFor } from './recommendations.js';
import { headOf, QUOTA_CAUSES } from './violation-causes.js';

interface Concluded {
  cards: readonly Card[];
  broken: readonly Broken[];
  recommendations: readonly Advice[];
  /** All effects of the document, also those that no card shows. */
  effects: readonly Effect[];
  /** What the systems were compared with. */
  baseline: string | null;
  /** What the comparison was for (--for). */
  purpose: PurposeName | null;
}

/** Whether violations with these causes were looked for and not found. */
function holds({ lines }: Card, causes: readonly string[]): boolean {
  const figures = lines.flatMap((line) => line.figures);
  return provingFigures(causes).every((name) => figures.some(({ what, word }) => what === name && word === 'holds'));
}

/** A violation with more words than this is named without its items, which the list of violations has. */
const MOST_OF_CAUSE = 18;
const briefly = (one: Broken): string => (one.text.split(' ').length <= MOST_OF_CAUSE ? one.text : headOf(one));

/** Violations of anything but limits and isolation. */
function promises({ broken }: Concluded): string | null {
  const [first] = broken.filter(({ cause }) => !QUOTA_CAUSES.includes(cause));
  return first ? `Check before use: ${plain(first.system)} ${briefly(first)}.` : null;
}

/** Systems with violations that decide. */
const harmedBy = (broken: readonly Broken[], causes: readonly string[]): string[] => [
  ...new Set(broken.filter(({ cause }) => causes.includes(cause)).map(({ system }) => plain(system))),
];

/** Which systems not to use for something, with the first cause, and the same without it. */
function ruledOut(
  { cards, broken }: Concluded,
  use: string,
  causes: readonly string[],
  said: (one: Broken) => string,
): [string, string] | null {
  const first = broken.find(({ cause }) => causes.includes(cause));
  if (!first) return null;
  const breaking = harmedBy(broken, causes);
  const holding = cards.filter((card) => holds(card, causes) && !breaking.includes(card.system));
  const why = `because ${plain(first.system)} ${said(first)}`;
  if (cards.length > 1 && breaking.length === cards.length)
    return [`For ${use} use none of ${named(breaking)}, ${why}.`, `For ${use} use none.`];
  const which =
    holding.length > 0
      ? `use ${named(holding.map(({ system }) => system))}, not ${named(breaking, 'or')}`
      : `do not use ${named(breaking, 'or')}`;
  return [`For ${use} ${which}, ${why}.`, `For ${use} ${which}.`];
}

const quotas = (concluded: Concluded): [string, string] | null =>
  ruledOut(concluded, 'strict quotas', QUOTA_CAUSES, briefly);

interface Cost {
  system: string;
  figure: Figure;
}

/** What decides most comes first. */
const order: readonly Line['question'][] = ['program', 'start', 'calls', 'neighbours'];

const MOST_SYSTEMS = 2;

/** Figures with this word, of what decides most: one of each system. */
function firstOfEach(cards: readonly Card[], word: Figure['word']): Cost[] {
  return cards
    .flatMap(({ system, lines }) =>
      order
        .flatMap((question) => lines.filter((line) => line.question === question))
        .flatMap(({ figures }) => figures.filter((one) => one.word === word))
        .slice(0, 1)
        .map((figure) => ({ system, figure })),
    )
    .slice(0, MOST_SYSTEMS);
}

const costText = ({ figure }: Cost): string =>
  `${ends(figure)} ${figure.what}${figure.cause === null ? '' : `, nearly all of it ${figure.cause}`}`;

const acceptable = ({ figure }: Cost): string =>
  `${ends(figure)} ${figure.what} is acceptable${figure.cause === null ? '' : ` (nearly all of it ${figure.cause})`}`;

const metricText = (id: string): string => (phaseName(id) === id ? id : `${phaseName(id)} (${id})`);

/**
 * Names the slower metrics, for where no deciding figure is slower: `Slower than native: hami-core in cuInit
 * (START-002)`.
 */
function slowerMetrics({ effects, baseline }: Concluded): string | null {
  const slower = grouped(
    effects.filter(({ verdict }) => verdict === 'slower'),
    ({ system }) => system,
  );
  const texts = [...slower].map(
    ([system, some]) => `${system} in ${named(some.map(({ metric }) => metricText(metric)))}`,
  );
  if (texts.length === 0) return null;
  const than = baseline === null ? '' : ` than ${baseline}`;
  return plain(`Slower${than}: ${texts.slice(0, MOST_SYSTEMS).join('; ')}.`);
}

function costs(concluded: Concluded, use = 'Use'): string | null {
  const { cards, baseline } = concluded;
  const against = baseline === null ? '' : ` against ${plain(baseline)}`;
  const worse = firstOfEach(cards, 'slower');
  if (worse.length > 0)
    return worse
      .map((cost, i) => `${i === 0 ? use : 'use'} ${cost.system} only where ${acceptable(cost)}`)
      .join('; ')
      .concat('.');
  const figures = cards.flatMap(({ lines }) =>
    lines.filter(({ question }) => order.includes(question)).flatMap((line) => line.figures),
  );
  const better = firstOfEach(cards, 'faster');
  const gains = better.map((cost) => `${cost.system} gains ${costText(cost)}`).join('; ');
  const others = slowerMetrics(concluded);
  if (others !== null) return `${better.length > 0 ? `${gains}. ` : ''}${others}`;
  const open = figures.filter(({ word }) => word === 'inconclusive').length;
  const measured = figures.filter(({ word }) => word !== 'not measured').length;
  if (better.length > 0) return `${gains}; no cost is established${against}.`;
  if (open > 0)
    return `No cost is established${against}: ${open} of ${counted(measured, 'figure')} ${open === 1 ? 'is' : 'are'} not decided.`;
  if (figures.some(({ word }) => word === 'same')) return `No cost that counts was found${against}.`;
  const alone = firstOfEach(cards, 'measured');
  return alone.length === 0
    ? null
    : `Measured without a reference: ${alone.map((cost) => `${cost.system} ${costText(cost)}`).join('; ')}.`;
}

/** Says which system suits the purpose, or without one the first use for which tests between systems give places. */
function preference({ recommendations, purpose }: Concluded): string | null {
  const wanted = purpose && useFor(purpose)?.name;
  const placed = recommendations.find(({ use, places }) => places !== null && (wanted === null || use === wanted));
  const [first, ...others] = placed?.places ?? [];
  if (!placed || !first) return null;
  const rest = others.flatMap(({ systems }) => systems);
  return `For ${purpose ?? placed.use.toLowerCase()} prefer ${named(first.systems, 'or')} to ${named(rest)}.`;
}

/** Which system suits the purpose: by violations that decide for it, else by tests. */
function choice(concluded: Concluded): string | null {
  const { cards, purpose } = concluded;
  const placed = preference(concluded);
  if (placed !== null || purpose === null || cards.length < 2) return placed;
  const [excluded] = ruledOut(concluded, purpose, useFor(purpose)?.causes ?? [], headOf) ?? [];
  return excluded ?? `For ${purpose} tests prefer none of ${named(cards.map(({ system }) => system))}.`;
}

/** What else costs something where the losses of programs are said already. */
function otherCosts(concluded: Concluded): string | null {
  const cards = concluded.cards.map((card) => ({
    ...card,
    lines: card.lines.map((line) => (line.question === 'program' ? { ...line, figures: [] } : line)),
  }));
  return firstOfEach(cards, 'slower').length > 0 ? costs({ ...concluded, cards }) : null;
}

/** The purpose comes before quotas, unless they are it. Costs are those of systems that suit it. */
function withoutPrograms(concluded: Concluded): Sentence[] {
  const { cards, broken, purpose } = concluded;
  const limits = quotas(concluded);
  if (purpose === null || purpose === 'strict-tenants') return [limits, preference(concluded), costs(concluded)];
  const harmed = harmedBy(broken, useFor(purpose)?.causes ?? []);
  const suits = ({ system }: { system: string }) => harmed.length === cards.length || !harmed.includes(plain(system));
  const suitable = { ...concluded, cards: cards.filter(suits), effects: concluded.effects.filter(suits) };
  // The reason is among the violations: what the systems cost matters more here.
  return [choice(concluded), limits?.[1] ?? null, costs(suitable)];
}

/** Writes the sentences of a document about programs: which system to use, and what programs lose under it. */
function withPrograms(concluded: Concluded, loss: string): Sentence[] {
  const { cards, purpose } = concluded;
  const chosen = choice(concluded);
  if (chosen !== null) return [`${chosen.slice(0, -1)}: ${loss}.`, quotas(concluded), otherCosts(concluded)];
  const isDecided = cards.some((card) => ['slower', 'faster'].includes(programFigure(card)?.word ?? ''));
  const said = `${purpose === null ? 'Programs' : `For ${purpose}`}: ${loss}.`;
  if (!isDecided) return [said, quotas(concluded), costs(concluded)];
  const use = purpose === null ? 'Use' : `For ${purpose} use`;
  return [costs(concluded, use), quotas(concluded), cards.length > 1 ? said : null];
}

const MOST_WORDS = 40;

function shortened(text: string): string {
  const words = text.split(' ');
  return words.length <= MOST_WORDS ? text : `${words.slice(0, MOST_WORDS).join(' ')} …`;
}

/** One sentence, or several forms of it, the longest first; null if there is nothing to say. */
type Sentence = string | readonly string[] | null;

export function decisionOf(concluded: Concluded): string {
  const loss = programLoss(concluded.cards);
  const sentences: Sentence[] = loss === null ? withoutPrograms(concluded) : withPrograms(concluded, loss);
  const decision = [...sentences, promises(concluded)].reduce<string>((text, sentence) => {
    const forms = [sentence ?? []].flat().map((form) => (text === '' ? form : `${text} ${form}`));
    const found = forms.find((form) => form.split(' ').length <= MOST_WORDS);
    return found ?? (text === '' ? (forms[0] ?? '') : text);
  }, '');
  return shortened(capitalised(decision || 'Nothing was measured that answers a question below.'));
}
