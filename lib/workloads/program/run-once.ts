/** One run of a program: from its start until nothing of it is left. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { witnessLibrary } from '../../native/load.js';
import { GRACE_MS, leftText, type Outcome, type Used } from '../../workers/kept-program.js';
import type { Launcher, RemoteCommand, RemotePlace } from '../../workers/launcher.js';
import { type Extracted, extract, type FileStates, fileStates } from '../metrics/extract.js';
import { type Checkpointed, notCheckpointed } from '../checkpoint/checkpoint-turn.js';
import type { RotatingProgram } from '../../checkpoint/rotating-program.js';
import { BoxedCheckpoints } from '../checkpoint/boxed-checkpoints.js';
import type { ProgramCheckpoints } from '../checkpoint/program-checkpoints.js';
import type { GpuRecord } from '../round/gpu-record.js';
import { Captured } from './output.js';
import { VISIBLE } from '../proof/instance-processes.js';
import { PIPES } from '../proof/mps-clients.js';
import type { ProcessProof } from '../proof/proof-state.js';
import { type Expected, proofOf } from '../proof/proof.js';
import { readinessText, readyTooEarly, whenReady } from './ready.js';
import type { NotReady } from './ready-look.js';
import { phasesOf, type RunPhase, withinReady } from './run-phases.js';
import type { SeenProcess } from '../proof/seen-process.js';
import { startProgram, type StartedProgram } from './started-program.js';
import { type GpuUse, Watch, type Watched } from './watch.js';
import { type Witness, type Witnessed, witnessOf } from '../proof/witness.js';
import { witnessBeside } from '../proof/witness-beside.js';
import type { Readiness, Workload } from '../workload-type.js';

export interface RunRequest {
  workload: Workload;
  /** Arguments before the program, e.g. of a custom system. */
  argvPrefix: readonly string[];
  launcher: Launcher;
  environment: NodeJS.ProcessEnv;
  /** Path of the log files without their ending; null keeps none. */
  logs: string | null;
  expected: Expected;
  /** The record of what the monitor sees of the GPU meanwhile. */
  gpu?: Pick<GpuRecord, 'begin' | 'end' | 'listed' | 'onProcesses' | 'places'>;
  /**
   * Called when the program is ready. Once this resolves, a program that is to be stopped is stopped. It must not
   * reject, except with the reason of the signal. `fromNs`: when the program began, of CLOCK_MONOTONIC.
   */
  whileReady?: (signal: AbortSignal, fromNs: number) => Promise<void>;
  /** Checkpoints the program when it is ready, and then ends it. The caller closes it. */
  checkpoints?: ProgramCheckpoints | BoxedCheckpoints | undefined;
  /** Why a program that should be checkpointed is not. */
  uncheckpointed?: string | undefined;
  /** Lets the program begin in its first turn, and ends it. Its time counts from when it waits. */
  turns?: RotatingProgram | undefined;
  /** Called when the program has printed something on stdout; of CLOCK_MONOTONIC. */
  onOutput?: (atNs: number) => void;
  /** Called when the reason why the program is not ready yet changes. */
  onWaiting?: (notReady: NotReady) => void;
  /** Hooks of a program that runs beside others. */
  beside?: Beside;
  signal: AbortSignal;
}

export interface Beside {
  /** Stops the program when it resolves. How the program ends then is no failure. */
  enough: Promise<void>;
  onGpu: (how: GpuUse, atNs: number) => void;
}

export interface Run {
  /** Why none of the run's numbers counts; null if they do. */
  failure: string | null;
  /** Messages about a run whose numbers count. */
  notes: string[];
  /** Time from start to end; null for a program that was stopped. */
  wallSeconds: number | null;
  readySeconds: number | null;
  used: Used | null;
  watched: Watched;
  proof: ProcessProof;
  extracted: ReadonlyMap<string, Extracted>;
  /** Phases in the order of time, without gaps; empty if the program did not start. */
  phases: RunPhase[];
  /** Null where the program is not to be checkpointed. */
  checkpointed: Checkpointed | null;
}

/** Shortest time after the first process ended for which others are mentioned: shorter ones would be noise. */
const SHORTEST_OUTLIVED_S = 0.01;
const outlivedText = (seconds: number): string =>
  `processes that it started ran for ${seconds.toFixed(2)} s after its first one had ended: the wall time includes them`;
const NOTHING_WATCHED: Watched = { processes: [], residentBytes: null, pids: new Set(), unfollowed: new Set() };

