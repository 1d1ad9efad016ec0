/** The commands and their options; each command's own file is loaded when it is called. */
import { Command, CommanderError, Option } from 'commander';
import type { Tier } from '../results/document.js';
import { toolVersion } from '../environment/tool.js';
import { beginCommandCard } from '../native/command-card.js';
import { done } from './process/done.js';
import { formats, reportFormats } from '../report/formats.js';
import { shown } from '../report/text/screen.js';
import { exitCodeOf, exitCodes } from './options/exit-codes.js';
import { addBaseline, addGate, addGating, addHistory } from './options/gate-commands.js';
import { addFleet } from './options/fleet-commands.js';
import { addHelpExamples } from './options/help-examples.js';
import type { RawCompareOptions } from './commands/compare.js';
import type { RawExecOptions } from './comparing/exec-subjects.js';
import type { RawRunOptions } from './options/options.js';
import { JSON_OPTION, type RawJson } from './options/json-option.js';
import { repeatable } from './options/option-values.js';
import type { RawLoadOptions } from './commands/load.js';
import type { RawMonitorOptions } from './commands/monitor.js';
import type { RawProfileOptions } from './commands/profile.js';
import type { RawReportOptions } from './commands/report.js';
import { SYSTEM_USAGE } from './options/system-usage.js';
import type { RawOutputRunOptions } from './commands/run.js';
import type { RawStudyOptions } from './commands/study.js';
import { errorLine, oneLine } from './terminal/talk.js';

export async function main(argv: readonly string[]): Promise<void> {
  endQuietlyWithoutReader();
  beginCommandCard();
  try {
    await program().parseAsync(argv);
  } catch (error) {
    const code = report(error);
    if (code !== exitCodes.ok && argv.some((argument) => argument.startsWith('--junit')))
      await (await import('./files/junit-file.js')).replaceStale(argv, error, code);
    process.exitCode = code;
  }
}

/** `gpu-virt-bench list | head -1` closes the pipe early and must not fail. */
function endQuietlyWithoutReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    // writeStdout reports the error; commander's own text would only have the exit code.
    process.exitCode = exitCodes.failed;
  });
  process.stderr.on('error', () => {});
}

function report(error: unknown): number {
  // commander has already printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  process.stderr.write(errorLine(error));
  return exitCodeOf(error);
}

export function program(): Command {
  const root = new Command('gpu-virt-bench')
    .description('Measure what sharing an NVIDIA GPU costs, and whether the limits between tenants hold.')
    .version(toolVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void process.stdout.write(shown(text)),
      outputError: (text, write) => write(shown(`${oneLine(text)}\n`)),
    });
  addRun(root);
  root
    .command('list')
    .description('List the metrics with unit, direction, question and requirements')
    .option(JSON_OPTION, 'as JSON, into a file or on stdout (default: a table)')
    .action(async (options: RawJson) => done((await import('./commands/list.js')).list(options)));
  root
    .command('doctor')
    .description('Show driver, GPUs and layers, and what prevents a measurement, with fixes')
    .option(JSON_OPTION, 'as JSON, into a file or on stdout (default: text)')
    .option(TIMEOUT, 'time limit per step, such as worker start or driver initialisation (default: 60 s)')
    .action(async (options: RawJson & { timeout?: string }) =>
      done((await import('./commands/doctor.js')).doctor(options)),
    );
  addCompare(root);
  addExec(root);
  addLoad(root);
  addProfile(root);
  addMonitor(root);
  addReport(root);
  addGate(root);
  addBaseline(root);
  addHistory(root);
  addFleet(root);
  addStudy(root);
  addCalibrate(root);
  root
    .command('init')
    .description('Write commented thresholds and a CI workflow; never overwrite a file')
    .argument('[dir]', 'where to write them (default: the current directory)')
    .action(async (directory?: string) => done((await import('./commands/init.js')).init(directory)));
  addHelpExamples(root);
  return root;
}

