/** The decision in two sentences: what to do, the number, the reason. */
import type { Advice, Broken, Card, Figure, Line } from '../results/answer-schema.js';
import type { Effect } from '../results/document.js';
import { grouped } from '../results/grouped.js';
import { capitalised, plain } from '../results/plain.js';
import { named } from './candidates.js';
import { phaseName } from './causes.js';
import { headOf, QUOTA_CAUSES } from './violation-causes.js';

export interface Concluded {
  cards: readonly Card[];
  broken: readonly Broken[];
  recommendations: readonly Advice[];
  /** All effects of the document, also those that no card shows. */
  effects: readonly Effect[];
  /** What the systems were compared with. */
  baseline: string | null;
}

const holdsAll = ({ lines }: Card): boolean =>
  lines.some(({ question, figures }) => question === 'limits' && figures.every(({ word }) => word === 'holds'));

/** Items are left to the list of violations where they are many. */
const MOST_OF_CAUSE = 18;
const briefly = (one: Broken): string => (one.text.split(' ').length <= MOST_OF_CAUSE ? one.text : headOf(one));

/** Violations of anything but limits and isolation. */
function promises({ broken }: Concluded): string | null {
  const [first] = broken.filter(({ cause }) => !QUOTA_CAUSES.includes(cause));
  return first ? `Check before use: ${plain(first.system)} ${briefly(first)}.` : null;
}

/** Which systems not to use where limits must hold, with the first cause. */
function quotas({ cards, broken }: Concluded): string | null {
  const violated = broken.filter(({ cause }) => QUOTA_CAUSES.includes(cause));
  const [first] = violated;
  if (!first) return null;
  const breaking = [...new Set(violated.map(({ system }) => plain(system)))];
  const holding = cards.filter((card) => holdsAll(card) && !breaking.includes(card.system));
  const which =
    holding.length > 0
      ? `use ${named(holding.map(({ system }) => system))}, not ${named(breaking, 'or')}`
      : cards.length === 1
        ? `do not use ${named(breaking)}`
        : breaking.length === cards.length
          ? `use none of ${named(breaking)}`
          : `do not use ${named(breaking, 'or')}`;
  return `For strict quotas ${which}, because ${plain(first.system)} ${briefly(first)}.`;
}

interface Cost {
  system: string;
  figure: Figure;
}

const ends = ({ shown, shownCi95 }: Figure): string => `${shown ?? ''}${shownCi95 === null ? '' : ` (${shownCi95})`}`;

/** What decides most comes first. */
const order: readonly Line['question'][] = ['program', 'start', 'calls'];

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

/** Where no figure that decides is slower, but other metrics are: `Slower than native: hami-core in cuInit (START-002)`. */
function otherCosts({ effects, baseline }: Concluded): string | null {
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

function costs(concluded: Concluded): string | null {
  const { cards, baseline } = concluded;
  const against = baseline === null ? '' : ` against ${plain(baseline)}`;
  const worse = firstOfEach(cards, 'slower');
  if (worse.length > 0)
    return worse
      .map((cost, i) => `${i === 0 ? 'Use' : 'use'} ${cost.system} only where ${acceptable(cost)}`)
      .join('; ')
      .concat('.');
  const figures = cards.flatMap(({ lines }) => lines.slice(0, 3).flatMap((line) => line.figures));
  const better = firstOfEach(cards, 'faster');
  const gains = better.map((cost) => `${cost.system} gains ${costText(cost)}`).join('; ');
  const others = otherCosts(concluded);
  if (others !== null) return `${better.length > 0 ? `${gains}. ` : ''}${others}`;
  const open = figures.filter(({ word }) => word === 'inconclusive').length;
  const measured = figures.filter(({ word }) => word !== 'not measured').length;
  if (better.length > 0) return `${gains}; no cost is established${against}.`;
  if (open > 0) return `No cost is established${against}: ${open} of ${measured} figures are not decided.`;
  if (figures.some(({ word }) => word === 'same')) return `No cost that counts was found${against}.`;
  const alone = firstOfEach(cards, 'measured');
  return alone.length === 0
    ? null
    : `Measured without a reference: ${alone.map((cost) => `${cost.system} ${costText(cost)}`).join('; ')}.`;
}

/** The first use for which tests between systems give a place. */
function preference({ recommendations }: Concluded): string | null {
  const placed = recommendations.find(({ places }) => places !== null);
  const [first, ...others] = placed?.places ?? [];
  if (!placed || !first) return null;
  const rest = others.flatMap(({ systems }) => systems);
  return `For ${placed.use.toLowerCase()} prefer ${named(first.systems, 'or')} to ${named(rest)}.`;
}

const MOST_WORDS = 40;

function shortened(text: string): string {
  const words = text.split(' ');
  return words.length <= MOST_WORDS ? text : `${words.slice(0, MOST_WORDS).join(' ')} …`;
}

export function decisionOf(concluded: Concluded): string {
  const sentences = [quotas(concluded), preference(concluded), costs(concluded), promises(concluded)].filter(
    (one) => one !== null,
  );
  const [first = 'Nothing was measured that answers a question below.', ...others] = sentences;
  const all = others.reduce(
    (text, next) => (`${text} ${next}`.split(' ').length <= MOST_WORDS ? `${text} ${next}` : text),
    first,
  );
  return shortened(capitalised(all));
}
