/** The answer of a comparison: what a reader decides from, as fields that stay the same between versions. */
import * as v from 'valibot';
import { described, named } from './described.js';

const finite = v.pipe(v.number(), v.finite());
const interval = v.nullable(v.tuple([finite, finite]));
const ids = v.array(v.string());

const questionSchema = named(
  'Question',
  v.picklist(['start', 'calls', 'program', 'limits', 'neighbours']),
  'The five questions of a card, in their order.',
);

const wordSchema = named(
  'Word',
  v.picklist([
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
  ]),
  "A figure's or a line's conclusion. The first five are verdicts against the baseline; `holds`, `in part`, `inaccurate` and `broken` are of limits and isolation; `measured` is a value that was compared with nothing.",
);

const figureSchema = named(
  'Figure',
  v.strictObject({
    metric: described(v.nullable(v.string()), 'The metric that it comes from; null if none was measured.'),
    what: described(v.string(), 'What it is the cost or the state of, e.g. `launch`.'),
    value: v.nullable(finite),
    ci95: interval,
    unit: v.string(),
    word: wordSchema,
    shown: described(v.nullable(v.string()), 'The value and its interval in a unit that fits, for people.'),
    shownCi95: v.nullable(v.string()),
    cause: described(
      v.nullable(v.string()),
      'The phase that explains nearly all of it, e.g. `cuInit`; null if it was looked for in vain.',
    ),
    note: described(v.nullable(v.string()), 'What else the number means, or why there is none.'),
  }),
  'A figure of a line.',
);

const lineSchema = named(
  'Line',
  v.strictObject({
    question: questionSchema,
    title: v.string(),
    word: described(wordSchema, 'The most severe word of its figures.'),
    figures: v.array(figureSchema),
  }),
  'What is known of one of the five questions.',
);

const cardSchema = named(
  'Card',
  v.strictObject({ system: v.string(), lines: v.array(lineSchema) }),
  'What was found of one system.',
);

const causeSchema = named(
  'SharedCause',
  v.strictObject({
    system: v.string(),
    phases: described(ids, 'The metrics of the phases, e.g. START-002.'),
    what: described(v.string(), 'The phases in words, e.g. `cuInit`.'),
    explains: described(ids, 'The metrics that contain them.'),
  }),
  'Effects of one cause: what is left of each metric without the phases is too small to count.',
);

const brokenSchema = named(
  'Broken',
  v.strictObject({
    system: v.string(),
    cause: described(v.string(), 'A stable name, e.g. `context-not-counted`.'),
    text: v.string(),
    items: described(ids, 'The paths, faults or scenarios that showed it.'),
    metrics: ids,
    value: described(
      v.nullable(finite),
      'What was seen at most, the limit, and their unit; null where a finding is no amount.',
    ),
    limit: v.nullable(finite),
    unit: v.string(),
  }),
  'A limit or an isolation that was shown not to hold.',
);

const adviceSchema = named(
  'Advice',
  v.strictObject({
    use: v.string(),
    decides: described(
      ids,
      'The measured metrics that decide for this use, and those that would but were not measured.',
    ),
    missing: ids,
    systems: described(
      v.array(v.strictObject({ system: v.string(), text: v.string() })),
      'What was found of each system.',
    ),
    places: described(
      v.nullable(v.array(v.strictObject({ place: v.pipe(v.number(), v.integer()), systems: ids }))),
      'Places from tests between systems alone; null if they support none.',
    ),
    reason: described(v.string(), 'Why there are these places, or none.'),
  }),
  'What the comparison says for one use of the GPU.',
);

const unknownSchema = named(
  'Unknown',
  v.strictObject({
    text: v.string(),
    command: described(v.nullable(v.string()), 'How to learn it; null if no command can.'),
  }),
  'What the comparison leaves open.',
);

export const answerSchema = named(
  'Answer',
  v.strictObject({
    decision: described(v.string(), 'What to do, the number and the reason, in at most 40 words.'),
    cards: v.array(cardSchema),
    violations: v.array(brokenSchema),
    causes: v.array(causeSchema),
    recommendations: v.array(adviceSchema),
    unknown: v.array(unknownSchema),
  }),
  'What a reader decides from.',
);

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
