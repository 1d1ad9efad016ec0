/** What a study says of itself in study.yaml: its question, whose figures it repeats, its steps, and the published tables. */
import * as v from 'valibot';
import { label } from '../config/label.js';
import { exactlyOne, list, mapOf, settings } from '../config/read.js';
import { choice, command, integer, matching, number, text } from '../config/schema.js';
import { DETAIL } from './detail-number.js';

const card = settings({
  /** The name that the source gives it. */
  name: text(),
  /** The compute capability, which with the number of multiprocessors says what the peak is. */
  computeCapability: v.optional(matching(/^\d+\.\d$/, 'such as 8.6')),
  /** The number of multiprocessors. */
  multiprocessors: v.optional(integer(1, 1_000)),
  /** The highest clock of its multiprocessors. */
  maxSmClockMhz: v.optional(number('a clock in MHz', { least: 1, most: 10_000 })),
});

const source = settings({
  /** What was published. */
  title: text(),
  /** Where it is. */
  url: matching(/^https:\/\/[^\s()<>]+$/, 'an address that begins with https://'),
  /** The commit or edition that was read. */
  revision: v.optional(text()),
  /** When it was published. */
  date: matching(/^\d{4}(-\d\d){0,2}$/, 'such as 2025-11-29'),
  /** The card that its figures are of. */
  card,
  /** What a reader has to know about it. */
  note: v.optional(text()),
});

const parameter = settings({
  /** What it is. */
  what: text(),
  /** The value without --set. */
  default: v.optional(text()),
});

const need = exactlyOne(
  {
    /** What is needed, as people call it. */
    what: text(),
    /** A program in PATH, or its path. */
    program: v.optional(text()),
    /** A file or folder, relative to that of the study. */
    file: v.optional(text()),
    /** A command that succeeds where it is there; the record keeps what it prints. */
    try: v.optional(command()),
  },
  ['program', 'file', 'try'],
);

const step = settings({
  /** Name of the step, and of the folder of its results. */
  name: label(),
  /** `run`, `compare` or `exec` with its arguments, without those that say where results go. */
  argv: command(),
  /** What --short runs in its place, without the needs. */
  short: v.optional(command()),
  /** What must be there; the step is unsupported where it is not. */
  needs: v.optional(list(need, 'a list of maps')),
  /** How long it takes. */
  minutes: v.optional(number('a number of minutes', { least: 0, most: 1_440 })),
  /** What it is for. */
  about: v.optional(text()),
});

const row = settings({
  /** What the source calls it. */
  name: text(),
  /** Unit of the published figures. */
  unit: text(),
  /** The metric that answers it here. */
  metric: v.optional(text()),
  /** The step that measures it. Default: the first that has the metric. */
  step: v.optional(label()),
  /** A statistic of the samples of a round. Default: the metric's value. */
  stat: v.optional(choice(['mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'max'])),
  /** A number of the metric's details, in their own unit, which `unit` then names. Default: the metric's value. */
  detail: v.optional(matching(DETAIL, 'such as starts[processes=50].meanMs')),
  /** The published figures by column: numbers, or what stands in their place. */
  published: v.optional(mapOf(text())),
  /** What we expected before we measured. */
  predicted: v.optional(text()),
  /** Why they differ. */
  why: v.optional(text()),
  /** Why a published figure cannot be what it says. */
  impossible: v.optional(text()),
});

const table = settings({
  /** Title of the table. */
  title: text(),
  /** The columns by their title, with the name of our system for each. */
  columns: mapOf(text()),
  /** Rows of the table. */
  rows: list(row, 'a list of maps'),
});

export const studySettings = settings({
  /** What the study asks. */
  question: text(),
  /** Whose figures it repeats. */
  source: source,
  /** Values for `{NAME}` in commands, which --set gives. */
  parameters: v.optional(mapOf(parameter)),
  /** What is run, in this order. */
  steps: list(step, 'a list of maps'),
  /** The published tables. */
  tables: list(table, 'a list of maps'),
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
