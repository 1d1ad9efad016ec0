/** The runs of one workload in one round of one system: set-up, warm-ups, runs, repeats, tear-down. */
import type { MeasuredRun } from '../program/measured-run.js';
import { isInstance } from '../../results/cards.js';
import type { Check } from '../../results/document.js';
import { ownServers } from '../../environment/mps.js';
import { percent } from '../../environment/machine-health.js';
import { messageOf } from '../../errors/message-of.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import type { GpuState } from '../../native/addon-types.js';
import { readGpuState } from '../../native/gpu-state.js';
import { summarise } from '../../stats/summary.js';
import { mustSucceed } from '../../systems/process/command.js';
import type { Tenant } from '../../systems/system.js';
import { interceptors } from '../../systems/proof/interception.js';
import { sameFile } from '../../systems/proof/ld-preload.js';
import { coolDown, foreignCheck, memoryCheck, slowdownCheck, temperatureCheck } from './health.js';
import { BoxedCheckpoints } from '../checkpoint/boxed-checkpoints.js';
import { ProgramCheckpoints } from '../checkpoint/program-checkpoints.js';
import { decidingValue } from '../metrics/deciding.js';
import { meantGpus, programEnvironment } from '../program/program-environment.js';
import type { Expected } from '../proof/proof.js';
import type { ProcessProof } from '../proof/proof-state.js';
import { RoundMonitor } from './round-monitor.js';
import type { NotReady } from '../program/ready-look.js';
import { runOnce } from '../program/run-once.js';
import { withLoad } from '../program/run-phases.js';
import { ServedLoad } from './served-load.js';
import type { Workload } from '../workload-type.js';

/** When runs are repeated because they vary. The numbers are fixed in advance; docs/exec.md states them. */
export const REPEAT_RULE = { largestCv: 0.05, mostRepeats: 2, fewestRuns: 3, enoughRuns: 100 } as const;

/** How often the runs of a round may be repeated: so many are enough, whatever they vary by. */
export const mostRepeats = (iterations: number): number =>
  iterations < REPEAT_RULE.enoughRuns ? REPEAT_RULE.mostRepeats : 0;

/** Settings for all rounds and systems of an `exec`. */
export interface ExecSettings {
  /** The caller's environment, for `passEnv`. */
  caller: NodeJS.ProcessEnv;
  /** Where the logs of a workload's runs in a round of a system go, without ending; null keeps none. */
  logsOf: ((workload: string, system: string) => string) | null;
  /** Run a program again in further rounds of a system after it failed in one. */
  keepGoing: boolean;
  /** Whether tenants of a system take turns on the card, which scenes then have metrics of. Default false. */
  hasTurns?: boolean;
}

/** What rounds of one workload share. */
export interface Memory {
  /** Temperature before the very first run; null until then, or if NVML does not say. */
  referenceC: number | null;
  /** Why the program failed in an earlier round, by system. */
  readonly failed: Map<string, string>;
}

export interface Round {
  /** Why no number of the round counts; null if they do. */
  failure: string | null;
  /** Why its numbers may not be published under the system's name; null if they may. */
  invalid: string | null;
  runs: MeasuredRun[];
  warmups: MeasuredRun[];
  /** The CV of the deciding number (deciding.ts), after the first runs and after each repeat. */
  cvs: (number | null)[];
  checks: Check[];
  notes: string[];
}

export const UNDER_SYSTEM = 'processes of the program under the system';

/** Measures the runs of a workload in one round. Rejects only with the reason of the signal. */
export async function measureRound(
  workload: Workload,
  settings: ExecSettings,
  memory: Memory,
  context: MeasureContext,
): Promise<Round> {
  const before = memory.failed.get(context.system.name);
  if (before !== undefined && !settings.keepGoing)
    return failedRound(
      `${before.replace(/\.$/, '')}. Not run again after a round in which it failed; --keep-going runs it.`,
    );
  const round = await setUpAndRun(workload, settings, memory, context);
  if (round.failure !== null) memory.failed.set(context.system.name, round.failure);
  return round;
}

const failedRound = (failure: string): Round => ({
  failure,
  invalid: null,
  runs: [],
  warmups: [],
  cvs: [],
  checks: [],
  notes: [],
});

async function setUpAndRun(
  workload: Workload,
  settings: ExecSettings,
  memory: Memory,
  context: MeasureContext,
): Promise<Round> {
  const given = await programEnvironment(workload, {
    system: context.system,
    caller: settings.caller,
    simulatedDriver: context.simulatedDriver,
    gpus: meantGpus(context),
  });
  if ('refused' in given) return failedRound(given.refused);
  const readGpu = gpuReader(context);
  const runner = new Runner(workload, settings, memory, context, given.environment, readGpu);
  const stateBefore = await readGpu();
  try {
    const failure = (await commandsFailure('setup', workload, settings, context.signal)) ?? (await runner.all());
    const stateAfter = await readGpu();
    return { ...runner.round(failure), checks: [...runner.checks(), memoryCheck(stateBefore, stateAfter)] };
  } finally {
    // Also after failed runs and after an abort.
    const failure = await commandsFailure('teardown', workload, settings, undefined);
    if (failure !== null) context.leftBehind(failure);
  }
}