const SELECTORS = "metric ids, globs over ids, categories, or all, e.g. OH-001 'OH-*' overhead";
const DEVICES = [
  '--device <index|uuid,...>',
  'the GPU to measure; of several, the first is measured, and metrics of several GPUs take them in this order (default: the first entry of CUDA_VISIBLE_DEVICES, else 0, and all that are visible)',
] as const;
const FOR = [
  '--for <purpose>',
  'measure what matters for serving, training, notebooks or strict-tenants (compare: 26, 21, 29, 61 min for two systems); selectors add to it (default: none)',
] as const;
const TIMEOUT = '--timeout <seconds>';
/** An option without a value, which is off by default. */
const flag = (name: string, help: string): Option => new Option(name, help).default(false, 'off');
const PROFILE = [
  '--profile <file|name>',
  'say what a program would pay for interception: the file that profile wrote, or a shipped one, eager, graphs, training or jax (default: none)',
] as const;

/** Options on how a run measures, the same for one system and for several. */
function addMeasuring(command: Command, tier: Tier): Command {
  return addPlace(command)
    .option('--tier <tier>', 'budget of time and samples: quick, standard or thorough', tier)
    .addOption(
      new Option(
        '--iterations <n>',
        'samples per row; OH-004: fresh processes (default: until --resolution is met)',
      ).conflicts('resolution'),
    )
    .option('--warmup <n>', "untimed operations before each row (default: the metric's own)")
    .option('--resolution <fraction>', 'stop a row at this relative half-width of its 95 % interval (default: 0.01)')
    .option('--path <path>', 'how driver functions are resolved: runtime, dlsym or linked', 'runtime')
    .option(
      '--workload <name>',
      'LLM-004: batch and lengths, T1 to T6 (default: T2, one sequence of 512 and 128 tokens)',
    )
    .option(
      '--model <sizes>',
      'LLM-004: layers=N,hidden=N,heads=N and kvHeads, mlp, vocabulary (default: scaled to the memory limit)',
    )
    .option(
      TIMEOUT,
      'time limit per metric, and per step before it: worker start, driver initialisation, probe, set-up (default: 60 s plus ten times the estimate per metric; 30 to 120 s per step)',
    );
}

/** Options on where results go in addition to the table, the same for new and for saved results. */
function addOutputs(command: Command, standard = 'a table'): Command {
  for (const [format, { help }] of Object.entries(reportFormats))
    command.addOption(new Option(`--${format} <file>`, `${help}, - for stdout (default: none)`).conflicts('dryRun'));
  return command.addOption(
    new Option(
      '--format <format>',
      `print this format on stdout: ${formats.join(', ')} (default: ${standard})`,
    ).conflicts('dryRun'),
  );
}

function addReport(root: Command): void {
  const command = root
    .command('report')
    .description(
      'Re-render saved documents or result directories; compatible results are merged, those of compare and exec too',
    )
    .argument('<file...>', 'files written by --json, or directories written by --output')
    .option('--brief', 'print the answer alone, for a chat or a ticket (default: off)')
    .option(...PROFILE)
    .option(
      '--prices <file>',
      'compute the costs of programs again: the key prices of a YAML file, as for exec --config (default: as measured)',
    );
  addOutputs(command, 'markdown, unless a file or --brief is given').action(
    async (files: string[], raw: RawReportOptions) => done((await import('./commands/report.js')).report(files, raw)),
  );
}

