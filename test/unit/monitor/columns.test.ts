import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { columnNames, headerLine, sampleLines } from '../../../lib/monitor/columns.js';
import { missingField, missingText } from '../../../lib/monitor/missing.js';
import { sampleOf } from '../../../lib/monitor/sample.js';
import { cardSample, gpuSample } from './fixtures.js';

const rowsOf = (...samples: Parameters<typeof sampleLines>[0]) =>
  parse<Record<string, string>>(headerLine() + sampleLines(samples), { columns: true });

describe('the rows of a sample', () => {
  it('are one for the card and one for each process, with the card’s time', () => {
    const processes = [
      { pid: 11, gpuPercent: 40, memoryPercent: 3, memoryUsedMib: 600.5, mpsClient: false },
      { pid: 12, gpuPercent: null, memoryPercent: null, memoryUsedMib: null, mpsClient: null },
    ];
    const rows = rowsOf(gpuSample({ timeS: 1.25, processes }));
    expect(rows.map((row) => [row.pid, row.gpu_percent, row.memory_percent, row.memory_used_mib])).toEqual([
      ['', '50', '10', '1024'],
      ['11', '40', '3', '600.5'],
      ['12', '', '', ''],
    ]);
    expect(new Set(rows.map((row) => row.time_s))).toEqual(new Set(['1.25']));
    // Values of the card are only in its row.
    for (const row of rows.slice(1))
      for (const name of ['power_w', 'energy_j', 'temperature_c', 'clock_reasons', 'memory_total_mib'])
        expect(row[name]).toBe('');
  });

  it('have empty cells for missing values, and a 0 only for a 0', () => {
    const nothing = Object.fromEntries(
      Object.entries(cardSample()).map(([name, value]) => [
        name,
        name === 'atNs' ? value : name === 'processes' ? [] : null,
      ]),
    ) as unknown as ReturnType<typeof cardSample>;
    const gpu = { index: 0, uuid: 'GPU-1', name: 'x', simulated: false };
    const [row = {}] = rowsOf(sampleOf(nothing, gpu, { ns: 0, unixMs: 0 }));
    const filled = Object.entries(row).filter(([, cell]) => cell !== '');
    expect(filled.map(([name]) => name)).toEqual(columnNames.slice(0, 6));
    const [zero = {}] = rowsOf(gpuSample({ gpuPercent: 0, pcieRxMbS: 0, clockReasons: [] }));
    expect([zero.gpu_percent, zero.pcie_rx_mb_s, zero.clock_reasons]).toEqual(['0', '0', 'none']);
  });

  it('are complete lines for any name of the card', () => {
    const text = sampleLines([gpuSample({ uuid: '=1+1\r\n"GPU"\u0000' })]);
    expect(text.match(/\r\n/g)).toHaveLength(1);
    expect(text.endsWith('\r\n')).toBe(true);
    const [row = {}] = parse<Record<string, string>>(headerLine() + text, { columns: true });
    expect(row.gpu_uuid).toBe('\'=1+1 "GPU"');
  });

  it('name their units', () => {
    const without = ['gpu_index', 'gpu_uuid', 'simulated', 'pid', 'clock_reasons'];
    const units = /_(s|utc|ns|percent|mib|w|j|c|mhz|mb_s)$/;
    expect(columnNames.filter((name) => !units.test(name))).toEqual(without);
  });
});

describe('a sample', () => {
  it('is in the units that its fields name', () => {
    const gpu = { index: 3, uuid: 'GPU-3', name: 'x', simulated: true };
    const start = { ns: 1e9, unixMs: Date.UTC(2026, 0, 2) };
    const sample = sampleOf(cardSample({ atNs: 3.5e9 }), gpu, start);
    expect(sample).toEqual({
      ...{ timeS: 2.5, time: '2026-01-02T00:00:02.500Z', monotonicNs: 3.5e9, gpu: 3, uuid: 'GPU-3', simulated: true },
      ...{ gpuPercent: 50, memoryPercent: 10, memoryUsedMib: 1024, memoryTotalMib: 4096, powerW: 100.5, energyJ: 7.25 },
      ...{ temperatureC: 40, smClockMhz: 1980, memoryClockMhz: 2619, clockReasons: ['power cap', '0x200'] },
      ...{ pcieRxMbS: 12.5, pcieTxMbS: 0, nvlinkRxMbS: 1000, nvlinkTxMbS: null },
      processes: [{ pid: 7, gpuPercent: 30, memoryPercent: 2, memoryUsedMib: 512, mpsClient: false }],
    });
  });
});

describe('a missing field', () => {
  it("names its columns, and NVML's error", () => {
    const value = { call: 'nvmlDeviceGetFieldValues (NVLink)', reason: 'it says: Not Supported', samples: 4 };
    const field = missingField(2, value);
    expect(field).toEqual({
      ...{ gpu: 2, rows: 'card', columns: ['nvlink_rx_mb_s', 'nvlink_tx_mb_s'] },
      ...{ reason: 'it says: Not Supported', samples: 4 },
    });
    expect(missingText(field)).toBe('GPU 2: nvlink_rx_mb_s and nvlink_tx_mb_s are empty: it says: Not Supported.');
    const power = missingField(0, { call: 'nvmlDeviceGetPowerUsage', reason: 'x', samples: 1 });
    expect(missingText(power)).toBe('GPU 0: power_w is empty: x.');
    const process = missingField(0, { call: 'nvmlDeviceGetProcessUtilization', reason: 'x', samples: 1 });
    expect(missingText(process)).toMatch(
      /^GPU 0: gpu_percent and memory_percent are empty in the rows of processes: x/,
    );
    for (const { columns } of [field, power, process])
      for (const column of columns) expect(columnNames).toContain(column);
  });

  it('is an error if the call has no known column', () =>
    expect(() => missingField(0, { call: 'toString', reason: 'x', samples: 1 })).toThrow(
      /a column that toString fills/,
    ));
});
