/** What became of the steps of a study, kept beside their results: the page can be written again on any machine. */
import { join } from 'node:path';
import * as v from 'valibot';
import { quoted, UsageError } from '../errors/usage-error.js';
import { jsonIn } from '../fleet/json-file.js';
import { toolSchema } from '../fleet/plan.js';

/** Name of the record in the folder of the results. */
export const RECORD = 'study.json';
const VERSION = 1;
const MOST_BYTES = 2 ** 24;

const outcomeSchema = v.strictObject({
  name: v.string(),
  command: v.array(v.string()),
  status: v.picklist(['ok', 'unsupported', 'failed']),
  reason: v.optional(v.string()),
  exitCode: v.nullable(v.number()),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  seconds: v.number(),
  /** What the commands of its needs printed: versions, packages, digests of images. */
  found: v.array(v.strictObject({ what: v.string(), printed: v.string() })),
});

const recordSchema = v.strictObject({
  kind: v.literal('study-record'),
  schemaVersion: v.literal(VERSION),
  tool: toolSchema,
  study: v.string(),
  isShort: v.boolean(),
  steps: v.array(outcomeSchema),
});

export type StepOutcome = v.InferOutput<typeof outcomeSchema>;
export type StudyRecord = v.InferOutput<typeof recordSchema>;

export const newRecord = (own: Pick<StudyRecord, 'study' | 'isShort'> & { version: string }): StudyRecord => ({
  kind: 'study-record',
  schemaVersion: VERSION,
  tool: { name: 'gpu-virt-bench', version: own.version },
  study: own.study,
  isShort: own.isShort,
  steps: [],
});

/** Null if the folder has none. Throws UsageError, which names the file and the problem. */
export async function readRecord(folder: string): Promise<StudyRecord | null> {
  const file = join(folder, RECORD);
  const found = await jsonIn(file, {
    kind: 'study-record',
    version: VERSION,
    schema: recordSchema,
    mostBytes: MOST_BYTES,
  });
  if (typeof found === 'string')
    throw new UsageError(`Expected the record of a study but received ${quoted(file)}: ${found}.`);
  return found && found.value;
}
