/**
 * Advice by use, from the figures of the cards: the same evidence cannot say two things. Violations come first, then
 * what was established. Places rest on tests between the systems alone (`places.ts`).
 */
import type { Advice, Broken, Card, Figure, Question } from '../results/answer-schema.js';
import { capitalised, plain } from '../results/text/plain.js';
import type { PurposeName } from '../results/text/purpose-names.js';
import { type Evidence, figureOf, inFigure, sourceOf } from './figures.js';
import { placesOf } from './places.js';
import { metricsFor, type Source } from './questions.js';
import { FAULT_CAUSES, headOf, LEAK_CAUSES, MEMORY_CAUSES, QUOTA_CAUSES } from './violation-causes.js';

interface Use {
  name: string;
  /** The purpose of a comparison (--for) that this use stands for. */
  purpose: PurposeName;
  /** The lines of a card that decide. */
  questions: readonly Question[];
  /** Further metrics that decide. */
  others: readonly Source[];
  /** Models that decide too where they were measured beside a program of the user's own. */
  models?: readonly Source[];
  /** Violations that decide before any cost. */
  causes: readonly string[];
}

const other = (id: string, what: string, as: Source['as'] = 'difference'): Source => ({ id, what, as });

const uses: readonly Use[] = [
  {
    name: 'Inference',
    purpose: 'serving',
    questions: ['program', 'start', 'calls', 'neighbours'],
    others: [],
    models: [other('LLM-004', 'time per token', 'change')],
    causes: FAULT_CAUSES,
  },
  {
    name: 'Training',
    purpose: 'training',
    questions: ['program'],
    models: [other('OH-010', 'throughput lost')],
    others: [other('LLM-010', 'scaling over GPUs', 'change'), other('NCCL-001', 'all-reduce')],
    causes: FAULT_CAUSES,
  },
  {
    name: 'Notebooks',
    purpose: 'notebooks',
    questions: ['start', 'neighbours'],
    others: [
      other('OH-009', 'processor time of an idle tenant'),
      other('COMPAT-001', 'probes of software that work', 'value'),
    ],
    causes: [...MEMORY_CAUSES, ...FAULT_CAUSES, ...LEAK_CAUSES],
  },
  {
    name: 'Strict quotas',
    purpose: 'strict-tenants',
    questions: ['limits'],
    others: [],
    causes: QUOTA_CAUSES,
  },
];

/** Name and deciding violations of the use that a purpose is. */
export const useFor = (purpose: PurposeName): Pick<Use, 'name' | 'causes'> | null =>
  uses.find((use) => use.purpose === purpose) ?? null;

interface Known {
  evidence: Evidence;
  systems: readonly string[];
  cards: readonly Card[];
  broken: readonly Broken[];
}

const isMeasured = ({ word }: Figure): boolean => word !== 'not measured';

/** The figures of one system that decide for the use. */
function figuresOf({ evidence, systems, cards }: Known, use: Use, system: string): Figure[] {
  const card = cards[systems.indexOf(system)];
  const lines = card?.lines.filter(({ question }) => use.questions.includes(question)) ?? [];
  const figures = lines.flatMap((line) => line.figures);
  const others = [...(use.models ?? []), ...use.others]
    .filter(({ id }) => !figures.some(({ metric }) => metric === id))
    .flatMap((source) => {
      const found = sourceOf(evidence, [source], systems);
      return found ? [figureOf(evidence, found, system)] : [];
    });
  return [...figures, ...others];
}

const MOST = 3;

function listed(texts: readonly string[]): string {
  const more = texts.length - MOST;
  return `${texts.slice(0, MOST).join('; ')}${more > 0 ? `; ${more} more` : ''}`;
}

/** What was found, the most important first; empty if nothing was found. */
function found(figures: readonly Figure[], violated: readonly Broken[]): string[] {
  const of = (words: readonly Figure['word'][], text: (one: Figure) => string, before: string) => {
    const some = figures.filter(({ word }) => words.includes(word)).map(text);
    return some.length === 0 ? [] : [`${before}${listed(some)}`];
  };
  const what = (one: Figure) => one.what;
  return [
    ...(violated.length > 0 ? [`No: ${listed(violated.map(headOf))}`] : []),
    ...of(['inaccurate', 'in part'], inFigure, 'limited only in part: '),
    ...of(['slower'], inFigure, 'costs: '),
    ...of(['faster'], inFigure, 'gains: '),
    ...of(['same'], what, 'no loss that counts: '),
    ...of(['holds'], what, 'passed: '),
    ...of(['measured'], inFigure, 'measured: '),
    ...of(['inconclusive', 'invalid'], what, 'not decided: '),
  ];
}

function textOf(known: Known, use: Use, system: string): string {
  const violated = known.broken.filter((one) => one.system === system && use.causes.includes(one.cause));
  const sentences = found(figuresOf(known, use, system), violated);
  return plain(`${(sentences.length > 0 ? sentences : ['not known']).map(capitalised).join('. ')}.`);
}

function adviceOf(known: Known, use: Use): Advice {
  const { evidence, systems, broken } = known;
  const figures = systems.flatMap((system) => figuresOf(known, use, system)).filter(isMeasured);
  const measured = [...new Set(figures.flatMap(({ metric }) => metric ?? []))];
  const questions = use.questions.filter((question) => !isAnswered(known, question));
  const missing = [...questions.flatMap((question) => metricsFor[question]), ...use.others.map(({ id }) => id)].filter(
    (id) => !measured.includes(id),
  );
  const harmed = new Set(broken.filter(({ cause }) => use.causes.includes(cause)).map(({ system }) => system));
  const isKnown = figures.length > 0 || harmed.size > 0;
  return {
    use: use.name,
    decides: measured,
    missing,
    systems: isKnown ? systems.map((system) => ({ system: plain(system), text: textOf(known, use, system) })) : [],
    ...placesOf(evidence.view, { systems, harmed, figures }),
  };
}

const isAnswered = ({ cards }: Known, question: Question): boolean =>
  cards.some(({ lines }) => lines.some((line) => line.question === question && line.figures.every(isMeasured)));

/** Advice for each use; empty where nothing was compared, because a single run has no reference. */
export const recommendationsOf = (known: Known): Advice[] =>
  known.evidence.view.systems.some(({ isCompared }) => isCompared) ? uses.map((use) => adviceOf(known, use)) : [];
