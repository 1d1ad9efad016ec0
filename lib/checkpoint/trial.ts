/**
 * Tries on a process of its own whether checkpoints work here: it is locked and checkpointed. It is never restored, so it
 * may end as any other.
 */
import { readFileSync } from 'node:fs';
import { messageOf } from '../errors/message-of.js';
import type { CheckpointAnswer, Target } from '../native/addon-types.js';
import { readGpuState } from '../native/gpu-state.js';
import { localStart } from '../workers/local.js';
import { Worker } from '../workers/worker.js';
import { Controller } from './controller.js';
import { endingInCall } from './ending-in-call.js';
import { CHECKPOINTED, stateName } from './states.js';

export interface CheckpointTrial {
  works: boolean;
  /** Calls in their order, up to the first that failed. */
  calls: { call: string; code: number; name: string; ms: number }[];
  /** Whether NVML listed the process by its PID before. */
  listed: boolean;
  /** Why it does not work; null: it works. */
  reason: string | null;
  /** What may help; null: nothing is known to. */
  fix: string | null;
  /** Yama's restriction of ptrace (0 … 3); null: the kernel has none. */
  ptraceScope: number | null;
  /** Whether this process has CAP_SYS_PTRACE; null: unknown. */
  mayTrace: boolean | null;
}

const HELD = { bytes: 2 ** 20, allocations: 1 };
const STEP_MS = 60_000;
/** Bit of CAP_SYS_PTRACE (capabilities(7)). */
const SYS_PTRACE = 19n;

interface TrialRequest {
  /** Environment of both processes, the one that is checkpointed and the one that does it. */
  environment: NodeJS.ProcessEnv;
  target: Target;
  /** UUID of the GPU. */
  gpu: string;
  /** Timeout of each step. Default 60 s. */
  deadlineMs?: number | undefined;
}

/** Says why nothing can be told of GPU memory by process where `listed` is false. */
export const NOT_LISTED =
  'NVML does not list processes by their PIDs here, as in another PID namespace: nothing would show that';

export async function tryCheckpoint(request: TrialRequest): Promise<CheckpointTrial> {
  const { environment, target, gpu, deadlineMs = STEP_MS } = request;
  const calls: CheckpointTrial['calls'] = [];
  const start = localStart(environment);
  const controller = new Controller(start, target);
  let worker: Worker | null = null;
  let reason: string | null = null;
  let listed = false;
  try {
    await controller.warm(deadlineMs);
    worker = await Worker.start({ start, startTimeoutMs: deadlineMs });
    const on = { ...worker.targetIn(target), device: null, path: 'runtime' };
    await worker.request('checkpointHold', { on, ...HELD }, { deadlineMs });
    listed = await isListed(target, gpu, worker.pid);
    for (const call of ['lock', 'checkpoint', 'state'] as const) {
      const answer = await controller.call(call, worker.pid, { deadlineMs });
      calls.push({ call, code: answer.code, name: answer.name, ms: answer.tookNs / 1e6 });
      reason = whyNot(call, answer);
      if (reason === null) continue;
      const ending = await endingInCall(worker);
      if (ending !== null) reason = `the process ${ending.how} in this call: ${reason}`;
      break;
    }
    if (reason === null && listed && (await isListed(target, gpu, worker.pid)))
      reason = 'NVML still lists the process after its checkpoint: its memory has not left the GPU';
  } catch (error) {
    reason = messageOf(error);
  } finally {
    await worker?.kill();
    await controller.stop();
  }
  const facts = { ptraceScope: ptraceScope(), mayTrace: mayTrace() };
  return {
    works: reason === null,
    listed,
    calls,
    reason,
    fix: reason === null ? null : fixFor(calls.at(-1)?.code, facts),
    ...facts,
  };
}

/** False also where NVML does not list this process, as in other PID namespaces. */
async function isListed(target: Target, gpu: string, pid: number): Promise<boolean> {
  const state = await readGpuState(target, gpu, 'all');
  return state?.processes?.some((process) => process.pid === pid) ?? false;
}

/** Null if the call did what it should. */
function whyNot(call: string, { code, name, state }: CheckpointAnswer): string | null {
  if (code !== 0) return `${call} returned ${name} (${code})${KNOWN[`${call} ${code}`] ?? ''}`;
  return call === 'state' && state !== CHECKPOINTED
    ? `after its checkpoint the process is ${stateName(state ?? -1)}`
    : null;
}

/** What is known of a code, by call. */
const KNOWN: Readonly<Record<string, string>> = {
  'lock 801': ': the driver does this for no client of MPS',
  'checkpoint 801': ': on arm64 it needs driver 595 or later',
  'checkpoint 2': ': on a MIG instance the driver does not do this; else the host has too little memory',
};

type Rights = Pick<CheckpointTrial, 'ptraceScope' | 'mayTrace'>;

function fixFor(code: number | undefined, { ptraceScope, mayTrace }: Rights): string | null {
  const isRefused = code === 304 || code === 800;
  if (isRefused && mayTrace === false && ptraceScope !== 0) return 'sudo sysctl kernel.yama.ptrace_scope=0';
  return code === 800 ? 'sudo nvidia-smi -pm 1' : null;
}

function ptraceScope(): number | null {
  try {
    return Number(readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'utf8'));
  } catch {
    // The kernel has no Yama.
    return null;
  }
}

function mayTrace(): boolean | null {
  try {
    const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return effective === undefined ? null : ((BigInt(`0x${effective}`) >> SYS_PTRACE) & 1n) === 1n;
  } catch {
    // There is no /proc.
    return null;
  }
}
