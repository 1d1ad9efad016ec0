/** The commands that measure many nodes by the scheduler that they have. */
import type { Command } from 'commander';
import { done } from '../process/done.js';
import type { RawNodeOptions } from '../commands/fleet/node.js';
import type { RawFleetReportOptions } from '../commands/fleet/report.js';
import { refusingOptionsAsValues, repeatable } from './option-values.js';

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
  fleet
    .command('report')
    .description(
      'Report what all nodes delivered: coverage, spread between cards, outliers, comparisons, a verdict per node',
    )
    .argument('<dir>', 'the folder of the fleet, with plan.json and deliveries/')
    .option(
      '--limit <metric=limit>',
      "no card may be worse: a value in the metric's unit, OH-001=6, or a distance from the median of its group, 'OH-*=20%'; repeatable (default: none)",
      repeatable,
    )
    .option(
      '--least <percent>',
      'a smaller distance from the median is no outlier by MAD or distribution (default: 5%)',
    )
    .option(
      '--node <name>',
      'print only the verdict of that node, as JSON; exit with 0 for PASS, INFO and WARNING, with 1 for CRITICAL and UNKNOWN (default: all nodes)',
    )
    .option('--json <file>', 'write the report as JSON, - for stdout (default: none)')
    .option('--markdown <file>', 'write it as Markdown, - for stdout (default: none)')
    .option('--html <file>', 'write it as a page with a cell for each card, - for stdout (default: none)')
    .action(async (folder: string, raw: RawFleetReportOptions) =>
      done((await import('../commands/fleet/report.js')).report(folder, raw)),
    );
  fleet.commands.forEach(refusingOptionsAsValues);
}
