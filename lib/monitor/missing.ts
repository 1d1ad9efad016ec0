/** Which columns of the CSV are empty, and why: by the call of NVML that did not answer. */
import type { MissingValue } from '../native/addon-types.js';

/** A value that NVML did not give for a GPU. */
export interface MissingField {
  /** NVML's index. */
  gpu: number;
  /** Columns of the CSV; both if one call fills two. */
  columns: string[];
  /** Whether they are empty in the rows of the card or in those of its processes. */
  rows: 'card' | 'process';
  /** What NVML said, or why it was not asked. */
  reason: string;
  /** How many samples it is missing in. */
  samples: number;
}

const card = (...columns: string[]) => ({ rows: 'card' as const, columns });
const process = (...columns: string[]) => ({ rows: 'process' as const, columns });

const filled: Readonly<Record<string, Pick<MissingField, 'rows' | 'columns'>>> = {
  nvmlDeviceGetUtilizationRates: card('gpu_percent', 'memory_percent'),
  nvmlDeviceGetMemoryInfo: card('memory_used_mib', 'memory_total_mib'),
  nvmlDeviceGetPowerUsage: card('power_w'),
  nvmlDeviceGetTotalEnergyConsumption: card('energy_j'),
  nvmlDeviceGetTemperature: card('temperature_c'),
  'nvmlDeviceGetClockInfo (SM)': card('sm_clock_mhz'),
  'nvmlDeviceGetClockInfo (memory)': card('memory_clock_mhz'),
  'nvmlDeviceGetPcieThroughput (received)': card('pcie_rx_mb_s'),
  'nvmlDeviceGetPcieThroughput (sent)': card('pcie_tx_mb_s'),
  'nvmlDeviceGetFieldValues (NVLink)': card('nvlink_rx_mb_s', 'nvlink_tx_mb_s'),
  nvmlDeviceGetCurrentClocksThrottleReasons: card('clock_reasons'),
  nvmlDeviceGetComputeRunningProcesses: process('memory_used_mib'),
  nvmlDeviceGetProcessUtilization: process('gpu_percent', 'memory_percent'),
};

/** Throws for a call that fills no column: the list above is then not complete. */
export function missingField(gpu: number, { call, reason, samples }: MissingValue): MissingField {
  const field = Object.hasOwn(filled, call) ? filled[call] : undefined;
  if (!field) throw new Error(`Expected a column that ${call} fills but there is none.`);
  return { gpu, ...field, columns: [...field.columns], reason, samples };
}

/** `GPU 0: nvlink_rx_mb_s and nvlink_tx_mb_s are empty: …` */
export function missingText({ gpu, columns, rows, reason }: MissingField): string {
  const of = rows === 'process' ? ' in the rows of processes' : '';
  return `GPU ${gpu}: ${columns.join(' and ')} ${columns.length > 1 ? 'are' : 'is'} empty${of}: ${reason}.`;
}
