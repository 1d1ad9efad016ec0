/** The plan of a fleet: which nodes measure, and with which command. Written once into the fleet's folder. */
import { join } from 'node:path';
import * as v from 'valibot';
import { quoted, UsageError } from '../errors/usage-error.js';
import { formats } from '../report/formats.js';
import { described, named } from '../results/described.js';
import { firstTwice } from '../results/first-twice.js';
import { jsonIn } from './json-file.js';

/** Name of the plan in a fleet's folder. */
export const PLAN = 'plan.json';
export const PLAN_VERSION = 1;

const MOST_TASKS = 1_000_000;
const MOST_BYTES = 128 * 2 ** 20;
export const LONGEST_NAME = 255;

export const indexSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST_TASKS - 1));
export const planIdSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/));
/** Any text: it is made safe where it is shown. */
export const nodeSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_NAME));
export const toolSchema = v.strictObject({ name: v.literal('gpu-virt-bench'), version: v.string() });

/** Options that the node itself sets, and those after which nothing would be measured. */
const own = ['output', 'resume', 'format', 'dry-run', 'help', 'version', ...formats].map((name) => `--${name}`);

/** Whether an argument says where results go, or that nothing is to be measured. */
export const isOwnOption = (argument: string): boolean =>
  own.includes(argument.split('=', 1)[0] as string) || argument === '-h' || argument === '-V';

const argumentSchema = v.pipe(
  v.string(),
  v.maxLength(100_000),
  v.check((text) => !text.includes('\0'), 'it contains a NUL character'),
  v.check(
    (text) => !isOwnOption(text),
    `it must not be one of ${own.join(', ')}: the node delivers one document by itself`,
  ),
);

export const planSchema = named(
  'FleetPlan',
  v.strictObject({
    kind: v.literal('fleet-plan'),
    schemaVersion: v.literal(PLAN_VERSION),
    tool: toolSchema,
    id: described(planIdSchema, 'Identifies the fleet: deliveries of another plan are refused.'),
    created: v.pipe(v.string(), v.isoTimestamp()),
    scheduler: described(v.picklist(['slurm', 'kubernetes', 'none']), 'What starts the tasks; `none`: the user does.'),
    tasks: described(
      v.pipe(
        v.array(
          v.strictObject({
            index: indexSchema,
            node: v.optional(described(nodeSchema, 'The node that was asked for; absent if the scheduler chooses.')),
          }),
        ),
        v.minLength(1, 'it has no task'),
        v.maxLength(MOST_TASKS),
        v.check(
          (tasks) => firstTwice(tasks.map(({ index }) => String(index))) === null,
          'two of its tasks have the same index',
        ),
      ),
      'One task per node.',
    ),
    command: v.picklist(['run', 'compare']),
    arguments: described(
      v.pipe(v.array(argumentSchema), v.maxLength(10_000)),
      'What follows the name of the command; without the options that say where results go.',
    ),
  }),
  'What `fleet` measures on every node.',
);

export type FleetPlan = v.InferOutput<typeof planSchema>;

/** Throws UsageError, which names the file and the problem. */
export async function readPlan(folder: string): Promise<FleetPlan> {
  const file = join(folder, PLAN);
  const found = await jsonIn(file, {
    kind: 'fleet-plan',
    version: PLAN_VERSION,
    schema: planSchema,
    mostBytes: MOST_BYTES,
  });
  if (found !== null && typeof found !== 'string') return found.value;
  throw new UsageError(
    `Expected the plan of a fleet but received ${quoted(file)}: ${found ?? 'there is no such file'}.`,
  );
}
