/** Attests one running worker from its description, its probes and its system's judgement. */
import type { DeviceTarget } from '../../native/addon-types.js';
import { CLOCK_CHECK, judgeClock } from '../../native/clock.js';
import { loadAddon } from '../../native/load.js';
import { BenchError } from '../../errors/bench-error.js';
import { type Description, describe, failureToLook } from '../../workers/description.js';
import type { Worker } from '../../workers/worker.js';
import type { Attestation, Evidence, Probe, System, Tenant } from '../system.js';

export interface Attested {
  description: Description;
  attestation: Attestation;
}

export interface Look {
  phase: Evidence['phase'];
  tenant: Tenant;
  target: DeviceTarget;
  signal: AbortSignal;
}

const PROBE_DEADLINE_MS = 120_000;

/** Rejects with CudaError or BenchError if the worker cannot look for GPUs at all. */
export async function attestWorker(worker: Worker, system: System, look: Look): Promise<Attested> {
  const { phase, target, signal } = look;
  const description = await describe(worker, target, signal);
  const failure = failureToLook(description);
  if (failure) throw failure;
  return {
    description,
    attestation: withClock(await judgeBySystem(worker, system, look, description), description, phase),
  };
}

async function judgeBySystem(
  worker: Worker,
  system: System,
  look: Look,
  description: Description,
): Promise<Attestation> {
  const { phase, tenant, target } = look;
  const judge = (probe: Probe | null) => system.attest(description, { phase, tenant, probe, path: target.path });
  if (system.wantsProbe && (phase !== 'process' || system.provesByKernels === true))
    return judge(await probeLayer(worker, system, look));
  const attestation = await judge(null);
  // Some systems are recognised only by the allocations they refuse.
  if (phase !== 'process' || attestation.proofs.length > 0 || system.canaries(tenant).length === 0) return attestation;
  return judge(await probeLayer(worker, system, look));
}

/** Applies to every system: times from a foreign clock are no result. */
export function withClock(attestation: Attestation, description: Description, phase: Evidence['phase']): Attestation {
  const clean = description.container === undefined ? ownVdso() : null;
  const { passed, detail, invalid } = judgeClock(description.inspection.clock, clean);
  const proof = phase === 'after' ? `${CLOCK_CHECK}, after` : CLOCK_CHECK;
  const why = [attestation.invalid, invalid].filter((reason) => reason != null);
  return {
    ...attestation,
    ...(passed === null
      ? { notChecked: [...(attestation.notChecked ?? []), { proof, detail }] }
      : { proofs: [...attestation.proofs, { proof, passed, detail }] }),
    ...(why.length > 0 && { invalid: why.join('; and ') }),
  };
}

/** This process, the coordinator, has no layer; a container may run under another kernel. */
let known: { vdso: string | null } | undefined;
const ownVdso = (): string | null => (known ??= { vdso: loadAddon().clockReading().vdso }).vdso;

/** Null if the worker does not see the GPU, which its proofs then say. */
async function probeLayer(worker: Worker, system: System, { tenant, target, signal }: Look): Promise<Probe | null> {
  const allocations = system.canaries(tenant).map(({ bytes }) => bytes);
  const options = { deadlineMs: worker.patienceMs ?? PROBE_DEADLINE_MS, signal };
  try {
    return (await worker.request('probeLayer', { allocations, on: worker.targetIn(target) }, options)) as Probe;
  } catch (error) {
    if (error instanceof BenchError && error.code === 'NO_SUCH_DEVICE') return null;
    throw error;
  }
}
