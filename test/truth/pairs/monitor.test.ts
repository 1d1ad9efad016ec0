/** The monitor's CSV compared with the simulated card's settings, and with the work done on it. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Monitor, startMonitor } from '../../../lib/monitor/monitor.js';
import type { GpuSample } from '../../../lib/monitor/sample.js';
import { emptyFolder, simulatedFolder } from '../../cli/command.js';
import { WAIT_MS } from '../../limits.js';
import { ownRegion } from '../../temporary.js';

const MIB = 2 ** 20;
/** 0.2 GB/s, so that copies of megabytes last as long as NVML's window. */
const RATE_MB_S = 200;
const card = [
  ...['init_ms=1', 'context_ms=1', 'context_mib=500', 'devices=2', 'process_utilization=1'],
  ...['pcie_gbs=0.2', 'link_gbs=0.2', 'memory_percent=7', 'power_w@0=345.5', 'power_w@1=70'],
  ...['temperature_c@0=61', 'temperature_c@1=38', 'event_reasons@0=36', 'event_reasons@1=0'],
].join(',');
// NVML is loaded once per process: a file has one card, which each test leaves idle.
const GVB_SIM = `region=${ownRegion('monitor')},${card}`;
const program = join(emptyFolder(), 'monitored-client');

beforeAll(() => {
  vi.stubEnv('GVB_SIM', GVB_SIM);
  const source = fileURLToPath(new URL('../../native/fixtures/monitored-client.c', import.meta.url));
  execFileSync('cc', ['-o', program, source, '-ldl']);
});

interface Client {
  pid: number;
  /** Resolves when all its work is queued. */
  queue: (command: 'kernels' | 'copies' | 'links', count: number, amount: number) => Promise<void>;
  end: () => Promise<void>;
}

