/** What exec takes from the monitor for one run: its window, its processes, its CSV, its charts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { GpuSample } from '../../../lib/monitor/sample.js';
import { timelineIn } from '../../../lib/monitor/stored-timeline.js';
import { loadAddon } from '../../../lib/native/load.js';
import { GpuRecord } from '../../../lib/workloads/round/gpu-record.js';
import type { ListedByNvml } from '../../../lib/workloads/program/listed-processes.js';
import { LOG_BYTES, RunLines } from '../../../lib/workloads/program/run-file.js';
import { phasesOf, withLoad } from '../../../lib/workloads/program/run-phases.js';
import { temporaryFolder } from '../../temporary.js';
import { gpuSample } from '../monitor/fixtures.js';

/** Now, of CLOCK_MONOTONIC and of CLOCK_MONOTONIC_RAW: of several readings the one that nothing came between. */
function now() {
  const readings = Array.from({ length: 20 }, () => {
    const [before, raw, after] = [process.hrtime.bigint(), loadAddon().now(), process.hrtime.bigint()];
    return { ns: Number(before), rawNs: raw, tookNs: Number(after - before) };
  });
  return readings.reduce((best, each) => (each.tookNs < best.tookNs ? each : best));
}
const { ns: startNs, rawNs: startRawNs } = now();
const at = (seconds: number) => startNs + seconds * 1e9;
/** A sample so many seconds after the start. */
const sample = (seconds: number, change: Partial<GpuSample> = {}): GpuSample =>
  gpuSample({ timeS: 100 + seconds, monotonicNs: startRawNs + seconds * 1e9, energyJ: 50 * seconds, ...change });
const process_ = (pid: number, memoryUsedMib: number | null, mpsClient: boolean | null = false) => ({
  pid,
  gpuPercent: 5,
  memoryPercent: 1,
  memoryUsedMib,
  mpsClient,
});
const MIB = 2 ** 20;

interface Running {
  record: GpuRecord;
  csv: string;
}

function begun(ours = new Set<number>(), path = join(temporaryFolder(), 'gpu.csv')): Running {
  return { record: new GpuRecord(ours, 100, new RunLines(path), 'nothing was read'), csv: path };
}

/** From 0 s to 4 s, with the samples of the seconds around it. */
async function complete({ record }: Running, samples: readonly GpuSample[], pids: number[] = []) {
  const [before, ...others] = samples;
  // Before it is known that the program began.
  if (before) record.add(before);
  record.begin(at(0));
  record.end(at(4));
  for (const each of others) record.add(each);
  const phases = [{ name: 'run', fromNs: at(0), toNs: at(4) }];
  record.close({ phases, pids: new Set(pids) });
  return { note: await record.complete(), seen: record.seen };
}

