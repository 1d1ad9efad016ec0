/** The answer of a comparison: what a reader decides from, as fields that stay the same between versions. */
import * as v from 'valibot';

const finite = v.pipe(v.number(), v.finite());
const interval = v.nullable(v.tuple([finite, finite]));
const ids = v.array(v.string());

/** The five questions of a card, in their order. */
const questionSchema = v.picklist(['start', 'calls', 'program', 'limits', 'neighbours']);

/**
 * A figure's or a line's conclusion. The first five are verdicts against the baseline; `holds`, `in part`, `inaccurate`
 * and `broken` are of limits and isolation; `measured` is a value that was compared with nothing.
 */
const wordSchema = v.picklist([
  'slower',
  'faster',
  'same',
  'inconclusive',
  'invalid',
  'holds',
  'in part',
  'inaccurate',
  'broken',
  'measured',
  'not measured',
]);

const figureSchema = v.strictObject({
  /** The metric that it comes from; null if none was measured. */
  metric: v.nullable(v.string()),
  /** What it is the cost or the state of, e.g. `launch`. */
  what: v.string(),
  value: v.nullable(finite),
  ci95: interval,
  unit: v.string(),
  word: wordSchema,
  /** The value and its interval in a unit that fits, for people. */
  shown: v.nullable(v.string()),
  shownCi95: v.nullable(v.string()),
  /** The phase that explains nearly all of it, e.g. `cuInit`; null if it was looked for in vain. */
  cause: v.nullable(v.string()),
  /** What else the number means, or why there is none. */
  note: v.nullable(v.string()),
});

const lineSchema = v.strictObject({
  question: questionSchema,
  title: v.string(),
  /** The most severe word of its figures. */
  word: wordSchema,
  figures: v.array(figureSchema),
});

const cardSchema = v.strictObject({ system: v.string(), lines: v.array(lineSchema) });

/** Effects of one cause: what is left of each metric without the phases is too small to count. */
const causeSchema = v.strictObject({
  system: v.string(),
  /** The metrics of the phases, e.g. START-002. */
  phases: ids,
  /** The phases in words, e.g. `cuInit`. */
  what: v.string(),
  /** The metrics that contain them. */
  explains: ids,
});

const brokenSchema = v.strictObject({
  system: v.string(),
  /** A stable name, e.g. `context-not-counted`. */
  cause: v.string(),
  text: v.string(),
  /** The paths, faults or scenarios that showed it. */
  items: ids,
  metrics: ids,
  /** What was seen at most, the limit, and their unit; null where a finding is no amount. */
  value: v.nullable(finite),
  limit: v.nullable(finite),
  unit: v.string(),
});

const adviceSchema = v.strictObject({
  use: v.string(),
  /** The measured metrics that decide for this use, and those that would but were not measured. */
  decides: ids,
  missing: ids,
  /** What was found of each system. */
  systems: v.array(v.strictObject({ system: v.string(), text: v.string() })),
  /** Places from tests between systems alone; null if they support none. */
  places: v.nullable(v.array(v.strictObject({ place: v.pipe(v.number(), v.integer()), systems: ids }))),
  /** Why there are these places, or none. */
  reason: v.string(),
});

const unknownSchema = v.strictObject({
  text: v.string(),
  /** How to learn it; null if no command can. */
  command: v.nullable(v.string()),
});

export const answerSchema = v.strictObject({
  /** What to do, the number and the reason, in at most 40 words. */
  decision: v.string(),
  cards: v.array(cardSchema),
  violations: v.array(brokenSchema),
  causes: v.array(causeSchema),
  recommendations: v.array(adviceSchema),
  unknown: v.array(unknownSchema),
});

export type Answer = v.InferOutput<typeof answerSchema>;
export type Question = v.InferOutput<typeof questionSchema>;
export type Word = v.InferOutput<typeof wordSchema>;
export type Figure = v.InferOutput<typeof figureSchema>;
export type Line = v.InferOutput<typeof lineSchema>;
export type Card = v.InferOutput<typeof cardSchema>;
export type SharedCause = v.InferOutput<typeof causeSchema>;
export type Broken = v.InferOutput<typeof brokenSchema>;
export type Advice = v.InferOutput<typeof adviceSchema>;
export type Unknown = v.InferOutput<typeof unknownSchema>;