async function client(bytes = 2 * MIB): Promise<Client> {
  const child: ChildProcessWithoutNullStreams = spawn(program, [String(bytes)], {
    env: { LD_LIBRARY_PATH: simulatedFolder, GVB_SIM },
    timeout: WAIT_MS,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.pipe(process.stderr);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const said = async (text: string) => expect((await lines.next()).value).toBe(text);
  await said('held');
  return {
    pid: child.pid as number,
    queue: async (command, count, amount) => {
      child.stdin.write(`${command} ${count} ${amount}\n`);
      await said(command);
    },
    end: async () => {
      child.stdin.end();
      await gone;
    },
  };
}

type Row = Record<string, string>;

const rowsIn = (file: string): Row[] => parse(readFileSync(file, 'utf8'), { columns: true });

interface Watched {
  monitor: Monitor;
  samples: GpuSample[];
  /** The rows of the CSV, once the monitor has ended. */
  rows: () => Promise<Row[]>;
}

async function watched(device: number | number[] = 0): Promise<Watched> {
  const csv = join(emptyFolder(), 'gpu.csv');
  const samples: GpuSample[] = [];
  const monitor = await startMonitor({
    simulate: true,
    device,
    csv,
    onSample: (sample) => void samples.push(sample),
  });
  return {
    monitor,
    samples,
    rows: async () => {
      await monitor.stop();
      return rowsIn(csv);
    },
  };
}

const cards = (rows: readonly Row[]): Row[] => rows.filter(({ pid }) => pid === '');
const numbers = (rows: readonly Row[], column: string): number[] =>
  rows.map((row) => row[column]).filter((text) => text !== '').map(Number); // prettier-ignore
const has = (samples: readonly GpuSample[], count: number) =>
  expect.poll(() => samples.length).toBeGreaterThanOrEqual(count);

describe('the monitor', () => {
  it("writes each card's settings in the units named by the columns", async () => {
    const { rows, samples } = await watched([0, 1]);
    await has(samples, 6);
    const written = await rows();
    const of = (gpu: string) => written.filter((row) => row.gpu_index === gpu);
    for (const row of of('0'))
      expect(row).toMatchObject({
        ...{ simulated: 'true', pid: '', power_w: '345.5', temperature_c: '61', memory_percent: '7' },
        // 67 TFLOPS of 132 multiprocessors, and 4800 GB/s over 6144 bits.
        ...{ sm_clock_mhz: '1982', memory_clock_mhz: '3125', memory_total_mib: '143771', memory_used_mib: '2' },
        clock_reasons: 'power cap; thermal slowdown (software)',
      });
    for (const row of of('1'))
      expect(row).toMatchObject({ power_w: '70', temperature_c: '38', clock_reasons: 'none', gpu_percent: '0' });
    expect(new Set(written.map((row) => row.gpu_uuid)).size).toBe(2);
  });

  it('writes an energy that equals the power over the time', async () => {
    const { rows, samples } = await watched([0, 1]);
    await has(samples, 30);
    const written = await rows();
    for (const [gpu, watts] of [['0', 345.5], ['1', 70]] as const) {
      const own = written.filter((row) => row.gpu_index === gpu);
      const [energy, time] = [numbers(own, 'energy_j'), numbers(own, 'time_s')];
      const [first, last] = [0, energy.length - 2];
      const joules = (energy[last] as number) - (energy[first] as number);
      // The counter was read between the stamp of its sample and that of the next one.
      const least = (time[last] as number) - (time[first + 1] as number);
      const most = (time[last + 1] as number) - (time[first] as number);
      expect(joules).toBeGreaterThanOrEqual(watts * least - 0.001);
      expect(joules).toBeLessThanOrEqual(watts * most + 0.001);
      expect(energy).toEqual([...energy].sort((a, b) => a - b));
    }
  }); // prettier-ignore

  it('shows the allocations of each of two processes', async () => {
    const { rows, samples } = await watched();
    await has(samples, 2);
    const [a, b] = [await client(100 * MIB), await client(300 * MIB)];
    await expect.poll(() => samples.at(-1)?.processes.length).toBe(2);
    const both = samples.length;
    await has(samples, both + 2);
    await b.end();
    await expect.poll(() => samples.at(-1)?.processes.length).toBe(1);
    await a.end();
    const written = await rows();
    // 500 MiB for each context, and 2 for the card itself.
    expect(numbers(cards(written).slice(0, 2), 'memory_used_mib')).toEqual([2, 2]);
    expect(Math.max(...numbers(cards(written), 'memory_used_mib'))).toBe(2 + 600 + 800);
    const memoryOf = ({ pid }: Client) => new Set(numbers(written.filter((row) => row.pid === String(pid)), 'memory_used_mib')); // prettier-ignore
    expect(memoryOf(a)).toContain(600);
    expect(memoryOf(b)).toContain(800);
    expect(Math.max(...memoryOf(a), ...memoryOf(b))).toBe(800);
    const times = numbers(written, 'time_s');
    expect(times).toEqual([...times].sort((x, y) => x - y));
  });

  it('shows two processes sharing the card’s time', async () => {
    const [a, b] = [await client(), await client()];
    const { rows, samples } = await watched();
    // Together 6 s of work, in turns: neither finishes before the other.
    await Promise.all([a.queue('kernels', 60, 50e6), b.queue('kernels', 60, 50e6)]);
    const shares = (pid: number) =>
      samples
        .flatMap(({ processes }) => processes.filter((each) => each.pid === pid))
        .map(({ gpuPercent }) => gpuPercent);
    // The first sample of each may cover a period in which only one had begun.
    await expect.poll(() => Math.min(...[a, b].map(({ pid }) => shares(pid).filter((share) => share !== null).length))).toBeGreaterThan(8); // prettier-ignore
    const written = await rows();
    for (const { pid } of [a, b]) {
      const own = numbers(written.filter((row) => row.pid === String(pid)), 'gpu_percent').slice(2); // prettier-ignore
      const middle = own.sort((x, y) => x - y)[Math.floor(own.length / 2)];
      expect(middle).toBeGreaterThanOrEqual(46);
      expect(middle).toBeLessThanOrEqual(54);
    }
    expect(numbers(cards(written), 'gpu_percent').at(-1)).toBe(100);
    await Promise.all([a.end(), b.end()]);
  });

  it('writes the rate of copies over PCIe, in their direction', async () => {
    const own = await client();
    const { rows, samples } = await watched();
    await has(samples, 1);
    // 4 MiB take 21 ms: 160 of them 3.4 s.
    await own.queue('copies', 160, 4 * MIB);
    await expect.poll(() => samples.filter(({ pcieRxMbS }) => (pcieRxMbS ?? 0) > 0.9 * RATE_MB_S).length).toBeGreaterThan(2); // prettier-ignore
    const written = cards(await rows());
    const received = numbers(written, 'pcie_rx_mb_s');
    expect(Math.max(...received)).toBeLessThan(1.001 * RATE_MB_S);
    expect(Math.max(...received)).toBeGreaterThan(0.999 * RATE_MB_S);
    expect(new Set(numbers(written, 'pcie_tx_mb_s'))).toEqual(new Set([0]));
    await own.end();
  });

  it('writes all bytes that went over the links, on either side', async () => {
    const own = await client();
    const { rows, samples, monitor } = await watched();
    await has(samples, 2);
    const [count, bytes] = [40, 2 * MIB];
    await own.queue('links', count, bytes);
    const sent = () => samples.reduce((sum, { nvlinkTxMbS }) => Math.max(sum, nvlinkTxMbS ?? 0), 0);
    await expect.poll(sent).toBeGreaterThan(0.5 * RATE_MB_S);
    await expect.poll(() => samples.at(-1)?.nvlinkTxMbS).toBe(0);
    const written = cards(await rows());
    expect(written[0]?.nvlink_tx_mb_s).toBe('');
    // A rate covers the time since the previous row.
    const moved = written.slice(1).reduce((sum, row, i) => {
      const seconds = Number(row.time_s) - Number(written[i]?.time_s);
      return sum + Number(row.nvlink_tx_mb_s) * 1e6 * seconds;
    }, 0);
    expect(moved / (count * bytes)).toBeGreaterThan(0.85);
    expect(moved / (count * bytes)).toBeLessThan(1.15);
    expect(new Set(numbers(written, 'nvlink_rx_mb_s'))).toEqual(new Set([0]));
    expect((await monitor.stop()).unsupported).toEqual([]);
    await own.end();
  });
});
