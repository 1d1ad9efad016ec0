/** The monitor's CSV: a row for the card and one for each of its processes, which has a PID. */
import { stringify } from 'csv-stringify/sync';
import { plain } from '../results/text/plain.js';
import type { GpuProcessSample, GpuSample } from './sample.js';

type Value = string | number | null;

interface Column {
  /** Name of the column, with its unit. */
  name: string;
  card: (sample: GpuSample) => Value;
  /** The value in the row of a process; without it the cell is empty. */
  process?: (process: GpuProcessSample) => Value;
}

const shared = (name: string, card: Column['card']): Column => ({ name, card });

/** Columns of every row: which card, and when. */
const identity: readonly Column[] = [
  shared('time_s', ({ timeS }) => timeS),
  shared('time_utc', ({ time }) => time),
  shared('monotonic_ns', ({ monotonicNs }) => monotonicNs),
  shared('gpu_index', ({ gpu }) => gpu),
  shared('gpu_uuid', ({ uuid }) => plain(uuid)),
  shared('simulated', ({ simulated }) => String(simulated)),
];

/** An empty cell means that NVML gave no value. If NVML names no reason for the clocks, the cell says `none`. */
const reasonsText = (reasons: readonly string[] | null): string | null =>
  reasons === null ? null : reasons.length === 0 ? 'none' : reasons.join('; ');

const rounded = (value: number | null): number | null => (value === null ? null : Math.round(1e3 * value) / 1e3);

const readings: readonly Column[] = [
  { name: 'pid', card: () => null, process: ({ pid }) => pid },
  { name: 'gpu_percent', card: ({ gpuPercent }) => gpuPercent, process: ({ gpuPercent }) => gpuPercent },
  {
    name: 'memory_percent',
    card: ({ memoryPercent }) => memoryPercent,
    process: ({ memoryPercent }) => memoryPercent,
  },
  {
    name: 'memory_used_mib',
    card: ({ memoryUsedMib }) => rounded(memoryUsedMib),
    process: ({ memoryUsedMib }) => rounded(memoryUsedMib),
  },
  { name: 'memory_total_mib', card: ({ memoryTotalMib }) => rounded(memoryTotalMib) },
  { name: 'power_w', card: ({ powerW }) => powerW },
  { name: 'energy_j', card: ({ energyJ }) => energyJ },
  { name: 'temperature_c', card: ({ temperatureC }) => temperatureC },
  { name: 'sm_clock_mhz', card: ({ smClockMhz }) => smClockMhz },
  { name: 'memory_clock_mhz', card: ({ memoryClockMhz }) => memoryClockMhz },
  { name: 'pcie_rx_mb_s', card: ({ pcieRxMbS }) => rounded(pcieRxMbS) },
  { name: 'pcie_tx_mb_s', card: ({ pcieTxMbS }) => rounded(pcieTxMbS) },
  { name: 'nvlink_rx_mb_s', card: ({ nvlinkRxMbS }) => rounded(nvlinkRxMbS) },
  { name: 'nvlink_tx_mb_s', card: ({ nvlinkTxMbS }) => rounded(nvlinkTxMbS) },
  { name: 'clock_reasons', card: ({ clockReasons }) => reasonsText(clockReasons) },
];

export const columnNames: readonly string[] = [...identity, ...readings].map(({ name }) => name);

const lines = (rows: readonly (readonly Value[])[]): string =>
  stringify(
    rows.map((row) => [...row]),
    { escape_formulas: true, record_delimiter: 'windows' },
  );

export const headerLine = (): string => lines([columnNames]);

/** Whole lines. */
export function sampleLines(samples: readonly GpuSample[]): string {
  return lines(
    samples.flatMap((sample) => {
      const which = identity.map(({ card }) => card(sample));
      return [
        [...which, ...readings.map(({ card }) => card(sample))],
        ...sample.processes.map((each) => [...which, ...readings.map(({ process }) => process?.(each) ?? null)]),
      ];
    }),
  );
}
