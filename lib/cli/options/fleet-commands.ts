/** The commands that measure many nodes by the scheduler that they have. */
import { type Command, Option } from 'commander';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { done } from '../process/done.js';
import type { RawCollectOptions } from '../commands/fleet/collect.js';
import type { RawKubernetesOptions } from '../commands/fleet/kubernetes.js';
import type { RawNodeOptions } from '../commands/fleet/node.js';
import type { RawFleetReportOptions } from '../commands/fleet/report.js';
import type { RawSlurmOptions } from '../commands/fleet/slurm.js';
import type { RawSubmitOptions } from '../commands/fleet/submit.js';
import { JSON_OPTION, type RawJson } from './json-option.js';
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
      '--tasks <list>',
      'the tasks of a job that has not all of them, e.g. 0-3,7: its index chooses one (default: all of the plan)',
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
  addSlurm(fleet);
  addKubernetes(fleet);
  addAfterwards(fleet);
  fleet.commands.forEach(refusingOptionsAsValues);
}

function addSlurm(fleet: Command): void {
  fleet
    .command('slurm')
    .description('Write the plan and the scripts that measure each node once by Slurm')
    .argument(
      '[words...]',
      'selectors of run, or after -- run or compare with its arguments (default: run, the set of a first run)',
    )
    .requiredOption(
      '--output <dir>',
      'the folder of the fleet, which every node sees (default: none, it must be given)',
    )
    .addOption(
      new Option(
        '--nodelist <names>',
        'the nodes to measure, e.g. gpu[01-16] (default: all of the partition that have GPUs and take jobs)',
      ).conflicts('nodes'),
    )
    .option('--nodes <n>', 'so many nodes in place of named ones, as one array job (default: none)')
    .option('--partition <name>', 'the partition of the jobs (default: that of the cluster)')
    .option('--account <name>', 'the account that pays (default: that of the user)')
    .option('--qos <name>', 'the quality of service (default: that of the user)')
    .option('--time <limit>', 'time limit of a task, as sbatch reads it (default: that of the partition)')
    .option('--gres <list>', 'what a task gets of its node; none: nothing is asked for', 'gpu:1')
    .option('--share', 'leave the rest of a node to other jobs (default: a task has its node alone)')
    .option(
      '--sbatch-option <option>',
      'a further option, e.g. --sbatch-option=--constraint=h100 (default: none)',
      repeatable,
    )
    .option(
      '--env <name[=value]>',
      'a variable of the tasks, which stands in the script: set, or as it is here; repeatable (default: none)',
      repeatable,
    )
    .option('--container-image <image>', 'run the tasks in this image, which has gpu-virt-bench (default: none)')
    .option('--container-runtime <name>', 'what runs the image: pyxis or apptainer', 'pyxis')
    .option(
      '--tool <path>',
      'the gpu-virt-bench that tasks start (default: this one; in a container the one in its PATH)',
    )
    .option('--submit', 'send the jobs with sbatch (default: only write them)')
    .action(async (words: string[], raw: RawSlurmOptions) =>
      done((await import('../commands/fleet/slurm.js')).slurm(words, raw, optionsOf(fleet.parent))),
    );
}

/** Throws UsageError for an option that the command does not have, and CommanderError for one without its value. */
const optionsOf = (root: Command | null) => (name: string, args: readonly string[]) => {
  const { unknown } = root?.commands.find((each) => each.name() === name)?.parseOptions([...args]) ?? { unknown: [] };
  const option = unknown.find((word) => word.startsWith('-'));
  if (option === undefined) return;
  throw new UsageError(`Expected options of ${name} but received ${quoted(option)}: ${name} --help lists them.`);
};

function addKubernetes(fleet: Command): void {
  fleet
    .command('kubernetes')
    .description('Write the plan and the manifest that measure each node once by an Indexed Job of Kubernetes')
    .argument(
      '[words...]',
      'selectors of run, or after -- run or compare with its arguments (default: run, the set of a first run)',
    )
    .requiredOption('--output <dir>', 'the folder of the fleet (default: none, it must be given)')
    .requiredOption('--image <image>', 'the image, which has gpu-virt-bench (default: none, it must be given)')
    .addOption(
      new Option('--nodelist <names>', 'the nodes to measure, e.g. gpu-1,gpu-2 (default: none)').conflicts('nodes'),
    )
    .option('--nodes <n>', 'so many nodes in place of named ones (default: none)')
    .option('--namespace <name>', 'the namespace of the job (default: that of the context)')
    .option('--context <name>', "the context of kubectl's configuration for --submit (default: the current one)")
    .option('--gpu <resource>', 'what a pod gets of its node, RESOURCE or RESOURCE=COUNT', 'nvidia.com/gpu')
    .option('--cpu <n>', 'processors of a pod', '4')
    .option('--memory <size>', 'memory of a pod, as Kubernetes writes it', '16Gi')
    .option('--node-selector <key=value>', 'a label that nodes must have; repeatable (default: none)', repeatable)
    .option('--toleration <key[=value][:effect]>', 'a taint that pods tolerate; repeatable (default: none)', repeatable)
    .option('--runtime-class <name>', 'the runtime class of the pods, e.g. nvidia (default: that of the cluster)')
    .option(
      '--env <name[=value]>',
      'a variable of the pods, which stands in the manifest: set, or as it is here; repeatable (default: none)',
      repeatable,
    )
    .option(
      '--secret <name=secret/key>',
      'a variable of the pods from a secret of the cluster; repeatable (default: none)',
      repeatable,
    )
    .option(
      '--claim <name>',
      'a volume claim for the deliveries that all nodes can write (default: the logs of the pods)',
    )
    .option('--time <seconds>', 'time limit of the whole job', '7200')
    .option('--tool <path>', 'the gpu-virt-bench in the image (default: the one in its PATH)')
    .option('--kubectl <program>', 'kubectl, or the path of one', 'kubectl')
    .option('--submit', 'apply the manifest with kubectl (default: only write it)')
    .action(async (words: string[], raw: RawKubernetesOptions) =>
      done((await import('../commands/fleet/kubernetes.js')).kubernetes(words, raw, optionsOf(fleet.parent))),
    );
}

/** What is the same for every scheduler. */
function addAfterwards(fleet: Command): void {
  const folder = ['<dir>', 'the folder of the fleet, with its plan.json'] as const;
  fleet
    .command('submit')
    .description('Send the tasks of a plan that have not delivered and do not wait or run')
    .argument(...folder)
    .option('--refused', 'also those that delivered no results, e.g. because the layer was not active (default: off)')
    .action(async (dir: string, raw: RawSubmitOptions) =>
      done((await import('../commands/fleet/submit.js')).submit(dir, raw)),
    );
  fleet
    .command('status')
    .description('Show which tasks wait, run, have delivered, were refused or are silent')
    .argument(...folder)
    .option(
      JSON_OPTION,
      'as JSON, into a file or on stdout (default: counts, and a line for each that has not delivered)',
    )
    .action(async (dir: string, raw: RawJson) => done((await import('../commands/fleet/status.js')).status(dir, raw)));
  fleet
    .command('collect')
    .description('Check every delivery and its document; exit with 1 if a task has none that counts')
    .argument(...folder)
    .option(
      '--from <file>',
      'take deliveries from this log of fleet node --deliver stdout; repeatable (default: none)',
      repeatable,
    )
    .option(JSON_OPTION, 'as JSON, into a file or on stdout (default: as fleet status)')
    .action(async (dir: string, raw: RawCollectOptions) =>
      done((await import('../commands/fleet/collect.js')).collect(dir, raw)),
    );
}