function addCompare(root: Command): void {
  const command = root
    .command('compare')
    .description(
      'Compare several systems side by side, in interleaved rounds of fresh workers; the first is the baseline',
    )
    .argument('[selector...]', `${SELECTORS} (default: all, over 5 h for two systems)`)
    .option(...FOR)
    .option('--system <spec>', SYSTEM_USAGE, repeatable)
    .option('--config <file>', 'systems from a YAML or JSON file, before those of --system (default: none)')
    .option(...PROFILE);
  addRounds(command, 'one of its proofs failed').option(
    '--budget <time>',
    'plan tier and rounds so that the estimated time fits, e.g. 20min or 1h30min, instead of --tier, --rounds and --detect (default: none)',
  );
  addOutputs(addMeasuring(addGating(command), 'standard')).action(
    async (selectors: string[], raw: RawCompareOptions) => {
      const isGiven = (option: string) => command.getOptionValueSource(option) === 'cli';
      return done((await import('./commands/compare.js')).compare(selectors, raw, isGiven));
    },
  );
}

/** Options of commands that measure in rounds, except those that select what is measured. */
function addRounds(command: Command, what: string): Command {
  return command
    .option(
      '--allow-missing',
      'keep a system that cannot be measured here as unsupported and measure the others (default: exit code 2)',
    )
    .option('--keep-going', `measure further rounds of a system after ${what} (default: off)`)
    .option(
      '--rounds <n>',
      'number of rounds, each with a fresh worker per system (default: 2 quick, 5 standard, 10 thorough)',
    )
    .option(
      '--detect <percent>',
      'plan how many rounds detect effects of this size, e.g. 5%, from a pilot of 5 rounds that is not part of the result (default: none)',
    )
    .option('--max-rounds <n>', 'maximum number of rounds that --detect may plan (default: 50)')
    .option(...DEVICES)
    .option(
      '--output <dir>',
      'summary.json, report.md, report.html, raw/ with every finished round, logs/ (default: results/<time>-<systems>)',
    )
    .addOption(
      new Option(
        '--resume <dir>',
        'continue an interrupted comparison with its own options and systems; only --keep-going and --allow-missing may be added (default: none)',
      ).conflicts('output'),
    );
}

/** Options on whether and where a run takes place, the same for metrics and programs. */
function addPlace(command: Command): Command {
  return command
    .option('--samples', 'put the raw samples into the document (default: off)')
    .option('--seed <n>', 'seed of every random choice (default: random; always recorded)')
    .option('--require-gpu', 'fail if there is no real GPU (default: measure the simulated one)')
    .addOption(
      new Option('--simulate', 'measure the simulated GPU even if a driver exists (default: off)').conflicts(
        'requireGpu',
      ),
    )
    .option(
      '--strict',
      'refuse to start on a machine that is not idle and healthy, and mark disturbed results invalid (default: warn)',
    )
    .option('--dry-run', 'print the plan and its estimated time, measure nothing (default: off)');
}

function addExec(root: Command): void {
  const command = root
    .command('exec')
    .description('Run any program under each system, in interleaved rounds, and compare what it takes')
    .argument('[command...]', 'the program and its arguments, after -- (default: the workloads of --config)')
    .option('--system <spec>', `${SYSTEM_USAGE} (default: those of --config, else native)`, repeatable)
    .option('--config <file>', 'workloads, and systems before those of --system, from a YAML file (default: none)')
    .option('--name <name>', 'how ids of the metrics begin, NAME/wall (default: the name of the program)')
    .option(
      '--env <name[=value]>',
      "a variable of the program: set, or as the caller has it; repeatable (default: none beside the system's)",
      repeatable,
    )
    .option('--warmup <n>', 'runs before those that count, in every round (default: 3)')
    .option(
      '--iterations <n>',
      'runs that count, in every round (default: 10; up to 30 where they vary by over 5 %; 100 or more are not repeated)',
    )
    .option(TIMEOUT, 'time limit per run; then SIGTERM, and SIGKILL 10 s later (default: 600)')
    .option(
      '--cool-down <seconds>',
      'wait before a run until the GPU is as cool as before the first, within 5 °C, at most so long (default: 60)',
    )
    .option('--monitor-interval <time>', 'time between readings of the GPU while a program runs (default: 100ms)')
    .option('--tier <tier>', 'how many rounds: quick, standard or thorough', 'standard');
  addOutputs(addGating(addPlace(addRounds(command, 'its program or one of its proofs failed')))).action(
    async (program: string[], raw: RawExecOptions) => {
      const isGiven = (option: string) => command.getOptionValueSource(option) === 'cli';
      return done((await import('./commands/exec.js')).exec(program, raw, isGiven));
    },
  );
}

