/** The document of `fleet report`: what all nodes delivered, without their samples. */
import * as v from 'valibot';
import { described, named } from '../../results/described.js';
import { indexSchema, nodeSchema, planIdSchema, toolSchema } from '../plan.js';

export const REPORT_VERSION = 1;

const finite: v.GenericSchema<number> = v.pipe(v.number(), v.finite());
const count: v.GenericSchema<number> = v.pipe(v.number(), v.integer(), v.minValue(0));
const text = v.string();
const texts = v.array(text);

/** From the best to the worst, except that nothing is known of UNKNOWN. */
export const verdicts = ['PASS', 'INFO', 'WARNING', 'UNKNOWN', 'CRITICAL'] as const;
const verdictSchema = v.picklist(verdicts);
export type NodeVerdictName = (typeof verdicts)[number];

const findingSchema = v.strictObject({
  severity: verdictSchema,
  reason: text,
  action: described(v.nullable(text), 'What to do next; null if nothing has to be done.'),
});
export type Finding = v.InferOutput<typeof findingSchema>;

const nodeFields = {
  node: described(v.nullable(nodeSchema), 'Null for a task of which no node is known.'),
  verdict: described(verdictSchema, 'The worst severity of its findings; PASS without any.'),
  findings: v.array(findingSchema),
  gpus: described(texts, 'UUIDs of the cards that count.'),
  tasks: v.array(indexSchema),
};

export const nodeVerdictSchema = named(
  'FleetNodeVerdict',
  v.strictObject({
    kind: v.literal('fleet-node-verdict'),
    schemaVersion: v.literal(REPORT_VERSION),
    tool: toolSchema,
    plan: planIdSchema,
    ...nodeFields,
  }),
  'What `fleet report --node` says of a node, for the prolog of a scheduler or a controller.',
);
export type NodeVerdict = v.InferOutput<typeof nodeVerdictSchema>;

const endSchema = v.strictObject({ value: finite, gpu: text, node: text });
const ruleSchema = v.picklist(['limit', 'mad', 'distribution']);
const directionSchema = v.picklist(['lower', 'higher', 'none']);
const unitSchema = described(v.nullable(text), 'Null for ratios, of which more is worse.');

const seriesFields = {
  group: text,
  system: text,
  baseline: described(v.nullable(text), 'Set for effects: of the system against it, within each card.'),
  metric: text,
};

export const fleetReportSchema = named(
  'FleetReport',
  v.strictObject({
    kind: v.literal('fleet-report'),
    schemaVersion: v.literal(REPORT_VERSION),
    tool: toolSchema,
    plan: v.strictObject({
      id: planIdSchema,
      created: text,
      scheduler: text,
      command: v.picklist(['run', 'compare']),
      arguments: texts,
    }),
    simulated: described(v.boolean(), 'Whether the cards are simulated: the numbers say nothing about real hardware.'),
    coverage: v.strictObject({
      planned: count,
      delivered: count,
      refused: count,
      silent: count,
      cards: described(count, 'Cards that were measured; each counts once.'),
      tasks: described(
        v.array(
          v.strictObject({
            index: indexSchema,
            state: v.picklist(['delivered', 'refused', 'silent']),
            node: v.nullable(nodeSchema),
            attempt: v.nullable(count),
            exitCode: v.nullable(v.pipe(v.number(), v.integer())),
            gpu: v.nullable(text),
            group: v.nullable(text),
            reason: described(v.nullable(text), 'Why it is refused or silent.'),
          }),
        ),
        'All tasks of the plan.',
      ),
      foreign: described(texts, 'Folders of deliveries that no task of the plan has.'),
    }),
    nodes: described(
      v.array(
        v.strictObject({
          ...nodeFields,
          proofs: described(
            v.strictObject({ passed: count, failed: texts, proven: count, processes: count }),
            'Proofs of the systems that passed and failed, and how many of the processes that gave numbers were proven.',
          ),
        }),
      ),
      'By name.',
    ),
    groups: described(
      v.array(
        v.strictObject({
          id: text,
          gpu: text,
          driver: v.nullable(text),
          vbios: v.nullable(text),
          powerLimitW: v.nullable(finite),
          maxSmClockMhz: v.nullable(finite),
          mig: text,
          memoryBytes: count,
          multiprocessors: count,
          layer: described(
            v.nullable(text),
            'SHA-256, or the path, of the library of the environment that `run` measured.',
          ),
          tool: described(text, 'The version that measured.'),
          cards: count,
        }),
      ),
      'Cards that may be compared: all of this is the same.',
    ),
    spreads: v.array(
      v.strictObject({
        ...seriesFields,
        name: text,
        unit: unitSchema,
        direction: directionSchema,
        cards: count,
        median: finite,
        mad: described(v.nullable(finite), 'Median absolute deviation from the median; null for one card.'),
        min: endSchema,
        max: endSchema,
        spread: described(v.nullable(finite), '(max − min) ÷ median; null for one card, and if values are 0 or less.'),
      }),
    ),
    rules: v.array(
      v.strictObject({
        rule: ruleSchema,
        words: text,
        needs: described(count, 'The fewest cards of a group that it needs.'),
      }),
    ),
    tests: described(count, 'Tests of one card each by MAD and distribution, which share one error rate.'),
    outliers: v.array(
      v.strictObject({
        ...seriesFields,
        rule: ruleSchema,
        gpu: text,
        node: text,
        side: v.picklist(['worse', 'better', 'different']),
        value: finite,
        median: described(v.nullable(finite), 'Of the group; null for a limit that is a value.'),
        deviation: described(v.nullable(finite), 'Part of the median; null where differences are absolute.'),
        score: described(v.nullable(finite), 'Distance in robust standard deviations.'),
        p: described(v.nullable(finite), 'P of a distance at least as large among equal cards.'),
        similarity: described(v.nullable(finite), 'Of its distribution with that of the group; 1 is the same.'),
        words: described(text, 'The rule in words, with the sample it rests on.'),
      }),
    ),
    untested: described(
      v.array(v.strictObject({ ...seriesFields, rule: ruleSchema, cards: count, reason: text })),
      'Where a rule was not applied, and why.',
    ),
    paired: described(
      v.array(
        v.strictObject({
          ...seriesFields,
          unit: unitSchema,
          cards: count,
          centre: described(finite, 'Mean over the cards of the effect on each.'),
          ci95: described(v.nullable(v.tuple([finite, finite])), 'Over cards; null for one card.'),
          p: v.nullable(finite),
          betweenCards: described(
            v.nullable(finite),
            'Standard deviation between cards, of logarithms for ratios; null for one card.',
          ),
          verdict: described(
            v.nullable(v.picklist(['faster', 'slower', 'same', 'inconclusive'])),
            'Null with too few cards, or if neither more nor less is better.',
          ),
        }),
      ),
      'Comparisons: effects within each card, then over the cards of a group.',
    ),
    warnings: texts,
  }),
  'What `fleet report` writes.',
);
export type FleetReport = v.InferOutput<typeof fleetReportSchema>;
