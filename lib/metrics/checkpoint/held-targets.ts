/**
 * Targets of the CKPT metrics: fresh processes that hold memory and are checkpointed and restored twice. All metrics of
 * a round share them. Method: the driver's cuCheckpointProcess functions, called by a warm process of its own.
 */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { CheckpointGuardian } from '../../checkpoint/checkpoint-guarding.js';
import { Controller } from '../../checkpoint/controller.js';
import { guardedBy } from '../../checkpoint/guarded-launcher.js';
import { RUNNING } from '../../checkpoint/states.js';
import { BenchError } from '../../errors/bench-error.js';
import type {
  CheckpointAnswer,
  CheckpointCall,
  CheckpointHold,
  CheckpointVerified,
  CheckpointWork,
  PcieLink,
  TenantMemory,
} from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { shuffled } from '../../stats/random.js';
import { SOLE_TENANT } from '../../systems/system.js';
import type { ProcessStart } from '../../workers/launcher.js';
import { Worker } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { GIB, MIB, NS_PER_MS } from '../core/units.js';
import { nativeStart } from '../tenants/native-start.js';
import { inOneTenant, targetOf } from '../tenants/scene.js';

const ALLOCATIONS = 4;
/** What a target holds. The last is a part of the memory that it may use. */
const SIZES = [0, GIB, 4 * GIB, 16 * GIB] as const;
const MOST_PART = 0.9;
/** A simulated card keeps its memory in the host's. */
const SIMULATED = 1 / 64;
const TARGETS = { quick: 2, standard: 3, thorough: 8 } as const;
/** At the largest size, which takes minutes. */
const LARGEST_TARGETS = { quick: 1, standard: 1, thorough: 8 } as const;
/** Allocations are whole granules. */
const GRANULE = 2 * MIB * ALLOCATIONS;
const TURNS = 2;
/** What the process needs of the host besides the memory of its target. */
const HOST_RESERVE = 2 * GIB;

export interface Turn {
  lockMs: number;
  checkpointMs: number;
  restoreMs: number;
  unlockMs: number;
  /** From the verification's call after the unlock to the first result that the host saw. */
  firstResultMs: number;
  /** Growth of the target's resident host memory by the checkpoint. */
  hostBytes: number;
  /** NVML: memory of the card in use; null: not known. */
  usedBytes: { before: number | null; checkpointed: number | null };
  /** NVML: memory of the target's process; null: not listed. */
  processBytes: { before: number | null; checkpointed: number | null };
  verified: CheckpointVerified;
}

export interface HeldTarget {
  bytes: number;
  turns: Turn[];
}

export interface HeldTargets {
  targets: HeldTarget[];
  link: PcieLink;
  leftOut: { bytes: number; leftOut: string }[];
}

const ms = ({ tookNs }: CheckpointAnswer): number => tookNs / NS_PER_MS;

/** Rejects with FUNCTION_MISSING if the driver refuses what it does not support. */
function succeeded(call: CheckpointCall, answer: CheckpointAnswer): CheckpointAnswer {
  const { code, name } = answer;
  if (code === 0) return answer;
  const text = `${call} of a process returned ${name} (${code})`;
  if (code === 801) throw new BenchError('FUNCTION_MISSING', `${text}: the driver does not checkpoint such a process.`);
  throw new BenchError('INVALID_RESULT', `${text}.`);
}

function residentBytes(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return 1024 * Number(kib ?? NaN);
}

/** The host's free memory, also within the limit of this process's cgroup. */
const hostFree = (): number => Math.min(freemem(), process.availableMemory());

export class TargetStudy {
  readonly #context: MeasureContext;
  readonly #start: ProcessStart;
  readonly #guardian: CheckpointGuardian;
  readonly controller: Controller;

  /** The guardian and the controller talk to the driver itself, whatever the system. */
  constructor(context: MeasureContext, start: ProcessStart) {
    const target = { simulatedDriver: context.simulatedDriver };
    const native = nativeStart(context);
    this.#context = context;
    this.#guardian = new CheckpointGuardian(target, native.environment);
    this.controller = new Controller(native, target);
    this.#start = { ...start, launcher: guardedBy(this.#guardian, context.card?.uuid ?? null) };
  }