export function gpuReader({ simulatedDriver, card }: MeasureContext): () => Promise<GpuState | null> {
  if (card === null) return () => Promise.resolve(null);
  return () => readGpuState({ simulatedDriver }, card.uuid, 'readings').catch(() => null);
}

/** Runs set-up or tear-down outside the system, with the caller's environment. They are not measured. */
export async function commandsFailure(
  which: 'setup' | 'teardown',
  workload: Workload,
  { caller }: ExecSettings,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const { cwd, env, timeoutSeconds } = workload;
  try {
    for (const argv of workload[which])
      await mustSucceed(`${which} of ${workload.name}`, argv, {
        environment: { ...caller, ...env },
        cwd,
        timeoutMs: 1_000 * timeoutSeconds,
        signal,
      });
    return null;
  } catch (error) {
    if (signal?.aborted) throw error;
    return messageOf(error);
  }
}

class Runner {
  readonly #workload: Workload;
  readonly #settings: ExecSettings;
  readonly #memory: Memory;
  readonly #context: MeasureContext;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #readGpu: () => Promise<GpuState | null>;
  readonly #warmups: MeasuredRun[] = [];
  readonly #runs: MeasuredRun[] = [];
  readonly #cvs: (number | null)[] = [];
  #listsProcesses = false;
  #unwritten: string[] = [];

