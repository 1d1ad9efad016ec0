/** The two scripts of a fleet: one task on one node, and what follows when all tasks have ended. */
import { join } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { listed } from '../../errors/listed.js';
import { shellWord, slurmPath, slurmValue } from './words.js';

/** In the fleet's folder. */
export const TASK_SCRIPT = 'task.sh';
export const MERGE_SCRIPT = 'merge.sh';
export const LOGS = 'logs';
export const REPORT = 'report';

const runtimes = ['pyxis', 'apptainer'] as const;

export interface JobSettings {
  /** The fleet's folder, absolute: on every node the same. */
  folder: string;
  id: string;
  version: string;
  /** The command that is gpu-virt-bench on a node. */
  tool: readonly string[];
  /** The same outside of a container. */
  mergeTool: readonly string[];
  /** Whether a task leaves the rest of its node to other jobs. */
  isShared: boolean;
  gres: string;
  /** Options of sbatch by name. */
  options: Readonly<Partial<Record<'partition' | 'account' | 'qos' | 'time', string>>>;
  /** Further ones, as `--constraint=h100`. */
  further: readonly string[];
  environment: Readonly<Record<string, string>>;
  container: { runtime: string; image: string } | null;
}

export const jobName = (id: string): string => `gvb-${id}`;

/** Options that the tool sets itself, or that would undo what it promises. */
const owned =
  'account array begin chdir cluster clusters dependency error exclude exclusive export export-file get-user-env gres hold input job-name no-requeue nodefile nodelist nodes ntasks open-mode output oversubscribe parsable partition qos requeue test-only time wait wrap'.split(
    ' ',
  );

/** Throws UsageError. */
function furtherOption(text: string): string {
  const [, name, value] = /^--([a-z][a-z-]*)(?:=(.+))?$/s.exec(text) ?? [];
  if (name === undefined || owned.includes(name))
    throw new UsageError(
      `Expected --sbatch-option to be an option of sbatch such as --constraint=h100, and none that fleet slurm sets (${owned.join(', ')}), but received ${quoted(text)}.`,
    );
  return value === undefined ? text : `--${name}=${slurmValue(value, `--sbatch-option --${name}`)}`;
}

const directives = (lines: readonly string[]): string[] => lines.map((line) => `#SBATCH ${line}`);

const common = ({ folder, options, further }: JobSettings, log: string): string[] => [
  '--nodes=1',
  '--ntasks=1',
  // A task that was lost is sent again by name; Slurm alone would measure it a second time unseen.
  '--no-requeue',
  // The environment of whoever submits stays where it is.
  '--export=NONE',
  `--output=${join(slurmPath(folder, '--output'), LOGS, log)}`,
  ...Object.entries(options).map(([name, value]) => `--${name}=${slurmValue(value, `--${name}`)}`),
  ...further.map(furtherOption),
];

const head = (settings: JobSettings, what: string): string[] => [
  '#!/bin/sh',
  `# ${what} Written by gpu-virt-bench ${settings.version} for fleet ${settings.id}.`,
];

/** A layer of the login environment would hook this shell and Slurm's own programs, not only the tool. */
const WITHOUT_LAYERS = 'unset LD_PRELOAD LD_AUDIT';

/** Runs with the index of its task as the argument, or as an element of an array job. */
export function taskScript(settings: JobSettings): string {
  const { folder, gres, isShared } = settings;
  const node = [...settings.tool, 'fleet', 'node', '--plan', folder];
  return [
    ...head(settings, 'One task: measures on one node and delivers.'),
    ...directives([
      `--job-name=${jobName(settings.id)}`,
      ...(isShared ? [] : ['--exclusive']),
      ...(gres === 'none' ? [] : [`--gres=${slurmValue(gres, '--gres')}`]),
      ...common(settings, '%x-%j.log'),
    ]),
    WITHOUT_LAYERS,
    ...Object.entries(settings.environment).map(([name, value]) => exported(name, value)),
    `exec ${inContainer(settings, node)} --index "\${1:-$SLURM_ARRAY_TASK_ID}"`,
    '',
  ].join('\n');
}

/** Runs outside of the container of tasks, which is for nodes with a GPU. */
export function mergeScript(settings: JobSettings): string {
  const { folder, mergeTool: tool } = settings;
  const report = join(folder, REPORT);
  const step = (...words: string[]) => words.map((word) => shellWord(word, 'a word of the merge job')).join(' ');
  return [
    ...head(settings, 'Runs when all tasks have ended: checks what was delivered, and reports.'),
    ...directives([`--job-name=${jobName(settings.id)}-merge`, ...common(settings, '%x-%j.log')]),
    WITHOUT_LAYERS,
    '# A report that is cancelled leaves no half of a file.',
    `tidy() { rm -f ${step(folder)}/.${REPORT}.*.tmp; }`,
    'trap tidy EXIT',
    "trap 'exit 143' TERM",
    '# Names what is missing; the report is made of what there is.',
    `${step(...tool, 'fleet', 'collect', folder)} || echo "fleet collect: exit code $?"`,
    step(...tool, 'fleet', 'report', folder, '--json', `${report}.json`, '--html', `${report}.html`),
    '',
  ].join('\n');
}

const variable = /^[A-Za-z_]\w{0,254}$/;
const layers = ['LD_PRELOAD', 'LD_AUDIT', 'CUDA_INJECTION64_PATH'];

function exported(name: string, value: string): string {
  if (!variable.test(name))
    throw new UsageError(`Expected --env to be NAME or NAME=value but received the name ${quoted(name)}.`);
  if (layers.includes(name))
    throw new UsageError(
      `Expected --env to be no variable that loads a layer into every process of the job (${listed(layers, 'or')}) but received ${name}: name the layer as a system, as in -- compare --system hami-core:library=FILE.`,
    );
  return `export ${name}=${shellWord(value, `--env ${name}`)}`;
}

function inContainer({ container, folder }: JobSettings, command: readonly string[]): string {
  const words = (texts: readonly string[], what: string) => texts.map((text) => shellWord(text, what)).join(' ');
  const inner = words(command, 'the command of a task');
  if (container === null) return inner;
  const { runtime, image } = container;
  if (image === '' || image.startsWith('-'))
    throw new UsageError(`Expected --container-image to name an image but received ${quoted(image)}.`);
  if (runtime === 'pyxis') {
    // Slurm gives a step the environment of sbatch's --export; what was exported here is this job's.
    const options = ['--export=ALL', `--container-image=${image}`, `--container-mounts=${mount(folder)}`];
    return `srun ${words(options, '--container-image')} ${inner}`;
  }
  if (runtime === 'apptainer')
    return `apptainer exec --nv ${words(['--bind', mount(folder), image], '--container-image')} ${inner}`;
  throw new UsageError(`Expected --container-runtime to be ${listed(runtimes, 'or')} but received ${quoted(runtime)}.`);
}

/** Both separate paths with colons and mounts with commas. */
function mount(folder: string): string {
  if (/[:,]/.test(folder))
    throw new UsageError(
      `Expected --output to be a folder without : and , in its path, because containers mount it, but received ${quoted(folder)}.`,
    );
  return `${folder}:${folder}`;
}
