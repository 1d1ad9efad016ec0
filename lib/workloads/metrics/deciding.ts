/** The number of a run that decides whether runs vary, and which run the charts show. */
import { median } from '../../stats/median.js';
import type { MeasuredRun } from '../program/measured-run.js';
import type { Workload } from '../workload-type.js';

export const decidingKey = ({ load, stopAfterSeconds }: Workload): 'wall' | 'ready' | 'latency' =>
  load ? 'latency' : stopAfterSeconds === null ? 'wall' : 'ready';

/** The number of a run by `decidingKey`, in seconds; null if the run has none. */
export function decidingValue(workload: Workload, { wallSeconds, readySeconds, load }: MeasuredRun): number | null {
  const key = decidingKey(workload);
  if (key !== 'latency') return key === 'wall' ? wallSeconds : readySeconds;
  const latency = load?.readings.latency;
  return latency && 'value' in latency ? latency.value : null;
}

/** The run whose deciding number is nearest to the median; null if no run has one. */
export function representative(
  workload: Workload,
  runs: readonly MeasuredRun[],
): { run: MeasuredRun; index: number } | null {
  const known = runs.flatMap((run, index) => {
    const value = decidingValue(workload, run);
    return value === null ? [] : [{ run, index, value }];
  });
  if (known.length === 0) return null;
  const { value: middle } = median(known.map(({ value }) => value));
  return known.reduce((best, each) => (Math.abs(each.value - middle) < Math.abs(best.value - middle) ? each : best));
}
