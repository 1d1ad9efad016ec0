/** The plan of a new fleet, from what a user gave. */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { toolVersion } from '../../../environment/tool.js';
import { UsageError } from '../../../errors/usage-error.js';
import { type FleetPlan, PLAN_VERSION, planSchema } from '../../../fleet/plan.js';
import { issueText } from '../../../results/issue-text.js';

/** `words`: `run` or `compare` with its arguments, or selectors of `run`. Throws UsageError for what no node can run. */
export function newPlan(
  words: readonly string[],
  { scheduler, tasks }: Pick<FleetPlan, 'scheduler' | 'tasks'>,
): FleetPlan {
  const [first, ...rest] = words;
  const isNamed = first === 'run' || first === 'compare';
  const created = new Date().toISOString();
  const plan: v.InferInput<typeof planSchema> = {
    kind: 'fleet-plan',
    schemaVersion: PLAN_VERSION,
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    id: `${created.slice(0, 10)}-${randomBytes(4).toString('hex')}`,
    created,
    scheduler,
    tasks,
    command: isNamed ? first : 'run',
    arguments: isNamed ? rest : [...words],
  };
  const checked = v.safeParse(planSchema, plan, { abortEarly: true });
  if (checked.success) return checked.output;
  throw new UsageError(
    `Expected a command that a node can run but received one of which ${issueText(checked.issues[0])}.`,
  );
}
