import { execFileSync, spawnSync } from 'node:child_process';
import { openSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { columnNames } from '../../lib/monitor/columns.js';
import type { GpuSample } from '../../lib/monitor/sample.js';
import { passing } from '../waiting.js';
import { command, emptyFolder, hasDriver, main, processesOf, type Running, start } from './command.js';
import { fileSystem, fullFolder } from './file-system.js';

const watch = ['monitor', '--simulate'];
const inFolder = () => join(emptyFolder(), 'gpu.csv');

/** The escape sequence with which the live table replaces its contents. */
const ESC = '\u001b';
const REPLACED = new RegExp(`${ESC}\\[\\d+A\\r${ESC}\\[J`);

type Row = Record<string, string>;

/** Throws if a line has a wrong number of cells, or is truncated. */
function rowsIn(file: string): Row[] {
  const text = readFileSync(file, 'utf8');
  expect(text.endsWith('\r\n')).toBe(true);
  return parse(text, { columns: true });
}

const hasLines = (file: string, count: number) =>
  passing(() => expect(readFileSync(file, 'utf8').split('\n').length).toBeGreaterThan(count));
const nobodyLeft = ({ mark }: Running) => passing(() => expect(processesOf(mark)).toEqual([]));

describe('monitor', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends with a complete CSV on %s', async (signal) => {
    const csv = inFolder();
    const run = start([...watch, '--csv', csv]);
    await hasLines(csv, 3);
    run.child.kill(signal);
    const { code, stderr } = await run.done;
    expect(code).toBe(0);
    const rows = rowsIn(csv);
    expect(Object.keys(rows[0] ?? {})).toEqual(columnNames);
    expect(stderr).toMatch(
      new RegExp(`^${rows.length} samples of GPU 0 in [\\d.]+ s, every 100 ms\\. Written to `, 'm'),
    );
    await nobodyLeft(run);
  });

  it('exits as interrupted before its duration is over, with a complete CSV', async () => {
    const csv = inFolder();
    const run = start([...watch, '--csv', csv, '--duration', '10min']);
    await hasLines(csv, 3);
    run.child.kill('SIGINT');
    expect((await run.done).code).toBe(130);
    expect(rowsIn(csv).length).toBeGreaterThan(1);
  });

  it('leaves only complete lines when it is killed', async () => {
    const csv = inFolder();
    const run = start([...watch, '--csv', csv, '--interval', '10ms']);
    await hasLines(csv, 20);
    run.child.kill('SIGKILL');
    await run.done;
    expect(rowsIn(csv).length).toBeGreaterThan(10);
    await nobodyLeft(run);
  });

  it('ends after its duration, with samples on the grid of its interval', async () => {
    const csv = inFolder();
    const { code, stderr } = await command([...watch, '--csv', csv, '--duration', '1s']);
    expect(code).toBe(0);
    const rows = rowsIn(csv);
    const times = rows.map((row) => Number(row.time_s));
    expect(times.at(-1)).toBeLessThan(60);
    const since = times.map((time) => time - (times[0] as number));
    // A busy machine may make a sample late, but it is never early, and there are never two for one interval.
    const places = since.map((seconds) => Math.floor(seconds / 0.1 + 1e-3));
    expect(new Set(places).size).toBe(places.length);
    expect(rows.map((row) => row.time_utc)).toEqual(rows.map((row) => row.time_utc).sort());
    const missed = Number(/warning: (\d+) intervals have no sample/.exec(stderr)?.[1] ?? 0);
    expect(rows.length + missed).toBeGreaterThanOrEqual((places.at(-1) as number) + 1);
  });

  it('counts intervals that are missed because reading the GPU takes too long, and stays on the grid', async () => {
    const csv = inFolder();
    const sim = 'nvml_us=25000';
    const { code, stderr } = await command([...watch, '--csv', csv, '--duration', '2s'], {}, sim);
    expect(code).toBe(0);
    const rows = rowsIn(csv);
    const missed = Number(/^warning: (\d+) intervals have no sample: .* Use a longer --interval\.$/m.exec(stderr)?.[1]);
    // Fourteen calls of 25 ms: more than three intervals for each sample.
    expect(missed).toBeGreaterThanOrEqual(2 * (rows.length - 1));
    const first = Number(rows[0]?.time_s);
    const last = Math.floor((Number(rows.at(-1)?.time_s) - first) / 0.1 + 1e-3);
    expect(rows.length - 1 + missed).toBeGreaterThanOrEqual(last);
  });

  it('reports each field that NVML lacks once, and leaves its cells empty', async () => {
    const csv = inFolder();
    const sim = 'fail=nvmlDeviceGetFieldValues:3@1+nvmlDeviceGetTemperature:999@1+nvmlDeviceGetPowerUsage:15@3';
    const run = start([...watch, '--csv', csv], {}, sim);
    // The header, and three samples: the third is the first one without power.
    await hasLines(csv, 4);
    run.child.kill('SIGINT');
    const { stderr } = await run.done;
    const warnings = stderr.match(/^warning: GPU.*$/gm)?.sort();
    expect(warnings).toEqual([
      'warning: GPU 0: nvlink_rx_mb_s and nvlink_tx_mb_s are empty: nvmlDeviceGetFieldValues (NVLink) says: Not Supported.',
      'warning: GPU 0: temperature_c is empty: nvmlDeviceGetTemperature says: Unknown Error.',
    ]);
    expect(stderr).toMatch(/^warning: In \d+ samples: GPU 0: power_w is empty: nvmlDeviceGetPowerUsage says: /m);
    const rows = rowsIn(csv);
    for (const row of rows) expect([row.nvlink_rx_mb_s, row.nvlink_tx_mb_s, row.temperature_c]).toEqual(['', '', '']);
    expect(rows.map((row) => row.power_w)).toEqual(['120', '120', ...rows.slice(2).map(() => '')]);
  });

  it('drops PCIe traffic instead of the interval if NVML takes too long for it', async () => {
    const csv = inFolder();
    const { stderr } = await command([...watch, '--csv', csv, '--duration', '500ms', '--interval', '20ms']);
    expect(stderr).toMatch(/^warning: GPU 0: pcie_rx_mb_s is empty: reading it takes \d+ ms, more than half of the interval of 20 ms; use a longer interval\.$/m); // prettier-ignore
    const rows = rowsIn(csv);
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect([row.pcie_rx_mb_s, row.pcie_tx_mb_s]).toEqual(['', '']);
  });

  it('prints a line per second and GPU if stdout is no terminal, in ASCII if the locale is', async () => {
    const args = [...watch, '--duration', '1500ms', '--interval', '50ms'];
    const { stdout, stderr } = await command(args, { LC_ALL: 'C' }, 'devices=2,temperature_c=61');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('GPU 0: ')).length).toBeLessThanOrEqual(3);
    for (const gpu of [0, 1]) {
      const own = lines.filter((line) => line.includes(`GPU ${gpu}: `));
      expect(own[0]).toMatch(/^0\.\d s, GPU \d: GPU 0 %, memory 0 %, 2 \/ 143771 MiB, 120 W, 61 deg C, SM 1982 MHz/);
      expect(own.length).toBeGreaterThan(0);
    }
    expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
    expect(stderr).toMatch(/^SIMULATED GPU/m);
  });

  it('prints each sample as JSON, or the CSV, on request', async () => {
    const json = await command([...watch, '--duration', '500ms', '--json', '--device', '1'], {}, 'devices=2');
    const samples = json.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as GpuSample); // prettier-ignore
    expect(json.stderr).toContain(`${samples.length} samples of GPU 1`);
    for (const sample of samples) expect(sample).toMatchObject({ gpu: 1, simulated: true, powerW: 120, processes: [] });
    const csv = await command([...watch, '--duration', '500ms', '--csv', '-']);
    const rows = parse<Row>(csv.stdout, { columns: true });
    expect(csv.stderr).toContain(`${rows.length} samples of GPU 0`);
  });

  it('shows a table on a terminal, and updates it in place', async () => {
    const csv = inFolder();
    const args = [process.execPath, main, ...watch, '--duration', '1600ms', '--csv', csv].join(' ');
    const { status, stdout } = spawnSync('script', ['-qec', `stty cols 70 rows 30; ${args}`, '/dev/null'], {
      env: { PATH: process.env.PATH, HOME: emptyFolder(), LC_ALL: 'C.UTF-8', TERM: 'xterm', GVB_SIM: `region=tty-${process.pid}` },
      encoding: 'utf8',
    }); // prettier-ignore
    expect(status).toBe(0);
    const screens = stdout.split(REPLACED);
    expect(screens.length).toBeGreaterThan(1);
    for (const screen of screens) {
      expect(screen).toMatch(/^GPU +GPU % +/m);
      const rows = screen.split('\r\n').filter((line) => /^GPU +GPU|^ +0 /.test(line));
      expect(rows).toHaveLength(2);
      for (const row of rows) expect(row.length).toBeLessThanOrEqual(70);
    }
    expect(screens[0]).toMatch(/^SIMULATED GPU/);
    expect(rowsIn(csv).length).toBeGreaterThan(1);
  });
});

