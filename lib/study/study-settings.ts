/** What a study says of itself in study.yaml: its question, whose figures it repeats, its steps, and the published tables. */
import type * as v from 'valibot';
import { label } from '../config/label.js';
import { exactlyOne, list, mapOf, settings } from '../config/read.js';
import { choice, command, integer, key, matching, needed, number, text } from '../config/schema.js';

const card = settings({
  name: needed(text(), 'Its name, as the source gives it.'),
  computeCapability: key(matching(/^\d+\.\d$/, 'such as 8.6'), 'Its compute capability.', '0.0'),
  multiprocessors: key(integer(1, 1_000), 'Number of its multiprocessors.', 1),
  maxSmClockMhz: key(number('a clock in MHz', { least: 1, most: 10_000 }), 'The highest clock of its multiprocessors.'),
});

const source = settings({
  title: needed(text(), 'What was published.'),
  url: needed(matching(/^https:\/\/[^\s()<>]+$/, 'an address that begins with https://'), 'Where it is.'),
  revision: key(text(), 'The commit or edition that was read.'),
  date: needed(matching(/^\d{4}(-\d\d){0,2}$/, 'such as 2025-11-29'), 'When it was published.'),
  card: needed(card, 'The card that its figures are of.'),
  note: key(text(), 'What a reader has to know about it.'),
});

const parameter = settings({
  what: needed(text(), 'What it is.'),
  default: key(text(), 'Its value without --set.'),
});

const need = exactlyOne(
  {
    what: needed(text(), 'What is needed, as people call it.'),
    program: key(text(), 'A program in PATH, or its path.'),
    file: key(text(), 'A file or folder, relative to that of the study.'),
    try: key(command(), 'A command that succeeds where it is there; the record keeps what it prints.'),
  },
  ['program', 'file', 'try'],
);

const step = settings({
  name: needed(label(), 'Name of the step, and of the folder of its results.'),
  argv: needed(command(), '`run`, `compare` or `exec` with its arguments, without those that say where results go.'),
  short: key(command(), 'What --short runs in its place, without the needs.'),
  needs: key(list(need, 'a list of maps'), 'What must be there; the step is unsupported where it is not.'),
  minutes: key(number('a number of minutes', { least: 0, most: 1_440 }), 'How long it takes.'),
  about: key(text(), 'What it is for.'),
});

const row = settings({
  name: needed(text(), 'What the source calls it.'),
  unit: needed(text(), 'Unit of the published figures.'),
  metric: key(text(), 'The metric that answers it here.'),
  step: key(label(), 'The step that measures it. Default: the first that has the metric.'),
  stat: key(
    choice(['mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'max']),
    "A statistic of the samples of a round. Default: the metric's value.",
  ),
  published: key(mapOf(text()), 'The published figures by column: numbers, or what stands in their place.'),
  predicted: key(text(), 'What we expected before we measured.'),
  why: key(text(), 'Why they differ.'),
  impossible: key(text(), 'Why a published figure cannot be what it says.'),
});

const table = settings({
  title: needed(text(), 'Title of the table.'),
  columns: needed(mapOf(text()), 'The columns by their title, with the name of our system for each.'),
  rows: needed(list(row, 'a list of maps'), 'Rows of the table.'),
});

export const studySettings = settings({
  question: needed(text(), 'What the study asks.'),
  source: needed(source, 'Whose figures it repeats.'),
  parameters: key(mapOf(parameter), 'Values for `{NAME}` in commands, which --set gives.'),
  steps: needed(list(step, 'a list of maps'), 'What is run, in this order.'),
  tables: needed(list(table, 'a list of maps'), 'The published tables.'),
});

type Given = v.InferOutput<typeof studySettings>;

export type StudyStep = Given['steps'][number];
export type StudyTable = Given['tables'][number];
export type StudyRow = StudyTable['rows'][number];
export type StudyCard = Given['source']['card'];

/** A step as it is run: shortened or not, with the values of the parameters. */
export interface PlannedStep extends Omit<StudyStep, 'short'> {
  needs: NonNullable<StudyStep['needs']>;
  /** Parameters that it names and that have no value. */
  lacks: readonly string[];
}

export interface Study extends Given {
  /** Name of its folder. */
  name: string;
  /** Absolute; steps run in it. */
  folder: string;
  steps: PlannedStep[];
}