function addLoad(root: Command): void {
  const command = root
    .command('load')
    .description('Send requests to a server that already runs, and measure its answers')
    .argument('<url>', 'the endpoint, http or https, e.g. http://127.0.0.1:8000/v1/chat/completions')
    .option('--api <api>', 'chat or completions of an OpenAI-compatible server, or http for any endpoint', 'http')
    .option('--model <name>', 'the model of chat and completions (default: none, it must be given)')
    .option(
      '--prompt <text>',
      '{request} stands for the number of the request, so that no cache answers (default: none, it must be given)',
    )
    .option('--max-tokens <n>', 'tokens of an answer at most (default: 128)')
    .option(
      '--body <text>',
      'the whole request instead: JSON for chat and completions, e.g. with ignore_eos (default: none)',
    )
    .option('--method <method>', 'of api http: GET, POST, PUT, PATCH or DELETE (default: POST with a body, else GET)')
    .option('--header <name:value>', 'such as "authorization: Bearer …"; repeatable (default: none)', repeatable)
    .option('--requests <n>', 'requests that count; a p99 takes 299', '100')
    .addOption(
      new Option('--concurrency <n>', 'requests under way at a time, each followed by the next')
        .default('1')
        .conflicts('ratePerSecond'),
    )
    .option('--rate-per-second <n>', 'requests at random times that no answer delays, instead (default: none)')
    .option('--seed <n>', 'of those times (default: 1)')
    .option('--warmup <n>', 'requests before those that count (default: 3)')
    .option(TIMEOUT, 'time limit per request (default: 60)')
    .option('--name <name>', 'how ids of the metrics begin, NAME/ttft', 'server')
    .option(
      '--under <name>',
      'what the server runs under; native is checked in its processes on this machine',
      'running',
    )
    .option('--layer <file>', 'the library that its processes on this machine must have mapped (default: none)')
    .addOption(flag('--mps', 'its processes on this machine must be clients of an MPS daemon'))
    .addOption(flag('--container', 'they must have a root folder of their own'))
    .option('--pid <pid>', 'its first process, where the port leads to a proxy (default: who listens at the port)')
    .addOption(flag('--simulate', 'look for them on the simulated GPU'))
    .option(
      '--output <dir>',
      'summary.json, report.md, report.html, raw/, logs/ with a line for each request (default: none)',
    );
  addOutputs(command).action(async (url: string, raw: RawLoadOptions) =>
    done((await import('./commands/load.js')).load(url, raw)),
  );
}

function addProfile(root: Command): void {
  const byMarks = new Option(
    '--marks',
    'phases are what the program prints between gvb:begin NAME and gvb:end STEPS SECONDS',
  );
  root
    .command('profile')
    .description('Run a program and count how often it calls each driver function, in all processes it starts')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--output <file>', 'where the profile is written', 'profile.json')
    .option('--from <seconds>', 'count from so long after the start (default: from the start)')
    .option('--for <seconds>', 'count for so long (default: until the program ends)')
    .option('--steps <n>', 'steps that the program makes in that time, e.g. tokens (default: not known)')
    .addOption(byMarks.conflicts(['from', 'for', 'steps']))
    .option('--name <text>', 'what reports call the profile (default: the name of the program)')
    .option('--origin <text>', 'what was run, as a note for readers of the profile (default: only the command)')
    .action(async (command: string[], raw: RawProfileOptions) =>
      done((await import('./commands/profile.js')).profile(command, raw)),
    );
}