describe('the record of a run', () => {
  it('has the samples of the run alone, in its own time', async () => {
    const running = begun();
    const { note, seen } = await complete(
      running,
      [-1, 1, 2, 3, 5].map((s) => sample(s)),
    );
    const rows: Record<string, string>[] = parse(readFileSync(running.csv, 'utf8'), { columns: true });
    expect(rows.map(({ time_s: time }) => Math.round(Number(time)))).toEqual([1, 2, 3]);
    expect([note, seen.samples]).toEqual([null, 3]);
    expect(running.record.isComplete).toBe(true);
  });

  it('has the energy between the samples around it', async () => {
    const { seen } = await complete(
      begun(),
      [-1, 1, 2, 3, 5].map((s) => sample(s)),
    );
    expect(seen.energy).toEqual({ joules: expect.closeTo(200, 1), by: 'counter' });
  });

  it('tells its processes from those of others, and from those of earlier runs', async () => {
    const ours = new Set([7]);
    const processes = (...list: ReturnType<typeof process_>[]) => ({ processes: list });
    const { seen } = await complete(
      begun(ours),
      [
        sample(-1, processes(process_(99, 1))),
        sample(1, processes(process_(7, 5), process_(8, 100))),
        // NVML still lists what has ended: no process has this number.
        sample(2, processes(process_(8, 300), process_(9, 50), process_(2 ** 31, null))),
        // What starts on another GPU is listed for a moment, and holds nothing.
        sample(3, processes(process_(8, null), process_(66, 1), process_(67, 0))),
      ],
      [8, 9],
    );
    expect(seen).toMatchObject({ programBytes: 350 * MIB, foreignPids: [66] });
    expect([...ours]).toEqual([7, 8, 9]);
  });

  it('names the slowdowns of its samples', async () => {
    const reasons = (names: string[] | null) => ({ clockReasons: names });
    const slow = await complete(begun(), [
      sample(-1, reasons(['power brake'])),
      sample(1, reasons(['idle', 'power cap'])),
    ]);
    expect(slow.seen.slowdowns).toEqual(['power cap']);
    const unknown = await complete(begun(), [sample(-1), sample(1, reasons(null))]);
    expect(unknown.seen.slowdowns).toBeNull();
  });

  it('gives the PIDs of every sample to whoever asks, and nothing before it began', async () => {
    const { record } = begun();
    const seen: (readonly number[])[] = [];
    record.onProcesses = (pids) => seen.push(pids);
    await complete({ record, csv: '' }, [sample(-1, { processes: [process_(1, 1)] }), sample(1, { processes: [process_(2, 1)] })]); // prettier-ignore
    expect(seen).toEqual([[2]]);
  });

  it('knows which processes NVML ever listed as clients of MPS, and how often the others', async () => {
    const { record } = begun();
    const rows = [
      // Before the run.
      sample(-1, { processes: [process_(1, 1, true)] }),
      sample(1, { processes: [process_(2, 1, false), process_(3, 1, false), process_(4, 1, null)] }),
      sample(2, { processes: [process_(2, 1, true), process_(3, 1, false)] }),
      sample(3, { processes: [process_(2, 1, false)] }),
    ];
    await complete({ record, csv: '' }, rows);
    const { clients, others } = (await record.listed()) as ListedByNvml;
    expect([[...clients], [...others]]).toEqual([[2], [[3, 2]]]);
  });

  it('asks for what was sampled so far before it says what NVML listed', async () => {
    const early = sample(1, { processes: [process_(2, 1, true)] });
    const record: GpuRecord = new GpuRecord(new Set(), 100, null, '', () => Promise.resolve(record.add(early)));
    record.begin(at(0));
    expect([...((await record.listed())?.clients ?? [])]).toEqual([2]);
    const none = new GpuRecord(new Set(), 100, null, 'there is no NVML');
    expect(await none.listed()).toBeNull();
  });

  it('keeps fewer samples of a long run, and its chart says how far they are apart', async () => {
    const { record } = begun();
    record.begin(at(0));
    const count = 30_000;
    for (let i = 0; i < count; i++) record.add(sample(i / 10, { gpuPercent: i < count / 2 ? 0 : 100 }));
    record.end(at(count / 10));
    record.close({ phases: [{ name: 'run', fromNs: at(0), toNs: at(count / 10) }], pids: new Set() });
    await record.complete();
    expect(record.seen.samples).toBe(15_000);
    const { timeline } = record.seen;
    expect(timeline?.sampledEveryMs).toBe(200);
    expect(timeline?.timeS.length).toBeLessThanOrEqual(241);
    expect(timelineIn(timeline)?.summaries?.[0]).toMatchObject({ samples: 15_000, gpuPercent: expect.closeTo(50, 0) });
  });

  it('says why there is nothing where there was no monitor', async () => {
    const { seen } = await complete(begun(), []);
    expect(seen).toMatchObject({ samples: 0, timeline: null, programBytes: null });
    const { record } = begun();
    await record.complete();
    expect(record.seen.energy).toEqual({ missing: 'nothing was read' });
  });

  it('has a CSV that is bounded by whole lines', async () => {
    const path = join(temporaryFolder(), 'lines');
    const lines = new RunLines(path);
    const line = `${'x'.repeat(2 ** 20 - 2)}\n`;
    for (let i = 0; i < 20; i++) lines.write(line);
    expect(await lines.close()).toBe(`'${path}' holds the first 16 MiB of ${20 * line.length} bytes`);
    const kept = readFileSync(path, 'utf8');
    expect(kept.length).toBe(Math.floor(LOG_BYTES / line.length) * line.length);
  });
});

describe('the phases of a run', () => {
  const moments = { fromNs: 0, readyNs: null, stoppedNs: null };
  const names = (phases: { name: string; fromNs: number; toNs: number }[]) =>
    phases.map(({ name, fromNs, toNs }) => [name, fromNs, toNs]);
  const load = { name: 'load', fromNs: 4e9, toNs: 6e9 };

  it.each([
    ['one that ends by itself', moments, null, [['run', 0, 9e9]]],
    ['one that never began', { ...moments, fromNs: null }, null, []],
    [
      'one that is ready',
      { ...moments, readyNs: 3e9 },
      null,
      [
        ['start', 0, 3e9],
        ['ready', 3e9, 9e9],
      ],
    ],
    [
      'one that is stopped',
      { ...moments, readyNs: 3e9, stoppedNs: 8e9 },
      null,
      [
        ['start', 0, 3e9],
        ['ready', 3e9, 8e9],
        ['end', 8e9, 9e9],
      ],
    ],
    [
      'one that stays up after its load',
      { ...moments, readyNs: 3e9, stoppedNs: 8e9 },
      load,
      [
        ['start', 0, 3e9],
        ['ready', 3e9, 4e9],
        ['load', 4e9, 6e9],
        ['idle', 6e9, 8e9],
        ['end', 8e9, 9e9],
      ],
    ],
    [
      'one that dies under its load',
      { ...moments, readyNs: 4e9 },
      { ...load, toNs: 12e9 },
      [
        ['start', 0, 4e9],
        ['load', 4e9, 9e9],
      ],
    ],
  ] as const)('are those of %s', (_, given, loaded, phases) => {
    expect(names(withLoad(phasesOf(given, 9e9), loaded, 2))).toEqual(phases);
  });

  it('have no idle one without stopAfter, however long a busy machine takes to stop the program', () => {
    const phases = phasesOf({ ...moments, readyNs: 3e9, stoppedNs: 8e9 }, 9e9);
    for (const stopAfter of [0, null])
      expect(names(withLoad(phases, load, stopAfter)).map(([name]) => name)).toEqual(['start', 'ready', 'load', 'end']);
  });
});

describe('a stored timeline', () => {
  const hostile = [null, 1, {}, { timeS: 'x' }, { timeS: [1], gpuPercent: [] }];
  it.each(hostile)('is none: %j', (found) => expect(timelineIn(found)).toBeNull());
});
