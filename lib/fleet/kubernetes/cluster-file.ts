/** How a fleet's cluster is reached: `cluster.json` in its folder, so that later commands ask the cluster that it was sent to. */
import { join } from 'node:path';
import * as v from 'valibot';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { Kubectl } from '../../systems/kinds/pod/kubectl.js';
import { jsonIn } from '../json-file.js';
import { type FleetPlan, planIdSchema } from '../plan.js';
import { kubernetes } from './kubernetes.js';
import { readManifest } from './resent-job.js';
import type { Scheduler } from '../scheduler.js';

export const CLUSTER = 'cluster.json';
const VERSION = 1;
const MOST_BYTES = 2 ** 16;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(4_096));
const schema = v.strictObject({
  kind: v.literal('fleet-cluster'),
  schemaVersion: v.literal(VERSION),
  plan: planIdSchema,
  /** The program. */
  kubectl: text,
  /** Absent: the current one of kubectl's configuration. */
  context: v.optional(text),
});

export const clusterText = ({ id }: FleetPlan, kubectl: string, context: string | undefined): string =>
  `${JSON.stringify({ kind: 'fleet-cluster', schemaVersion: VERSION, plan: id, kubectl, context }, null, 2)}\n`;

/** The scheduler of a plan for Kubernetes. Throws UsageError. */
export async function clusterOf(folder: string, plan: FleetPlan): Promise<Scheduler> {
  const manifest = await readManifest(folder, plan);
  const file = join(folder, CLUSTER);
  const found = await jsonIn(file, { kind: 'fleet-cluster', version: VERSION, schema, mostBytes: MOST_BYTES });
  if (typeof found === 'string')
    throw new UsageError(`Expected how to reach the cluster but received ${quoted(file)}: ${found}.`);
  const { kubectl: program = 'kubectl', context } = found?.value ?? {};
  const { namespace } = manifest;
  return kubernetes(new Kubectl({ program, context, namespace, caller: process.env }), plan, manifest);
}