/** Enough space for some hundred rows. */
const small = fileSystem('size=32k');
const full = fullFolder();

describe('monitor refuses or reports', () => {
  const refusal = async (args: readonly string[]) => {
    const { code, stderr, stdout } = await command([...watch, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };

  it.each([
    [['--interval', '100'], /Expected --interval to be a duration with its unit, .* but received 100: add a unit/],
    [['--interval', '1ms'], /Expected --interval .* from 10 ms to 1 h but received '1ms'/],
    [['--duration', 'soon'], /Expected --duration to be a duration with its unit/],
    [['--device', '7'], /Expected --device to be 0 or a UUID of this machine's GPUs but received 7\./],
    [['--device', '../x'], /Expected --device to be .* but received '\.\.\/x'\./],
    [['--csv', '/nowhere/x.csv'], /Expected --csv to be a file that can be written but received '\/nowhere\/x\.csv': its directory does not exist\./],
    [['--csv', '/dev/full'], /Expected --csv .*: no space is left on its disk\./],
    [['--csv', '/tmp'], /Expected --csv .*: it is a directory\./],
    [['--csv', '-', '--json'], /Expected --csv to be a file beside --json but received -/],
  ] as const)('%j', async (args, message) => {
    const stderr = await refusal(args);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(message)]);
  }); // prettier-ignore

  it.skipIf(full === null)('a CSV that cannot be written', async () => {
    const csv = join(full as string, 'gpu.csv');
    const { code, stderr } = await command([...watch, '--csv', csv, '--duration', '10min']);
    expect(code).toBe(1);
    expect(stderr).toContain(`error: Could not write '${csv}': no space is left on its disk.\n`);
  });

  it.skipIf(small === null)('a disk that fills while it samples, and leaves only complete lines', async () => {
    const csv = join(small as string, 'gpu.csv');
    const run = start([...watch, '--csv', csv, '--interval', '10ms', '--duration', '10min']);
    const { code, stderr } = await run.done;
    expect(code).toBe(1);
    expect(stderr).toContain(`error: Could not write '${csv}': no space is left on its disk.\n`);
    expect(stderr).toMatch(/^\d+ samples of GPU 0 in .* every 10 ms\.$/m);
    expect(rowsIn(csv).length).toBeGreaterThan(20);
    expect(statfsSync(small as string).blocks).toBeGreaterThan(0);
    await nobodyLeft(run);
  });

  it('that standard output cannot be written', () => {
    const { status, stderr } = spawnSync(process.execPath, [main, ...watch, '--json', '--duration', '10min'], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      env: { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: `region=full-${process.pid}` },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr.match(/^error: .*$/gm)).toEqual([
      'error: Could not write standard output: no space is left on its disk.',
    ]);
  });

  it('a closed reader, by ending', async () => {
    const folder = emptyFolder();
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    writeFileSync(join(folder, 'reader.sh'), 'head -c 10 "$1" > /dev/null\n');
    const reader = start([...watch, '--csv', pipe, '--duration', '10min']);
    spawnSync('sh', [join(folder, 'reader.sh'), pipe]);
    const { code, stderr } = await reader.done;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: Could not write '.*pipe': .*EPIPE/m);
  });

  it.skipIf(hasDriver)('a missing NVML, and what to do', async () => {
    const { code, stderr } = await command(['monitor', '--duration', '1s']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: There is no NVML \(libnvidia-ml\.so\.1\): .* --simulate watches the simulated GPU\.$/m,
    );
  });
});
