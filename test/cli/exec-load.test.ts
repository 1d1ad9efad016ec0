/** A program that serves, under load, natively and under a layer: one comparison, looked at from all sides. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonDocument, MetricResult } from '../../lib/results/document.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { closedPort } from '../ports.js';
import { undisturbed } from '../undisturbed.js';
import {
  addonFile,
  command,
  emptyFolder,
  parseComparison,
  processesOf,
  root,
  simulatedFolder,
  start,
} from './command.js';

/** What the simulated card is set to, and the CSV must show. */
const card = 'context_mib=500,power_w=345.5,temperature_c=61,event_reasons=4';
const SECRETS = ['quiet-bearer', 'quiet-cookie', 'quiet-parameter', 'quiet-variable'];
const ROUNDS = 2;

interface Measured {
  document: ComparisonDocument;
  output: string;
  stderr: string;
  mark: string;
}

async function measure(): Promise<Measured> {
  const folder = emptyFolder();
  const output = join(folder, 'out');
  const port = await closedPort();
  const server = {
    name: 'served',
    argv: [process.execPath, join(root, 'test/workers/fixtures/served.mjs'), `${port}`, 'paced'],
    env: { ADDON: addonFile, DRIVER: simulatedFolder, API_TOKEN: SECRETS[3] },
    ready: { line: 'listening' },
    ...{ warmup: 0, iterations: 1 },
    matrix: { c: [4] },
    load: {
      url: `http://127.0.0.1:${port}/v1/chat/completions?key=${SECRETS[2]}&shown=1`,
      ...{ api: 'chat', model: 'm', prompt: '{request}', requests: 4, warmup: 0, concurrency: '{c}' },
      headers: { Authorization: `Bearer ${SECRETS[0]}`, cookie: SECRETS[1], 'x-shown': 'yes' },
    },
  };
  const slow = {
    kind: 'custom',
    name: 'slow',
    env: { LD_PRELOAD: interposerLibrary(), GVB_INTERPOSE: 'cuLaunchKernel=+1us' },
    verify: [{ symbolOwner: { symbol: 'cuLaunchKernel', matches: 'libgvb-interpose' } }],
  };
  const config = join(folder, 'served.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ systems: ['native', slow], workloads: [server] }));
  const args = ['exec', '--simulate', '--rounds', `${ROUNDS}`, '--seed', '1', '--config', config];
  const { done, mark } = start([...args, '--output', output, '--json', '-'], {}, card);
  const { stdout, stderr } = await done;
  return { document: parseComparison(stdout), output, stderr, mark };
}

let measured: Measured;
const resultsOf = (key: string, from = measured): MetricResult[][] =>
  from.document.systems.map((rounds) =>
    rounds.flatMap(({ metrics }) => metrics.filter(({ id }) => id === `served@c=4/${key}`)),
  );
const values = (key: string) => resultsOf(key).map((rounds) => rounds.map(({ value }) => value));
const logs = (system: number) => join(measured.output, `logs/round-0001-system-${system}/served@c=4`);
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n');

interface Sent {
  scheduledMs: number;
  firstMs: number;
  gapsMs: number[];
  error: object | null;
}

type Row = Record<string, string>;
const csvOf = (system: number): Row[] =>
  parse(readFileSync(join(logs(system), 'run-0001.monitor.csv'), 'utf8'), { columns: true });

describe('a served program under load', () => {
  beforeAll(async () => {
    measured = await undisturbed(measure, (found) => resultsOf('latency', found).flat());
  });

  it('leaves nothing running', () => expect(processesOf(measured.mark)).toEqual([]));

  it('has the metrics of its load', () => {
    const all = measured.document.systems[0]?.[0]?.metrics.map(({ id, status, unit }) => [
      id.split('/')[1],
      status,
      unit,
    ]);
    expect(Object.fromEntries((all ?? []).map(([key, ...rest]) => [key, rest]))).toMatchObject({
      ...{ ready: ['ok', 's'], ttft: ['ok', 'ms'], itl: ['ok', 'ms'], tpot: ['ok', 'ms'], latency: ['ok', 'ms'] },
      ...{ 'tokens-per-second': ['ok', 'tokens/s'], 'requests-per-second': ['ok', 'requests/s'], errors: ['ok', '%'] },
      // Four requests have no p99, and twelve intervals neither.
      ...{ 'ttft-p99': ['unsupported', 'ms'], 'itl-p99': ['unsupported', 'ms'], 'latency-p99': ['unsupported', 'ms'] },
    });
    expect(values('errors')).toEqual([[0, 0], [0, 0]]); // prettier-ignore
    expect(resultsOf('ttft-p99')[0]?.[0]?.reason).toBe('a p99 takes at least 299 requests in a run, and there were 4');
  });

  it('is as fast as it answers, and a layer that delays it shows', () => {
    for (const [system, firstMs] of [1200, 2400].entries()) {
      for (const ttft of values('ttft')[system] ?? []) expect(ttft).toBeGreaterThanOrEqual(firstMs);
      for (const latency of values('latency')[system] ?? []) expect(latency).toBeGreaterThanOrEqual(firstMs + 900);
      // 16 tokens in as long as an answer takes, as four are under way at a time.
      for (const rate of values('tokens-per-second')[system] ?? [])
        expect(rate).toBeLessThanOrEqual(16 / ((firstMs + 900) / 1_000));
    }
    const effect = measured.document.effects.find(({ metric }) => metric === 'served@c=4/ttft');
    expect(effect).toMatchObject({ system: 'slow', baseline: 'native', rounds: ROUNDS });
    expect(effect?.ratio).toBeGreaterThan(1);
    // Of a program that is stopped after its load, latency decides whether runs vary.
    expect(resultsOf('ready')[0]?.[0]?.details.rule).toMatchObject({ of: 'latency' });
  });

  it('keeps every request as a line, in the time of the program', () => {
    const requests = linesOf(join(logs(1), 'run-0001.requests.jsonl')).map((line) => JSON.parse(line) as Sent);
    expect(requests).toHaveLength(4);
    const median = resultsOf('ttft')[0]?.[0]?.value as number;
    const times = requests.map(({ scheduledMs, firstMs }) => firstMs - scheduledMs).sort((a, b) => a - b);
    expect(((times[1] ?? 0) + (times[2] ?? 0)) / 2).toBeCloseTo(median, 1);
    const readyMs = 1_000 * (resultsOf('ready')[0]?.[0]?.value as number);
    for (const { scheduledMs, gapsMs, error } of requests) {
      expect(scheduledMs).toBeGreaterThanOrEqual(readyMs);
      expect([gapsMs.length, error]).toEqual([3, null]);
    }
  });

  it('has a CSV of the monitor that shows what the card is set to', () => {
    const rows = csvOf(1);
    const cards = rows.filter(({ pid }) => pid === '');
    expect(cards.length).toBeGreaterThan(10);
    for (const row of cards)
      expect(row).toMatchObject({
        simulated: 'true',
        power_w: '345.5',
        temperature_c: '61',
        clock_reasons: 'power cap',
      });
    const times = cards.map(({ time_s: time }) => Number(time));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(0);
    // The server alone, with its context.
    const own = rows.filter(({ pid, memory_used_mib: mib }) => pid !== '' && mib !== '');
    expect(new Set(own.map(({ memory_used_mib: mib }) => mib))).toEqual(new Set(['500']));
    expect(new Set(own.map(({ pid }) => pid)).size).toBe(1);
    expect(values('gpu-memory')[0]).toEqual([500 * 2 ** 20, 500 * 2 ** 20]);
  });

  it('has the energy of the counter, which is the power over its time', () => {
    for (const [system, rounds] of resultsOf('energy').entries())
      for (const [round, { value, details }] of rounds.entries()) {
        expect(details.by).toEqual(['counter']);
        const { timeline } = resultsOf('ready')[system]?.[round]?.details as {
          timeline: { phases: { toS: number }[] };
        };
        const seconds = timeline.phases.at(-1)?.toS as number;
        // Between two readings the counter is interpolated, and a reading is not at the moment of its stamp.
        expect(value as number).toBeGreaterThan(345.5 * (seconds - 0.5));
        expect(value as number).toBeLessThan(345.5 * (seconds + 0.5));
      }
    expect(resultsOf('ready')[0]?.[0]?.checks).toContainEqual({
      name: 'no slowdown',
      passed: false,
      detail: 'power cap',
    });
  });

  it('has charts over its phases, one run of each system', () => {
    const { timeline } = resultsOf('ready')[0]?.[0]?.details as { timeline: { run: number; phases: { name: string; fromS: number }[] } }; // prettier-ignore
    expect(timeline.run).toBe(1);
    expect(timeline.phases.map(({ name }) => name)).toEqual(['start', 'ready', 'load', 'end']);
    const ready = timeline.phases[1]?.fromS;
    expect(ready).toBeCloseTo(resultsOf('ready')[0]?.[0]?.value as number, 2);
    const page = readFileSync(join(measured.output, 'report.html'), 'utf8');
    expect(page.match(/<h3>served@c=4 under (native|slow): run 1 of round [12]<\/h3>/g)).toHaveLength(2);
    for (const title of ['GPU utilisation', 'Memory used', 'Power', 'Temperature', 'SM clock', 'Memory clock'])
      expect(page.split(`<strong>${title}</strong>`)).toHaveLength(3);
    const text = readFileSync(join(measured.output, 'report.md'), 'utf8');
    expect(text).toContain('## The GPU while programs ran');
  });

  it('stores no secret, and says what must be given again', async () => {
    const { output, stderr } = measured;
    const files = readdirSync(output, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files) {
      const text = readFileSync(join(parentPath, name), 'utf8');
      for (const secret of SECRETS) expect([name, text.includes(secret)]).toEqual([name, false]);
    }
    const yaml = readFileSync(join(output, 'systems.yaml'), 'utf8');
    expect(yaml).toContain('completions?key=(not recorded)&shown=1');
    expect(yaml).toContain('x-shown: yes');
    expect(yaml).toMatch(/Authorization: \(not recorded\)\n\s+cookie: \(not recorded\)/);
    for (const name of ['env.API_TOKEN', 'load.url', 'load.headers.Authorization', 'load.headers.cookie'])
      expect(stderr).toContain(`${name} is secret and not recorded, so this comparison cannot be continued`);
    expect(readFileSync(join(output, 'report.md'), 'utf8')).toMatch(
      /Replace every \\?\(not recorded\\?\) of served\\?@c=4 in .*systems/,
    );
    const [again, resumed] = await Promise.all([
      command(['exec', '--simulate', '--config', join(output, 'systems.yaml'), '--dry-run']),
      command(['exec', '--resume', output]),
    ]);
    expect([again.code, resumed.code]).toEqual([2, 2]);
    expect(again.stderr).toContain(
      'env.API_TOKEN, load.url, load.headers.Authorization, load.headers.cookie is (not recorded): results do not store secrets.',
    );
    expect(resumed.stderr).toContain('env.API_TOKEN of its programs is secret and was not recorded');
  });
});
