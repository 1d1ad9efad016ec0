/** `gpu-virt-bench fleet slurm` writes the plan and the scripts of a fleet for Slurm, and sends them if asked to. */
import { join, resolve } from 'node:path';
import { toolVersion } from '../../../environment/tool.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import type { FleetPlan } from '../../../fleet/plan.js';
import {
  type JobSettings,
  LOGS,
  MERGE_SCRIPT,
  mergeScript,
  TASK_SCRIPT,
  taskScript,
} from '../../../fleet/slurm/job-script.js';
import { nodesIn } from '../../../fleet/slurm/node-list.js';
import { gpuNodes, nodeText } from '../../../fleet/slurm/gpu-nodes.js';
import { slurm as scheduler } from '../../../fleet/slurm/slurm.js';
import { packageRoot } from '../../../package-root.js';
import { plain } from '../../../results/text/plain.js';
import { commandLine } from '../../../results/text/command-line.js';
import { inFleet, writeFleet } from '../../files/fleet-folder.js';
import { makeDirectory } from '../../files/output.js';
import { variableOf } from '../../options/env-option.js';
import { exitCodes } from '../../options/exit-codes.js';
import { say, warn } from '../../terminal/talk.js';
import { newPlan } from './new-plan.js';
import { sendMissing } from './submit.js';

export interface RawSlurmOptions {
  output: string;
  nodelist?: string;
  nodes?: string;
  partition?: string;
  account?: string;
  qos?: string;
  time?: string;
  gres: string;
  share?: true;
  sbatchOption?: string[];
  env?: string[];
  containerImage?: string;
  containerRuntime: string;
  tool?: string;
  submit?: true;
}

/** `checkOptions` refuses options that the command of the nodes does not have: they would see so after their queue. */
export async function slurm(
  words: readonly string[],
  raw: RawSlurmOptions,
  checkOptions: (command: string, args: readonly string[]) => void,
): Promise<number> {
  const folder = resolve(raw.output);
  const plan = newPlan(words, { scheduler: 'slurm', tasks: await tasksOf(raw) });
  checkOptions(plan.command, plan.arguments);
  const settings = settingsOf(folder, plan, raw);
  // Both refuse what must not be in a script, before anything is written.
  const files = { [TASK_SCRIPT]: taskScript(settings), [MERGE_SCRIPT]: mergeScript(settings) };
  return inFleet(folder, '--output', async () => {
    await makeDirectory(join(folder, LOGS), '--output');
    await writeFleet(folder, plan, files);
    say(`Wrote the plan of ${plan.tasks.length} tasks and its scripts to ${plain(folder)}.`);
    if (raw.submit) return sendMissing(scheduler, { folder, plan, withRefused: false });
    say(`Send it with: ${commandLine(['fleet', 'submit', raw.output])}`);
    return exitCodes.ok;
  });
}

const MOST_NODES = 100_000;

async function tasksOf({ nodelist, nodes, partition }: RawSlurmOptions): Promise<FleetPlan['tasks']> {
  if (nodes !== undefined) {
    const count = /^[1-9]\d{0,5}$/.test(nodes) ? Number(nodes) : NaN;
    if (!(count <= MOST_NODES))
      throw new UsageError(`Expected --nodes to be an integer from 1 to ${MOST_NODES} but received ${quoted(nodes)}.`);
    return Array.from({ length: count }, (_, index) => ({ index }));
  }
  if (nodelist !== undefined) return nodesIn(nodelist, '--nodelist').map((node, index) => ({ index, node }));
  const found = await gpuNodes(partition);
  const leftOut = found.filter(({ unusable }) => unusable !== null);
  if (leftOut.length > 0) warn(`Nodes that take no jobs are left out: ${leftOut.map(nodeText).join(', ')}.`);
  const usable = found.filter(({ unusable }) => unusable === null);
  if (usable.length > 0) return usable.map(({ name }, index) => ({ index, node: name }));
  throw new UsageError(
    'Expected nodes with GPUs but sinfo lists none that take jobs: name them with --nodelist, or how many with --nodes.',
  );
}

function settingsOf(folder: string, { id }: FleetPlan, raw: RawSlurmOptions): JobSettings {
  const { partition, account, qos, time, containerImage: image } = raw;
  const given = Object.entries({ partition, account, qos, time }).filter(([, value]) => value !== undefined);
  const here = [process.execPath, join(packageRoot, 'dist/cli/main.js')];
  const inImage = image === undefined ? here : ['gpu-virt-bench'];
  return {
    folder,
    id,
    version: toolVersion(),
    tool: raw.tool === undefined ? inImage : [raw.tool],
    mergeTool: raw.tool === undefined || image !== undefined ? here : [raw.tool],
    isShared: raw.share === true,
    gres: raw.gres,
    options: Object.fromEntries(given),
    further: raw.sbatchOption ?? [],
    environment: Object.fromEntries((raw.env ?? []).map(variableOf).map(({ name, value }) => [name, value])),
    container: image === undefined ? null : { runtime: raw.containerRuntime, image },
  };
}