/** Runs a program once. Rejects only with the reason of the signal. In any case nothing of the program is left. */
export async function runOnce(request: RunRequest): Promise<Run> {
  const { workload, signal } = request;
  signal.throwIfAborted();
  const early = workload.ready && (await readyTooEarly(workload.ready, { cwd: workload.cwd, outputs: [], signal }));
  if (early) return failedRun(`the time to ready cannot be measured: ${early}`);
  const before = await fileStates(workload.metrics, workload.cwd);
  const { launcher, argvPrefix, environment, checkpoints } = request;
  const isBoxed = checkpoints instanceof BoxedCheckpoints;
  const witness = isBoxed ? null : await witnessIn(launcher, environment);
  const options = { environment: witness ? witness.variables(environment) : environment, cwd: workload.cwd };
  const remote = isBoxed ? null : (launcher.remote?.([...argvPrefix, ...workload.argv], options) ?? null);
  try {
    return await startedRun(request, { before, witness, remote, environment: options.environment });
  } finally {
    await witness?.remove();
  }
}

/** What is in a container is looked at from outside: its image may have another C library. */
async function witnessIn(launcher: Launcher, environment: NodeJS.ProcessEnv): Promise<Witness | null> {
  if (launcher.runBeside) return witnessBeside(launcher.runBeside.bind(launcher), environment);
  return launcher.remote ? null : witnessOf(witnessLibrary());
}

/** Counts processes that neither the watch nor the witness looked at. */
function unseenOf({ unfollowed }: Watched, seen: readonly SeenProcess[]): number {
  const known = new Set(seen.map(({ pid }) => pid));
  return [...unfollowed].filter((pid) => !known.has(pid)).length;
}

interface Beginning {
  before: FileStates;
  witness: Witness | null;
  /** How the program is started elsewhere; null for a program that is started on this machine. */
  remote: RemoteCommand | null;
  /** That of the program, with its witness. */
  environment: NodeJS.ProcessEnv;
}

async function startedRun(
  request: RunRequest,
  { before, witness, remote: command, environment }: Beginning,
): Promise<Run> {
  const { workload, launcher, argvPrefix, logs, signal, checkpoints, turns, onOutput } = request;
  const started = startProgram({
    command: [...argvPrefix, ...workload.argv],
    cwd: workload.cwd,
    environment,
    remote: command,
    checkpoints,
    turns,
  });
  const { program, remote, ending } = started;
  if (onOutput) program.stdout.on('data', () => onOutput(Number(process.hrtime.bigint())));
  const captured = {
    stdout: new Captured(program.stdout, logs && `${logs}.stdout`),
    stderr: new Captured(program.stderr, logs && `${logs}.stderr`),
  };
  const { usesMps: isMps = false, instance } = request.expected;
  const watch =
    program.keeperPid === null && !remote
      ? null
      : new Watch(program.keeperPid, {
          container: remote?.where(),
          onGpu: request.beside?.onGpu,
          reads: [...(isMps ? [PIPES] : []), ...(instance === undefined ? [] : [VISIBLE])],
        });
  if (watch && request.gpu) request.gpu.onProcesses = (pids) => watch.using(pids);
  const course = await followed(request, started, captured);
  await started.endStragglers();
  const outcome = await program.done;
  const left = (await remote?.remove()) ?? null;
  const watched = watch?.stop() ?? NOTHING_WATCHED;
  const cut = [await captured.stdout.close(), await captured.stderr.close()].filter((note) => note !== null);
  signal.throwIfAborted();
  const witnessed: Witnessed = (await witness?.seen()) ?? { processes: [], unread: 0, failed: null };
  const pod = remote && launcher.runBeside ? podOf(remote.where(), witnessed) : null;
  // Below the keeper is only what reaches the pod.
  const seen = pod ? witnessed.processes : [...witnessed.processes, ...watched.processes];
  const words = captured.stderr.lastWords() || captured.stdout.lastWords();
  const unended = ending?.left ?? null;
  const failure =
    left ??
    (unended === null ? null : `it was left alive, because a live restored process is never killed: ${unended}`) ??
    failureOf(workload, course, outcome, words, checkpoints?.done ?? null);
  const extracted = new Map<string, Extracted>();
  if (failure === null)
    for (const metric of workload.metrics)
      extracted.set(metric.key, await extract(metric, { ...captured, cwd: workload.cwd, before, signal }));
  const pids = new Set([...watched.pids, ...seen.map(({ pid }) => pid)]);
  const listed = isMps ? ((await request.gpu?.listed()) ?? null) : null;
  const fromNs = course.fromNs ?? 0;
  const toNs = outcome.main?.atNs ?? fromNs;
  const ended = course.stoppedBecause === null ? outcome.main : null;
  // What a container runtime does after its client is not the program's.
  const outlived = remote || !ended ? 0 : Math.max(0, (outcome.lastNs ?? 0) - ended.atNs) / 1e9;
  const notes = [...extracted.values()].flatMap((found) => ('notes' in found ? found.notes : []));
  return {
    failure,
    notes: [...cut, ...(failure === null && outlived >= SHORTEST_OUTLIVED_S ? [outlivedText(outlived)] : []), ...notes],
    wallSeconds: ended && (ended.atNs - fromNs) / 1e9 + outlived,
    readySeconds: course.readyNs === null ? null : (course.readyNs - fromNs) / 1e9,
    used: remote?.isParent === false ? null : outcome.used,
    watched: { ...watched, pids },
    proof: await proofOf(seen, {
      ...request.expected,
      unread: witnessed.unread + unseenOf(watched, seen),
      failed: witnessed.failed,
      ...(pod ? { pod } : remote && { container: remote.where() }),
      ...(isMps && {
        mps: {
          pipes: environment[PIPES] ?? '',
          daemon: `the daemon of ${request.expected.system}`,
          pids,
          listed,
        },
      }),
      ...(instance !== undefined && { placed: { instance, pids, places: request.gpu?.places ?? null } }),
    }),
    extracted,
    phases: withinReady(phasesOf(course, toNs), checkpoints?.done.phases ?? []),
    checkpointed:
      checkpoints?.done ?? (request.uncheckpointed === undefined ? null : notCheckpointed(request.uncheckpointed)),
  };
}

