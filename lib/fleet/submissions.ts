/** What was sent to a scheduler: `submissions.json` in a fleet's folder. */
import { join } from 'node:path';
import * as v from 'valibot';
import { quoted, UsageError } from '../errors/usage-error.js';
import { jsonIn } from './json-file.js';
import { indexSchema, planIdSchema, type FleetPlan } from './plan.js';

export const SUBMISSIONS = 'submissions.json';
const VERSION = 1;
const MOST_BYTES = 128 * 2 ** 20;

const submissionSchema = v.strictObject({
  /** The scheduler's own name of the job. */
  job: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  /** Empty for the job that merges. */
  indices: v.array(indexSchema),
  submitted: v.pipe(v.string(), v.isoTimestamp()),
});
export type Submission = v.InferOutput<typeof submissionSchema>;

const schema = v.strictObject({
  kind: v.literal('fleet-submissions'),
  schemaVersion: v.literal(VERSION),
  plan: planIdSchema,
  submissions: v.array(submissionSchema),
});

export const submissionsText = ({ id }: FleetPlan, submissions: readonly Submission[]): string =>
  `${JSON.stringify({ kind: 'fleet-submissions', schemaVersion: VERSION, plan: id, submissions }, null, 2)}\n`;

/** Empty if nothing was sent. Throws UsageError. */
export async function readSubmissions(folder: string, { id }: FleetPlan): Promise<Submission[]> {
  const file = join(folder, SUBMISSIONS);
  const found = await jsonIn(file, { kind: 'fleet-submissions', version: VERSION, schema, mostBytes: MOST_BYTES });
  if (found === null) return [];
  const why = typeof found === 'string' ? found : found.value.plan === id ? null : 'it is of another plan';
  if (typeof found === 'string' || why !== null)
    throw new UsageError(`Expected what was sent for this fleet but received ${quoted(file)}: ${why}.`);
  return found.value.submissions;
}
