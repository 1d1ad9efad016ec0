/** Samples of a GPU with a value in every field. */
import type { GpuSample } from '../../../lib/monitor/sample.js';
import type { CardSample } from '../../../lib/native/addon-types.js';

const MIB = 2 ** 20;

export const cardSample = (change: Partial<CardSample> = {}): CardSample => ({
  ...{ atNs: 0, gpuPercent: 50, memoryPercent: 10, usedBytes: 1024 * MIB, totalBytes: 4096 * MIB },
  ...{ powerW: 100.5, energyJ: 7.25, temperatureC: 40, smClockMhz: 1980, memoryClockMhz: 2619 },
  ...{ pcieReceived: 12.5e6, pcieSent: 0, nvlinkReceived: 1e9, nvlinkSent: null, eventReasons: 0x204 },
  processes: [{ pid: 7, usedBytes: 512 * MIB, mpsClient: false, smPercent: 30, memoryPercent: 2 }],
  ...change,
});

export const gpuSample = (change: Partial<GpuSample> = {}): GpuSample => ({
  ...{ timeS: 0, time: '2026-01-02T00:00:00.000Z', monotonicNs: 0, gpu: 0, uuid: 'GPU-0', simulated: false },
  ...{ gpuPercent: 50, memoryPercent: 10, memoryUsedMib: 1024, memoryTotalMib: 4096, powerW: 100.5, energyJ: 7.25 },
  ...{ temperatureC: 40, smClockMhz: 1980, memoryClockMhz: 2619, clockReasons: [] },
  ...{ pcieRxMbS: 12.5, pcieTxMbS: 0, nvlinkRxMbS: 1000, nvlinkTxMbS: 5, processes: [] },
  ...change,
});