const podOf = ({ name }: RemotePlace, { hooking = [] }: Witnessed) => ({ name, hooking });

type StopReason = 'timeout' | 'ready' | 'abort' | 'enough';

interface Course {
  /** When the program began; null where nothing was started. */
  fromNs: number | null;
  readyNs: number | null;
  /** Why the program was not ready at the last test; null where nothing was tested. */
  notReady: string | null;
  /** Why the program was stopped; null where it ended by itself. */
  stoppedBecause: StopReason | null;
  stoppedNs: number | null;
  /** State of `whileReady`: not begun, under way, or done. */
  serving: 'no' | 'now' | 'done';
  /** Whether it ended by SIGKILL where it was stopped. */
  wasKilled: boolean;
}

/** Follows a run until its first process has ended, by itself or because it was stopped. */
async function followed(
  request: RunRequest,
  { program, remote, ending, end, checkpoint }: StartedProgram,
  captured: { stdout: Captured; stderr: Captured },
): Promise<Course> {
  const { workload, whileReady, checkpoints, turns, onWaiting, gpu, beside, signal } = request;
  const course: Course = {
    fromNs: turns ? Number(process.hrtime.bigint()) : null,
    readyNs: null,
    notReady: null,
    stoppedBecause: null,
    stoppedNs: null,
    serving: 'no',
    wasKilled: false,
  };
  const over = new AbortController();
  let removal: NodeJS.Timeout | undefined;
  /** Aborted as soon as the program is being stopped, so that nothing waits for it any longer. */
  const halted = new AbortController();
  const stop = (because: StopReason) => {
    if (over.signal.aborted) return;
    course.stoppedBecause ??= because;
    course.stoppedNs ??= Number(process.hrtime.bigint());
    halted.abort();
    end();
    if (remote) removal = setTimeout(() => void remote.remove(), GRACE_MS);
  };
  const timer = setTimeout(() => stop('timeout'), 1_000 * workload.timeoutSeconds);
  const aborted = () => stop('abort');
  signal.addEventListener('abort', aborted, { once: true });
  if (signal.aborted) aborted();
  void beside?.enough.then(() => stop('enough'));
  const readiness = async () => {
    if (!workload.ready) return;
    const living = AbortSignal.any([halted.signal, signal]);
    // Every look listens to it.
    setMaxListeners(0, living);
    course.readyNs = await whenReady(workload.ready, {
      cwd: workload.cwd,
      outputs: [captured.stdout, captured.stderr],
      signal: living,
      onWaiting: (notReady) => {
        course.notReady = notReady.reason;
        onWaiting?.(notReady);
      },
    });
    const outputs = [captured.stdout, captured.stderr];
    await checkpoint({ outputs, cwd: workload.cwd, signal: living });
    if (checkpoints?.isOut) return stop('ready');
    course.serving = 'now';
    await whileReady?.(living, course.fromNs ?? 0);
    if (living.aborted) return;
    course.serving = 'done';
    if (workload.stopAfterSeconds === null) return;
    await sleep(1_000 * workload.stopAfterSeconds, undefined, { signal: living });
    stop('ready');
  };
  try {
    const isWaiting = course.fromNs !== null;
    if (course.fromNs !== null) gpu?.begin(course.fromNs);
    const begun = await program.begun;
    if (!isWaiting && begun) {
      course.fromNs = begun.atNs;
      gpu?.begin(course.fromNs);
    }
    // It may end before it is ready: then `over` ends the wait.
    const waiting = readiness().catch((error: unknown) => {
      if (!halted.signal.aborted && !signal.aborted) throw error;
    });
    const ended = program.mainEnded.then((main) => {
      if (main) gpu?.end(main.atNs);
      over.abort();
      halted.abort();
    });
    await Promise.all([ended, waiting]);
    course.wasKilled = ending?.kills ?? false;
    return course;
  } finally {
    clearTimeout(timer);
    clearTimeout(removal);
    signal.removeEventListener('abort', aborted);
    over.abort();
    halted.abort();
  }
}

