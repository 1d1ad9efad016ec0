/** The commands that measure many nodes by the scheduler that they have. */
import type { Command } from 'commander';
import { done } from '../process/done.js';
import type { RawNodeOptions } from '../commands/fleet/node.js';
import { refusingOptionsAsValues } from './option-values.js';

export function addFleet(root: Command): void {
  const fleet = root.command('fleet').description('Measure many nodes, and report which of their GPUs differ');
  fleet
    .command('node')
    .description('Run one task of a plan on this node and deliver its document')
    .requiredOption('--plan <dir>', 'the folder of the fleet, with its plan.json (default: none, it must be given)')
    .option(
      '--index <n>',
      'the task of the plan (default: SLURM_ARRAY_TASK_ID, else JOB_COMPLETION_INDEX of the environment)',
    )
    .option(
      '--deliver <where>',
      'folder: into deliveries/ of the plan; stdout: as lines with checksums, which fleet collect reads from a log',
      'folder',
    )
    .action(async (raw: RawNodeOptions) => done((await import('../commands/fleet/node.js')).node(raw)));
  fleet.commands.forEach(refusingOptionsAsValues);
}
