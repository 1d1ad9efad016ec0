/** Health checks from NVML and a metric's samples; they never change a number. */
import type { Check, Stats } from '../../results/document.js';
import { slowdowns } from '../../environment/event-reasons.js';
import { holders, type Judged, percent, SLOWEST_STATE } from '../../environment/machine-health.js';
import type { MetricDefinition } from './metric.js';
import type { GpuState, Scheduling } from '../../native/addon-types.js';

const CLOCK_DRIFT = 0.03;
const MOST_OUTLIERS = 0.05;
const LARGEST_CV = 0.05;
/** With a smaller one, outliers included, no outlier is far from the others. */
const NEGLIGIBLE_CV = 0.01;
/** With fewer samples neither outliers nor their spread are meaningful. */
const FEWEST_SAMPLES = 20;

type Varying = Pick<MetricDefinition, 'variesBecause'>;

const notChecked = (detail: string): Judged => ({ passed: 'not checked', detail });

const known = <T>(values: readonly (T | null)[]): T[] => values.filter((value) => value !== null);

function clock(log: readonly GpuState[]): Judged {
  const clocks = known(log.map(({ smClockMhz }) => smClockMhz));
  if (clocks.length < 2) return notChecked('fewer than two readings under load');
  const low = Math.min(...clocks);
  const high = Math.max(...clocks);
  const passed = (high - low) / high <= CLOCK_DRIFT;
  return { passed, detail: `${low} to ${high} MHz in ${clocks.length} readings under load` };
}

function slowdown(log: readonly GpuState[]): Judged {
  const masks = known(log.map(({ eventReasons }) => eventReasons));
  if (masks.length === 0) return notChecked('NVML gives no clock event reasons');
  const seen = slowdowns(masks);
  return { passed: seen.length === 0, detail: seen.join(', ') || `none in ${masks.length} readings` };
}

function performanceState(log: readonly GpuState[]): Judged {
  const states = known(log.map(({ performanceState: state }) => state));
  if (states.length === 0) return notChecked('NVML gives no performance state');
  const slowest = Math.max(...states);
  return { passed: slowest <= SLOWEST_STATE, detail: `P${slowest} at the slowest of ${states.length} readings` };
}

/** `own`: other processes of this run, which do not count as foreign. */
function foreignProcess(log: readonly GpuState[], own: readonly number[]): Judged {
  const lists = known(log.map(({ processes }) => processes));
  if (lists.length === 0 || !lists.every((list) => list.some(({ pid }) => pid === process.pid)))
    return notChecked('NVML does not list this process by its own PID');
  const foreign = [...new Set(lists.flatMap(holders))].filter((pid) => pid !== process.pid && !own.includes(pid));
  return { passed: foreign.length === 0, detail: foreign.length > 0 ? `PID ${foreign.join(', ')}` : 'none' };
}

function outliers({ outliers: { mild, severe }, count, cv }: Stats): Judged {
  if (count < FEWEST_SAMPLES) return notChecked(`fewer than ${FEWEST_SAMPLES} samples`);
  const share = (mild + severe) / count;
  const detail = `${percent(share)} of ${count} samples`;
  if (share > MOST_OUTLIERS && cv !== null && cv <= NEGLIGIBLE_CV)
    return notChecked(`${detail}, but the coefficient of variation is ${percent(cv)}`);
  return { passed: share <= MOST_OUTLIERS, detail };
}

function variation({ cv, count, min }: Stats, { variesBecause }: Varying): Judged {
  if (variesBecause !== undefined) return notChecked(variesBecause);
  if (count < FEWEST_SAMPLES) return notChecked(`fewer than ${FEWEST_SAMPLES} samples`);
  if (cv === null || min <= 0) return notChecked('the values are not all above 0');
  return { passed: cv <= LARGEST_CV, detail: percent(cv) };
}

const ofReadings: readonly [name: string, judge: (log: readonly GpuState[], own: readonly number[]) => Judged][] = [
  ['SM clock steady', clock],
  ['no slowdown', slowdown],
  ['performance state', performanceState],
  ['no foreign GPU process', foreignProcess],
];
const ofSamples: readonly [name: string, judge: (stats: Stats, varying: Varying) => Judged][] = [
  ['outliers at most 5 %', outliers],
  ['coefficient of variation at most 5 %', variation],
];

export const SCHEDULING_CHECK = 'the context spins while it waits';

export function judgeScheduling(scheduling: Scheduling | null): Judged {
  if (scheduling === null) return notChecked('cuCtxGetFlags did not report it');
  const whose = 'the host program created the context with this setting: set CU_CTX_SCHED_SPIN there';
  return { passed: scheduling === 'spin', detail: scheduling === 'spin' ? 'spin' : `${scheduling}; ${whose}` };
}

/** Names of the health checks; `--strict` invalidates a metric that fails one. */
export const healthCheckNames: readonly string[] = [
  ...[...ofReadings, ...ofSamples].map(([name]) => name),
  SCHEDULING_CHECK,
];

/**
 * `log`: readings after blocks, with the device under load; `stats`: of the samples behind the value; `own`: PIDs of
 * this run's other processes; `varying`: the metric.
 */
export function healthChecks(
  log: readonly GpuState[],
  stats: Stats | null,
  own: readonly number[] = [],
  varying: Varying = {},
): Check[] {
  return [
    ...(log.length === 0 ? [] : ofReadings.map(([name, judge]) => ({ name, ...judge(log, own) }))),
    ...(stats === null ? [] : ofSamples.map(([name, judge]) => ({ name, ...judge(stats, varying) }))),
  ];
}

/** Whether NVML lists this process by its own PID; undefined if that was not checked. */
export function ownPidMapping(log: readonly GpuState[]): 'same' | 'none' | undefined {
  if (log.length === 0) return undefined;
  const lists = known(log.map(({ processes }) => processes));
  return lists.length > 0 && lists.every((list) => list.some(({ pid }) => pid === process.pid)) ? 'same' : 'none';
}

export function healthDetails(log: readonly GpuState[]): Record<string, unknown> | undefined {
  const last = log.at(-1);
  if (!last) return undefined;
  const { smClockMhz, memoryClockMhz, temperatureC, powerW, performanceState: state } = last;
  return { readings: log.length, last: { smClockMhz, memoryClockMhz, temperatureC, powerW, performanceState: state } };
}