const TERM = 15;
const KILL = 9;
const asked = 128 + TERM;
const killed = 128 + KILL;

function failureOf(
  workload: Workload,
  course: Course,
  outcome: Outcome,
  words: string,
  checkpointed: Checkpointed | null,
): string | null {
  const { main, left, stuck, refused } = outcome;
  const said = words === '' ? '' : ` It last printed: ${words}`;
  const { during = null } = checkpointed ?? {};
  if (refused !== null) return `it could not be started: ${refused}`;
  if (stuck !== null) return `${stuck} could not be killed: it may hang in the driver. End it before you measure again`;
  if (course.stoppedBecause === 'enough') return null;
  if (course.stoppedBecause === 'timeout')
    return timeoutText(workload, course, main?.how ?? 'had not had its first turn') + said;
  if (main === null) return 'gvb-keeper, which started it, was killed: what was left of it was killed, too';
  if (workload.ready && course.readyNs === null && course.stoppedBecause === null)
    return `it ${main.how} before it was ready (${awaitedText(workload.ready, course)}).${said}`;
  if (during !== null) return `it ${main.how} in the ${during} of its checkpoint.${said}`;
  if (left !== null)
    return `it ${main.how} and left ${leftText(left)}: its time is not that of its work. Keep it in the foreground`;
  if (workload.load && course.serving === 'now' && course.stoppedBecause === null)
    return `it ${main.how} under its load, before all requests were answered.${said}`;
  const { exitCode, signal } = main;
  // As it was asked to.
  if (course.stoppedBecause === 'ready' && (signal === TERM || exitCode === asked)) return null;
  if (course.stoppedBecause === 'ready' && course.wasKilled && (signal === KILL || exitCode === killed)) return null;
  if (exitCode !== null && workload.exitCodes.includes(exitCode)) return null;
  if (course.stoppedBecause === 'ready') return `when it was stopped it ${main.how}.${said}`;
  return `it ${main.how}, expected ${workload.exitCodes.join(' or ')}.${said}`;
}

const awaitedText = (ready: Readiness, { notReady }: Course): string =>
  `${readinessText(ready)}${notReady === null ? '' : `; last: ${notReady}`}`;

function timeoutText({ timeoutSeconds, ready, load }: Workload, course: Course, how: string): string {
  const { readyNs, serving } = course;
  const what =
    ready && readyNs === null
      ? `it was not ready (${awaitedText(ready, course)})`
      : serving === 'now' && load
        ? 'its load was not over'
        : 'it had not ended';
  return `${what} after ${timeoutSeconds} s and was stopped (it ${how}): if it only needs longer, raise timeout.`;
}

/** Returns the run of a program that was not started. */
export function failedRun(failure: string): Run {
  return {
    failure,
    notes: [],
    wallSeconds: null,
    readySeconds: null,
    used: null,
    watched: NOTHING_WATCHED,
    proof: { state: 'unproven', detail: 'it was not started' },
    extracted: new Map(),
    phases: [],
    checkpointed: null,
  };
}