function addMonitor(root: Command): void {
  root
    .command('monitor')
    .description('Show and record utilisation, memory, power, temperature, clocks and traffic of GPUs, until Ctrl-C')
    .option('--interval <time>', 'time between samples, from 10ms to 1h', '100ms')
    .option('--duration <time>', 'end after this time, e.g. 30s or 5min; Ctrl-C then exits with 130 (default: Ctrl-C)')
    .option('--csv <file>', 'write every sample as CSV, - for stdout (default: none)')
    .option(
      '--json',
      'one JSON object per sample and line on stdout (default: a live table, or a line per second if stdout is no terminal)',
    )
    .option('--device <index|uuid,...>', 'a GPU to watch; repeatable (default: all GPUs of the machine)', repeatable)
    .option('--simulate', 'watch the simulated GPU even if a driver exists (default: off)')
    .action(async (raw: RawMonitorOptions) => done((await import('./commands/monitor.js')).monitor(raw)));
}

function addStudy(root: Command): void {
  root
    .command('study')
    .description('Run the steps of a study, and put its published tables beside what they measured')
    .argument('<dir>', 'the folder with its study.yaml')
    .option(
      '--output <dir>',
      'where results go; steps that are there already are kept (default: results/<time>-<name>)',
    )
    .addOption(
      new Option('--set <name=value>', 'a parameter of the study, such as the path of a library; repeatable')
        .argParser(repeatable)
        .default([], 'none'),
    )
    .addOption(new Option('--step <name>', 'only this step; repeatable').argParser(repeatable).default([], 'all'))
    .addOption(flag('--short', 'with the arguments of each step that shorten it'))
    .addOption(flag('--simulate', 'measure the simulated GPU even if a driver exists'))
    .addOption(flag('--report', 'measure nothing, and write the page of --output again').conflicts(['dryRun', 'step']))
    .addOption(flag('--dry-run', 'print the steps and what is missing for them, measure nothing'))
    .action(async (directory: string, raw: RawStudyOptions) =>
      done((await import('./commands/study.js')).study(directory, raw)),
    );
}

function addCalibrate(root: Command): void {
  root
    .command('calibrate')
    .description(
      'Inject known delays and limits and print bias and resolution of the tool; exit with 1 if a value is not recovered',
    )
    .option('--device <index|uuid>', 'the GPU to measure (default: the first entry of CUDA_VISIBLE_DEVICES, else 0)')
    .option('--tier <tier>', 'budget of time and samples: quick, standard or thorough', 'standard')
    .option('--path <path>', 'how driver functions are resolved: runtime, dlsym or linked', 'runtime')
    .option('--json <file>', 'write the rows, - for stdout (default: none)')
    .option(
      TIMEOUT,
      'time limit per measurement, including driver initialisation, and per worker start (default: 60 s plus ten times the estimate per metric, at least 120 s; 60 s per start)',
    )
    .option('--require-gpu', 'fail if there is no real GPU (default: use the simulated one)')
    .addOption(
      new Option('--simulate', 'use the simulated GPU even if a driver exists (default: off)').conflicts('requireGpu'),
    )
    .action(async (raw: RawRunOptions) => done((await import('./commands/calibrate.js')).calibrateTool(raw)));
}

function addRun(root: Command): void {
  const command = root
    .command('run')
    .description('Measure the GPU in the current environment; without a driver, the simulated GPU')
    .argument('[selector...]', `${SELECTORS} (default: the set of a first run, about 44 s; all: 15 min)`)
    .option(...FOR)
    .option(...DEVICES)
    .option(...PROFILE)
    .option('--output <dir>', 'summary.json, report.md, report.html, raw/ and logs/ (default: none)');
  addOutputs(addMeasuring(command, 'quick')).action(async (selectors: string[], options: RawOutputRunOptions) =>
    done((await import('./commands/run.js')).run(selectors, options)),
  );
}
