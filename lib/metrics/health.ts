/** What NVML said while a metric ran, as evidence: findings warn and are recorded, they never change a number. */
import type { Check } from '../document.js';
import type { Health } from '../native/addon-types.js';

/** Bits of nvmlDeviceGetCurrentClocksEventReasons that mean the card was held back (not idle, not a user's setting). */
const SLOWDOWNS: readonly [bit: number, name: string][] = [
  [0x04, 'power cap'],
  [0x08, 'hardware slowdown'],
  [0x20, 'thermal slowdown (software)'],
  [0x40, 'thermal slowdown (hardware)'],
  [0x80, 'power brake'],
];
const CLOCK_DRIFT = 0.03;

function clockCheck(log: readonly Health[]): Check {
  const clocks = log.flatMap(({ smClockMhz }) => (smClockMhz === null ? [] : [smClockMhz]));
  const name = 'SM clock steady';
  if (clocks.length < 2) return { name, passed: 'not checked', detail: 'fewer than two readings under load' };
  const low = Math.min(...clocks);
  const high = Math.max(...clocks);
  return {
    name,
    passed: (high - low) / high <= CLOCK_DRIFT,
    detail: `${low} to ${high} MHz in ${clocks.length} readings under load`,
  };
}

function throttleCheck(log: readonly Health[]): Check {
  const name = 'no slowdown';
  const masks = log.flatMap(({ eventReasons }) => (eventReasons === null ? [] : [eventReasons]));
  if (masks.length === 0) return { name, passed: 'not checked', detail: 'NVML gives no clock event reasons' };
  const seen = SLOWDOWNS.filter(([bit]) => masks.some((mask) => (mask & bit) !== 0)).map(([, text]) => text);
  return { name, passed: seen.length === 0, detail: seen.join(', ') || `none in ${masks.length} readings` };
}

function foreignCheck(log: readonly Health[]): Check {
  const name = 'no foreign GPU process';
  const lists = log.flatMap(({ processes }) => (processes === null ? [] : [processes.map(({ pid }) => pid)]));
  if (lists.length === 0 || !lists.every((pids) => pids.includes(process.pid)))
    return { name, passed: 'not checked', detail: 'NVML does not list this process by its own PID' };
  const foreign = [...new Set(lists.flat())].filter((pid) => pid !== process.pid);
  return { name, passed: foreign.length === 0, detail: foreign.length > 0 ? `PID ${foreign.join(', ')}` : 'none' };
}

export function healthChecks(log: readonly Health[]): Check[] {
  return log.length === 0 ? [] : [clockCheck(log), throttleCheck(log), foreignCheck(log)];
}

/** Whether NVML lists this process by its own PID; undefined where that was not looked at. */
export function ownPidMapping(log: readonly Health[]): 'same' | 'none' | undefined {
  const lists = log.flatMap(({ processes }) => (processes === null ? [] : [processes]));
  if (log.length === 0) return undefined;
  return lists.length > 0 && lists.every((list) => list.some(({ pid }) => pid === process.pid)) ? 'same' : 'none';
}

export function healthDetails(log: readonly Health[]): Record<string, unknown> | undefined {
  const last = log.at(-1);
  if (!last) return undefined;
  const { smClockMhz, memoryClockMhz, temperatureC, powerW, performanceState } = last;
  return { readings: log.length, last: { smClockMhz, memoryClockMhz, temperatureC, powerW, performanceState } };
}