  constructor(
    workload: Workload,
    settings: ExecSettings,
    memory: Memory,
    context: MeasureContext,
    environment: NodeJS.ProcessEnv,
    readGpu: () => Promise<GpuState | null>,
  ) {
    [this.#workload, this.#settings, this.#memory] = [workload, settings, memory];
    [this.#context, this.#environment, this.#readGpu] = [context, environment, readGpu];
  }

  /**
   * Does all runs and returns the first failure, which ends the round: a program that failed once would most likely
   * fail again.
   */
  async all(): Promise<string | null> {
    const { card, simulatedDriver } = this.#context;
    const gpu = card && { uuid: card.uuid, simulate: simulatedDriver !== null };
    const monitor = await RoundMonitor.start(gpu, this.#workload.monitor.intervalMs);
    try {
      return await this.#untilFailure(monitor);
    } finally {
      this.#unwritten = await monitor.stop();
      this.#listsProcesses = monitor.listsProcesses;
    }
  }

  async #untilFailure(monitor: RoundMonitor): Promise<string | null> {
    const { warmup, iterations } = this.#workload;
    for (let i = 0; i < warmup; i++) {
      const failure = await this.#one(monitor, true, i, warmup);
      if (failure !== null) return `warm-up ${i + 1} of ${warmup}: ${failure}`;
    }
    for (let repeat = 0; ; repeat++) {
      const of = (repeat + 1) * iterations;
      for (let i = this.#runs.length; i < of; i++) {
        const failure = await this.#one(monitor, false, i, of);
        if (failure !== null) return `run ${i + 1} of ${of}: ${failure}`;
      }
      const cv = cvOf(this.#workload, this.#runs);
      this.#cvs.push(cv);
      if (cv === null || cv <= REPEAT_RULE.largestCv || repeat === mostRepeats(iterations)) return null;
    }
  }

  round(failure: string | null): Round {
    const outside = [...this.#warmups, ...this.#runs].find(({ proof }) => proof.state === 'outside');
    return {
      failure,
      invalid: outside ? `layer not active: ${outside.proof.detail}` : null,
      runs: this.#runs,
      warmups: this.#warmups,
      cvs: this.#cvs,
      checks: [],
      notes: [
        ...new Set([
          ...this.#all().flatMap(({ notes, load }) => [...notes, ...(load?.notes ?? [])]),
          ...this.#unwritten,
        ]),
      ],
    };
  }

  checks(): Check[] {
    const seen = this.#runs.map(({ gpu }) => gpu.seen);
    return [
      ...(this.#runs.length > 0 ? [proofCheck(this.#runs.map(({ proof }) => proof))] : []),
      ...(this.#cvs.length > 0 ? [spreadCheck(this.#cvs)] : []),
      temperatureCheck(
        this.#all().map(({ cooled }) => cooled),
        this.#workload.coolDown,
      ),
      slowdownCheck(seen),
      foreignCheck(seen, ownServers(this.#environment), this.#listsProcesses),
    ];
  }

  #all(): MeasuredRun[] {
    return [...this.#warmups, ...this.#runs];
  }

  async #one(monitor: RoundMonitor, isWarmup: boolean, index: number, of: number): Promise<string | null> {
    const { system, signal, progress, proofs } = this.#context;
    const what = `${isWarmup ? 'warm-up' : 'run'} ${index + 1} of ${of}`;
    progress(what, index / of);
    const cooled = await coolDown(this.#workload.coolDown, this.#memory.referenceC, this.#readGpu, signal);
    this.#memory.referenceC ??= cooled.temperatureC;
    const { logsOf } = this.#settings;
    const name = `${isWarmup ? 'warm-up' : 'run'}-${String(index + 1).padStart(4, '0')}`;
    const logs = logsOf && `${logsOf(this.#workload.name, system.name)}/${name}`;
    const gpu = monitor.record(logs !== null && this.#workload.monitor.csv ? `${logs}.monitor.csv` : null);
    const load = this.#workload.load && new ServedLoad(this.#workload.load, logs && `${logs}.requests.jsonl`);
    const { checkpoints, uncheckpointed } = await this.#checkpoints();
    const run = await runOnce({
      workload: this.#workload,
      argvPrefix: system.argvPrefix(),
      launcher: system.launcher,
      environment: this.#environment,
      logs,
      expected: expectedOf(this.#context),
      gpu,
      ...(load && { whileReady: (own, fromNs) => load.run(own, fromNs) }),
      onWaiting: saidWhileWaiting(this.#context, this.#workload.name, what, index / of),
      checkpoints,
      uncheckpointed,
      signal,
    }).finally(() => checkpoints?.close());
    const served = (await load?.finish()) ?? null;
    gpu.close({
      phases: withLoad(run.phases, served?.phase ?? null, this.#workload.stopAfterSeconds),
      pids: run.watched.pids,
    });
    (isWarmup ? this.#warmups : this.#runs).push({ ...run, cooled, gpu, load: served });
    if (!isWarmup && run.failure === null)
      proofs.countProgram(
        run.proof.state === 'proven',
        run.proof.state === 'outside' ? `layer not active: ${run.proof.detail}` : null,
      );
    return run.failure;
  }

  /** Who checkpoints the program of a run, or why nobody does; neither where it is not asked for. */
  async #checkpoints(): Promise<{ checkpoints?: ProgramCheckpoints | BoxedCheckpoints; uncheckpointed?: string }> {
    const { checkpoint } = this.#workload;
    if (!checkpoint) return {};
    const { remote, restorable } = this.#context.system.launcher;
    if (remote === undefined) return { checkpoints: new ProgramCheckpoints(checkpoint, this.#context) };
    if (restorable === undefined) return { uncheckpointed: 'exec does not checkpoint programs in pods' };
    const refusal = await restorable.refusal();
    if (refusal !== null) return { uncheckpointed: refusal };
    return { checkpoints: new BoxedCheckpoints(checkpoint, this.#context, restorable) };
  }
}

/** Reports why a program is not ready. A reason that time alone may not change is reported at once. */
export function saidWhileWaiting({ progress }: MeasureContext, name: string, step: string, fraction: number) {
  return ({ reason, isOfStart }: NotReady): void => {
    const text = `not ready yet: ${reason}`;
    progress(`${step}: ${text}`, fraction, isOfStart ? undefined : `${name}: ${text}`);
  };
}

/** What the processes of a program are compared with: a worker of the same round that was proven. */
export function expectedOf({ system, proofs }: MeasureContext, tenant?: Tenant): Expected {
  const layer = proofs.reference?.attestation.layer ?? null;
  const own = system.ownGpu?.(tenant);
  const expected = {
    system: system.name,
    usesMps: system.usesMps === true,
    isBare: system.isBare === true,
    ...(own && isInstance(own.uuid) && { instance: own.uuid }),
  };
  if (!proofs.reference || !layer?.active) return { ...expected, layer: null };
  const intercepted = interceptors(proofs.reference.description.provenance).find(({ owner }) =>
    sameFile(owner, layer.path),
  );
  return { ...expected, layer: layer.path, intercepted: intercepted ?? null };
}

/** Coefficient of variation of the deciding number; null for too few runs. */
export function cvOf(workload: Workload, runs: readonly MeasuredRun[]): number | null {
  const values = runs.flatMap((run) => decidingValue(workload, run) ?? []);
  return values.length < REPEAT_RULE.fewestRuns ? null : (summarise(values)?.cv ?? null);
}

export function spreadCheck(cvs: readonly (number | null)[]): Check {
  const name = `runs vary by at most ${100 * REPEAT_RULE.largestCv} %`;
  const last = cvs.at(-1) ?? null;
  if (last === null) return { name, passed: 'not checked', detail: `fewer than ${REPEAT_RULE.fewestRuns} runs` };
  const repeats = cvs.length - 1;
  const detail = `coefficient of variation ${cvs.map((cv) => percent(cv ?? 0)).join(', then ')}`;
  return {
    name,
    passed: last <= REPEAT_RULE.largestCv,
    detail: repeats === 0 ? detail : `${detail}: repeated ${repeats === 1 ? 'once' : `${repeats} times`}`,
  };
}

export function proofCheck(proofs: readonly ProcessProof[]): Check {
  const worst =
    proofs.find(({ state }) => state === 'outside') ??
    proofs.find(({ state }) => state === 'unproven') ??
    (proofs[0] as ProcessProof);
  const same = proofs.filter(({ state }) => state === worst.state).length;
  return {
    name: UNDER_SYSTEM,
    passed: worst.state === 'unproven' ? 'not checked' : worst.state === 'proven',
    detail: `${worst.detail} (${same} of ${proofs.length} runs)`,
  };
}
