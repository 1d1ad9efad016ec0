/** Checks before the measurement whether the machine is idle and healthy; only reports findings. */
import type { Check } from '../results/document.js';
import type { GpuState } from '../native/addon-types.js';
import { isIdle, slowdowns } from './event-reasons.js';

const HOTTEST_C = 80;
const BUSIEST_CPU = 0.1;
const LEAST_FREE = 0.9;
/** Compute runs in P0 to P2. */
export const SLOWEST_STATE = 2;

export const HOST_AT_REST = 'host CPU at rest';

/** A check without its name. */
export type Judged = Omit<Check, 'name'>;

const unknown = (what: string): Judged => ({ passed: 'not checked', detail: `NVML does not report ${what}` });
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

function temperature({ temperatureC }: GpuState): Judged {
  if (temperatureC === null) return unknown('the temperature');
  return { passed: temperatureC < HOTTEST_C, detail: `${temperatureC} °C, expected below ${HOTTEST_C} °C` };
}

function performanceState({ performanceState: state, eventReasons }: GpuState): Judged {
  if (state === null) return unknown('the performance state');
  if (state <= SLOWEST_STATE) return { passed: true, detail: `P${state}` };
  if (eventReasons !== null && isIdle(eventReasons))
    return {
      passed: 'not checked',
      detail: `P${state}, which is normal for an idle card; each metric checks it under load`,
    };
  return { passed: false, detail: `P${state}, expected P0 to P${SLOWEST_STATE} on a card that is not idle` };
}

function freeMemory({ freeBytes, totalBytes }: GpuState): Judged {
  if (freeBytes === null || totalBytes === null || totalBytes === 0) return unknown('how much memory is free');
  const free = freeBytes / totalBytes;
  return { passed: free > LEAST_FREE, detail: `${percent(free)} free, expected more than ${percent(LEAST_FREE)}` };
}

/** NVML lists a process that starts on another GPU of the machine for a moment, with 0 bytes. */
export const holders = (processes: NonNullable<GpuState['processes']>): number[] =>
  processes.filter(({ usedBytes }) => usedBytes !== 0).map(({ pid }) => pid);

/** A host program that measures in its own process is not a foreign process. */
function foreignProcesses({ processes }: GpuState): Judged {
  if (processes === null) return unknown('which processes use the GPU');
  const foreign = holders(processes).filter((pid) => pid !== process.pid);
  return { passed: foreign.length === 0, detail: foreign.length > 0 ? `PID ${foreign.join(', ')}` : 'none' };
}

function persistenceMode({ persistenceMode: on }: GpuState): Judged {
  if (on === null) return unknown('the persistence mode');
  return { passed: on, detail: on ? 'on' : 'off: the start of a process may include the start of the GPU' };
}

function clocks({ smClockMhz, maxSmClockMhz, memoryClockMhz, eventReasons }: GpuState): Judged {
  if (eventReasons === null) return unknown('clock event reasons');
  const held = slowdowns([eventReasons]);
  const now = `SM ${smClockMhz ?? '?'} of ${maxSmClockMhz ?? '?'} MHz, memory ${memoryClockMhz ?? '?'} MHz`;
  return { passed: held.length === 0, detail: held.length > 0 ? `${now}, held back by ${held.join(', ')}` : now };
}

function hostCpu(busy: number | null): Judged {
  if (busy === null) return { passed: 'not checked', detail: 'the system does not report it' };
  return { passed: busy < BUSIEST_CPU, detail: `${percent(busy)} busy, expected less than ${percent(BUSIEST_CPU)}` };
}

const ofGpu: readonly [name: string, judge: (state: GpuState) => Judged][] = [
  ['GPU temperature', temperature],
  ['GPU performance state', performanceState],
  ['GPU memory free', freeMemory],
  ['no foreign GPU process', foreignProcesses],
  ['persistence mode', persistenceMode],
  ['GPU clocks', clocks],
];

/** `gpu` is null if NVML is unavailable; `cpuBusy` is from 0 to 1, null if unknown. */
export function checksBefore(gpu: GpuState | null, cpuBusy: number | null): Check[] {
  const noNvml: Judged = { passed: 'not checked', detail: 'NVML does not list this GPU' };
  return [
    ...ofGpu.map(([name, judge]) => ({ name, ...(gpu ? judge(gpu) : noNvml) })),
    { name: HOST_AT_REST, ...hostCpu(cpuBusy) },
  ];
}
