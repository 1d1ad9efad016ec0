/** The card of a system: five lines that answer five questions. */
import type { Broken, Card, Figure, Line, Question, SharedCause, Word } from '../results/answer-schema.js';
import { plain } from '../results/text/plain.js';

import { type Findings, figure, figureOf, notMeasured, sourceOf } from './figures.js';
import { channelFigure, computeFigure, faultFigure, leakFigure, memoryFigure, resultsFigure } from './limit-figures.js';
import { neighbours, slotsOf, titles } from './questions.js';

/** Words from the most severe to the least. */
const severity: readonly Word[] = [
  'broken',
  'slower',
  'inaccurate',
  'in part',
  'invalid',
  'inconclusive',
  'measured',
  'faster',
  'same',
  'holds',
  'not measured',
];

const worst = (figures: readonly Figure[]): Word =>
  severity.find((word) => figures.some((one) => one.word === word)) ?? 'not measured';

const lineOf = (question: Question, figures: Figure[]): Line => ({
  question,
  title: titles[question],
  word: worst(figures),
  figures: figures.length > 0 ? figures : [figure({ metric: null, what: 'not measured', word: 'not measured' })],
});

/** Adds the phase that explains the whole figure. */
function explained(one: Figure, system: string, causes: readonly SharedCause[]): Figure {
  const cause = causes.find((each) => each.system === system && each.explains.includes(one.metric ?? ''));
  if (!cause) return one;
  return { ...one, cause: cause.what };
}

/** The largest number of figures in one line of a card. */
const MOST_FIGURES = 2;

export function cardOf(findings: Findings, system: string): Card {
  const { evidence, systems, broken, causes } = findings;
  const fromSlots = (question: 'start' | 'calls' | 'program') =>
    slotsOf(evidence.view, question)
      .flatMap((slot) => {
        const source = sourceOf(evidence, slot, systems);
        return source ? [explained(figureOf(evidence, source, system), system, causes)] : [];
      })
      .slice(0, MOST_FIGURES);
  const interference = neighbours.flatMap((slot) => sourceOf(evidence, slot, systems) ?? []);
  const own = broken.filter((one) => one.system === system);
  const lines = [
    lineOf('start', fromSlots('start')),
    lineOf('calls', fromSlots('calls')),
    lineOf('program', fromSlots('program')),
    lineOf('limits', limitFigures(findings, own, system)),
    lineOf('neighbours', [
      ...interference.map((source) => figureOf(evidence, source, system)),
      ...[
        faultFigure(findings, own, system),
        leakFigure(own),
        channelFigure(findings, system),
        resultsFigure(findings, system),
      ].flatMap(present),
    ]),
  ];
  return { system: plain(system), lines };
}

/** If one kind of limit was measured, the other is named too: it must not seem to hold. */
function limitFigures(findings: Findings, own: readonly Broken[], system: string): Figure[] {
  const [memory, compute] = [memoryFigure(findings, own, system), computeFigure(findings, own, system)];
  if (!memory && !compute) return [];
  return [memory ?? notMeasured('memory'), compute ?? notMeasured('compute')];
}

const present = (one: Figure | null): Figure[] => (one ? [one] : []);
