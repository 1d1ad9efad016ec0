/** The health of the GPU around runs: cool-down before each, and what disturbed them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Check } from '../../results/document.js';
import type { GpuState } from '../../native/addon-types.js';
import type { RecordedGpu } from './gpu-record.js';
import type { CoolDown } from '../workload-type.js';

const LOOK_MS = 500;
/** Bytes of the card's memory that a driver may keep for a while after a program has ended. */
const KEPT_BYTES = 64 * 2 ** 20;

type ReadGpu = () => Promise<GpuState | null>;

export interface Cooled {
  waitedSeconds: number;
  /** Temperature at the start of the run; null if NVML does not say. */
  temperatureC: number | null;
  /** Whether the GPU has cooled to the temperature before the first run; null if that is not checked. */
  isBack: boolean | null;
}

/** Waits for the GPU to cool down. `referenceC`: temperature before the first run of all; null at that run. */
export async function coolDown(
  { pauseSeconds, mostSeconds, degrees }: CoolDown,
  referenceC: number | null,
  readGpu: ReadGpu,
  signal: AbortSignal,
): Promise<Cooled> {
  const began = performance.now();
  const waited = () => (performance.now() - began) / 1_000;
  if (pauseSeconds > 0) await sleep(1_000 * pauseSeconds, undefined, { signal });
  for (;;) {
    const temperatureC = (await readGpu())?.temperatureC ?? null;
    if (temperatureC === null || mostSeconds === 0) return { waitedSeconds: waited(), temperatureC, isBack: null };
    const isBack = referenceC === null || temperatureC <= referenceC + degrees;
    if (isBack || waited() >= pauseSeconds + mostSeconds) return { waitedSeconds: waited(), temperatureC, isBack };
    await sleep(LOOK_MS, undefined, { signal });
  }
}

export function temperatureCheck(cooled: readonly Cooled[], { degrees, mostSeconds }: CoolDown): Check {
  const name = 'GPU temperature back before every run';
  const checked = cooled.filter(({ isBack }) => isBack !== null);
  if (checked.length === 0)
    return { name, passed: 'not checked', detail: mostSeconds === 0 ? 'no cool-down' : 'NVML gives no temperature' };
  const warm = checked.filter(({ isBack }) => isBack === false);
  const most = Math.max(...checked.map(({ temperatureC }) => temperatureC ?? 0));
  return {
    name,
    passed: warm.length === 0,
    detail:
      warm.length === 0
        ? `at most ${most} °C before a run`
        : `still more than ${degrees} °C above the first run's after ${mostSeconds} s, before ${warm.length} of ${checked.length} runs (up to ${most} °C)`,
  };
}

export function slowdownCheck(runs: readonly RecordedGpu[]): Check {
  const name = 'no slowdown';
  const known = runs.filter(({ slowdowns }) => slowdowns !== null);
  if (known.length === 0) return { name, passed: 'not checked', detail: 'no reading of clock event reasons' };
  const seen = [...new Set(known.flatMap(({ slowdowns }) => slowdowns ?? []))];
  return { name, passed: seen.length === 0, detail: seen.join(', ') || `none in ${samplesText(known)}` };
}

/**
 * Checks that only the program used the GPU. `own`: PIDs of this tool that use it too, such as servers of its MPS
 * daemon.
 */
export function foreignCheck(runs: readonly RecordedGpu[], own: readonly number[], isListed = true): Check {
  const name = 'no foreign GPU process';
  const known = runs.filter(({ samples }) => samples > 0);
  if (!isListed || known.length === 0)
    return { name, passed: 'not checked', detail: 'no reading of the processes of the GPU' };
  const foreign = [...new Set(known.flatMap(({ foreignPids }) => foreignPids))].filter((pid) => !own.includes(pid));
  if (foreign.length === 0) return { name, passed: true, detail: `none in ${samplesText(known)}` };
  // In another PID namespace the program's own processes have other numbers there.
  if (known.every(({ programBytes }) => programBytes === null))
    return { name, passed: 'not checked', detail: 'NVML lists no process of the program by its own PID' };
  return { name, passed: false, detail: `PID ${foreign.join(', ')}` };
}

const samplesText = (runs: readonly RecordedGpu[]): string =>
  `${runs.reduce((sum, { samples }) => sum + samples, 0)} readings`;

/** Compares the memory in use on the whole card before the first run and after the last. */
export function memoryCheck(before: GpuState | null, after: GpuState | null): Check {
  const name = 'GPU memory as before';
  const [used, left] = [before?.usedBytes ?? null, after?.usedBytes ?? null];
  if (used === null || left === null) return { name, passed: 'not checked', detail: 'NVML gives no used memory' };
  const mib = Math.round((left - used) / 2 ** 20);
  return { name, passed: left - used <= KEPT_BYTES, detail: `${mib} MiB more after the runs than before them` };
}