  /** A target that holds so many bytes and has not been locked yet. */
  async hold(bytes: number): Promise<Worker> {
    const { signal } = this.#context;
    const worker = await Worker.start({ start: this.#start, signal });
    try {
      const deadlineMs = deadlineFor(bytes);
      await worker.request('enter', worker.targetIn(targetOf(this.#context)), { deadlineMs, signal });
      const held = await worker.request('checkpointHold', { bytes, allocations: ALLOCATIONS }, { deadlineMs, signal });
      if ((held as CheckpointHold).bytes !== bytes)
        throw new BenchError('INVALID_RESULT', `The target holds ${(held as CheckpointHold).bytes} of ${bytes} bytes.`);
      await this.#context.prove(worker, SOLE_TENANT);
      return worker;
    } catch (error) {
      await worker.kill();
      throw error;
    }
  }

  async call(call: CheckpointCall, { pid }: Worker, bytes: number, timeoutMs?: number): Promise<CheckpointAnswer> {
    this.#context.signal.throwIfAborted();
    if (call === 'restore') await this.#guardian.noteRestore(pid);
    const limits = { deadlineMs: deadlineFor(bytes), ...(timeoutMs !== undefined && { timeoutMs }) };
    return succeeded(call, await this.controller.call(call, pid, limits));
  }

  async turn(worker: Worker, bytes: number): Promise<Turn> {
    const before = await this.#look(worker.pid);
    const lock = await this.call('lock', worker, bytes);
    const checkpoint = await this.call('checkpoint', worker, bytes);
    const after = await this.#look(worker.pid);
    const restore = await this.call('restore', worker, bytes);
    const unlock = await this.call('unlock', worker, bytes);
    const verified = (await worker.request(
      'checkpointVerify',
      {},
      { deadlineMs: deadlineFor(bytes) },
    )) as CheckpointVerified;
    return {
      lockMs: ms(lock),
      checkpointMs: ms(checkpoint),
      restoreMs: ms(restore),
      unlockMs: ms(unlock),
      firstResultMs: verified.firstResultNs / NS_PER_MS,
      hostBytes: after.hostBytes - before.hostBytes,
      usedBytes: { before: before.usedBytes, checkpointed: after.usedBytes },
      processBytes: { before: before.processBytes, checkpointed: after.processBytes },
      verified,
    };
  }

  async #look(pid: number) {
    const { truth } = this.#context;
    return {
      hostBytes: residentBytes(pid),
      usedBytes: (await truth?.cardMemory())?.usedBytes ?? null,
      processBytes: (await truth?.processMemory(pid)) ?? null,
    };
  }

  /** Ends what is left, and says what could not be ended. */
  async close(): Promise<void> {
    await this.controller.stop();
    for (const left of await this.#guardian.close()) this.#context.leftBehind(left);
  }
}

/** Far above what a call takes: 2 s for each GiB have been seen on a busy host. */
const deadlineFor = (bytes: number): number => 60_000 + (20_000 * bytes) / GIB;

/** When this settles, every target has ended, or the result says which has not. */
export async function inStudy<T>(context: MeasureContext, use: (study: TargetStudy) => Promise<T>): Promise<T> {
  return inOneTenant(context, async (start) => {
    if (start.launcher.name !== 'local')
      throw new BenchError('FUNCTION_MISSING', 'Processes in containers are not checkpointed by this metric.');
    const study = new TargetStudy(context, start);
    try {
      return await use(study);
    } finally {
      await study.close();
    }
  });
}

/** The targets of every size, in random order. */
export const heldTargets = (context: MeasureContext): Promise<HeldTargets> =>
  context.once.get('held targets', () => inStudy(context, (study) => measureTargets(context, study)));

async function measureTargets(context: MeasureContext, study: TargetStudy): Promise<HeldTargets> {
  const { tier, iterations, seed } = context.options;
  const { room, link } = await pilot(context, study);
  const scale = context.simulatedDriver === null ? 1 : SIMULATED;
  const largest = Math.floor((MOST_PART * room) / GRANULE) * GRANULE;
  const sizes = [...new Set([...SIZES.map((bytes) => bytes * scale).filter((bytes) => bytes < largest), largest])];
  const targets: HeldTarget[] = [];
  const leftOut: HeldTargets['leftOut'] = [];
  const plan = sizes.flatMap((bytes) => {
    const free = hostFree() - HOST_RESERVE * scale;
    if (bytes > free) {
      leftOut.push({
        bytes,
        leftOut: `it takes ${formatBytes(bytes)} of the host's memory, of which ${formatBytes(free)} may be taken`,
      });
      return [];
    }
    const count = iterations ?? (bytes === largest ? LARGEST_TARGETS : TARGETS)[tier];
    return Array.from({ length: count }, () => bytes);
  });
  for (const [i, bytes] of shuffled(plan, seed).entries()) {
    context.progress(`${formatBytes(bytes)}, target ${i + 1} of ${plan.length}`, i / plan.length);
    const worker = await study.hold(bytes);
    try {
      const turns: Turn[] = [];
      for (let n = 0; n < TURNS; n++) turns.push(await study.turn(worker, bytes));
      targets.push({ bytes, turns });
    } finally {
      await worker.kill();
    }
  }
  return { targets, link, leftOut };
}

const LINK_BYTES = 64 * MIB;

/** A target that is never locked: bytes that a process of the system may allocate, and its link to the host. */
async function pilot({ leastMemoryBytes, options: { seed } }: MeasureContext, study: TargetStudy) {
  const worker = await study.hold(0);
  const limits = { deadlineMs: deadlineFor(0) };
  try {
    const { freeBytes } = (await worker.request('tenantMemory', {}, limits)) as TenantMemory;
    const link = (await worker.request('pcieLink', { bytes: LINK_BYTES, seed }, limits)) as PcieLink;
    return { room: Math.min(freeBytes, leastMemoryBytes ?? Infinity), link };
  } finally {
    await worker.kill();
  }
}

export interface BusyLocks {
  rows: { workMs: number; lockMs: number; remainingMs: number; extraMs: number }[];
  timeout: { timeoutMs: number; lockMs: number; name: string; code: number };
  afterTimeout: { state: number | null; intact: boolean };
}

/** Device work before a lock, and a time limit that is shorter than another. */
const WORK_MS = [50, 200];
const LONG_WORK_MS = 1_000;
const TIMEOUT_MS = 100;

/** Locks of a target with submitted work. */
export const busyLocks = (context: MeasureContext): Promise<BusyLocks> =>
  context.once.get('busy locks', () =>
    inStudy(context, async (study) => {
      const worker = await study.hold(0);
      const limits = { deadlineMs: deadlineFor(0) };
      const submit = async (ms: number): Promise<number> => {
        const { submittedNs, estimatedNs } = (await worker.request('checkpointWork', { ms }, limits)) as CheckpointWork;
        return worker.oursNs(submittedNs) + estimatedNs;
      };
      try {
        await study.controller.warm(limits.deadlineMs);
        const rows: BusyLocks['rows'] = [];
        for (const workMs of WORK_MS) {
          const ends = await submit(workMs);
          const remainingMs = (ends - loadAddon().now()) / NS_PER_MS;
          const lockMs = ms(await study.call('lock', worker, 0));
          await study.call('unlock', worker, 0);
          rows.push({ workMs, lockMs, remainingMs, extraMs: lockMs - remainingMs });
        }
        await submit(LONG_WORK_MS);
        const late = await study.controller.call('lock', worker.pid, { ...limits, timeoutMs: TIMEOUT_MS });
        const { state } = await study.controller.call('state', worker.pid, limits);
        const intact =
          state === RUNNING && allHold((await worker.request('checkpointVerify', {}, limits)) as CheckpointVerified);
        const timeout = { timeoutMs: TIMEOUT_MS, lockMs: ms(late), name: late.name, code: late.code };
        return { rows, timeout, afterTimeout: { state, intact } };
      } finally {
        await worker.kill();
      }
    }),
  );

const allHold = ({ checksums, addresses, graph, stream, event }: CheckpointVerified): boolean =>
  checksums && addresses && graph && stream && event;
