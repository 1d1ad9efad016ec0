/** What a node delivers: the document that its command wrote, and a note that says where it comes from. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { described, named } from '../results/described.js';
import { indexSchema, nodeSchema, planIdSchema, toolSchema } from './plan.js';

/** Folder in a fleet's folder with a folder per task, named by its index. */
export const DELIVERIES = 'deliveries';
/** Written last: a folder without it has not delivered. */
export const DELIVERY = 'delivery.json';
export const DOCUMENT = 'document.json.gz';
export const DELIVERY_VERSION = 1;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const time = v.pipe(v.string(), v.isoTimestamp());

export const deliverySchema = named(
  'FleetDelivery',
  v.strictObject({
    kind: v.literal('fleet-delivery'),
    schemaVersion: v.literal(DELIVERY_VERSION),
    tool: toolSchema,
    plan: described(planIdSchema, 'The id of the plan.'),
    index: described(indexSchema, 'The index of the task.'),
    attempt: described(
      v.pipe(count, v.minValue(1)),
      'Counts deliveries of the task; the last one replaces those before.',
    ),
    node: described(nodeSchema, 'The name of the node, as the scheduler or the node itself gives it.'),
    started: time,
    ended: time,
    exitCode: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      'The exit code of `run` or `compare`; null if a signal ended it.',
    ),
    gpus: described(
      v.pipe(v.array(v.pipe(v.string(), v.maxLength(200))), v.maxLength(1_000)),
      'UUIDs of the measured GPUs; empty without a document.',
    ),
    document: described(
      v.nullable(v.strictObject({ bytes: count, sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) })),
      'The compressed document; null if the command wrote none.',
    ),
    message: v.optional(
      described(v.pipe(v.string(), v.maxLength(10_000)), 'Why there is no result: the last error of the command.'),
    ),
  }),
  'What a node says of the document that it delivers.',
);

export type FleetDelivery = v.InferOutput<typeof deliverySchema>;

/** Exit codes of commands whose document is a result: 3 is a failed gate, 4 a limit that did not hold. */
const RESULTS = [0, 3, 4];
/** The code if a metric failed: the others are results. */
const FAILED = 1;

/** The exit code that a scheduler sees: a result is no failure of the task, and not measured again. */
export const codeForScheduler = ({ exitCode, document }: Pick<FleetDelivery, 'exitCode' | 'document'>): number => {
  if (exitCode === null) return FAILED;
  if (!RESULTS.includes(exitCode)) return exitCode;
  return document === null ? FAILED : 0;
};

/** Whether the document may be read: it also has results where some metrics failed. */
export const hasResults = ({ exitCode, document }: FleetDelivery): boolean =>
  document !== null && exitCode !== null && [...RESULTS, FAILED].includes(exitCode);

export const sealOf = (document: Buffer): NonNullable<FleetDelivery['document']> => ({
  bytes: document.length,
  sha256: createHash('sha256').update(document).digest('hex'),
});
