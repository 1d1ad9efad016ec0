/** Loads of workloads: what their settings may be, what of them is stored, and what a load makes of its requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadPlan } from '../../../lib/load/load-plan.js';
import type { LoadResult } from '../../../lib/load/load-result.js';
import { metricsOfWorkload } from '../../../lib/workloads/metrics/metrics-of-workload.js';
import { parseExecConfig } from '../../../lib/workloads/settings/exec-config.js';
import { publicSource } from '../../../lib/workloads/settings/read-workloads.js';
import { publicUrl } from '../../../lib/workloads/settings/secrets.js';
import { readingsOf, ServedLoad } from '../../../lib/workloads/round/served-load.js';
import { recordOf } from '../../../lib/workloads/settings/workload-record.js';
import { temporaryFolder } from '../../temporary.js';
import { httpServer } from '../load/servers.js';

const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/work' };
const read = (text: string) => parseExecConfig(text, 'w.yaml', surroundings);
const file = (keys: string) => `workloads:\n  - name: w\n    argv: [prog]\n${keys}`;
const load = (keys: string) => `    ready: { port: 8000 }\n    load: { url: "http://127.0.0.1:8000/", ${keys} }\n`;
const one = (keys: string) => read(file(keys)).workloads[0] ?? expect.fail('no workload');
function refusalOf(keys: string): string {
  try {
    one(keys);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}

describe('the load of a workload', () => {
  it('is read as docs/load.md has it, and the program is stopped after it', () => {
    const workload = one(load('requests: 20, concurrency: 4, warmup: 1, timeout: 2'));
    expect(workload.stopAfterSeconds).toBe(0);
    expect(workload.load).toMatchObject({
      ...{ requests: 20, warmup: 1, timeoutMs: 2_000, arrivals: { loop: 'closed', concurrency: 4 } },
    });
  });

  it('may have parameters of a matrix', () => {
    const { workloads } = read(file(`${load('requests: 2, concurrency: "{c}"')}    matrix: { c: [1, 8] }\n`));
    expect(workloads.map(({ name, load: own }) => [name, own?.arrivals])).toEqual([
      ['w@c=1', { loop: 'closed', concurrency: 1 }],
      ['w@c=8', { loop: 'closed', concurrency: 8 }],
    ]);
  });

  it('has metrics of its own, fewer where no tokens come', () => {
    const ids = (keys: string) =>
      metricsOfWorkload(one(keys), { caller: {}, logsOf: null, keepGoing: false }).map(({ id }) => id.slice(2));
    const plain = ['latency', 'latency-p99', 'requests-per-second', 'errors'];
    expect(ids(load('requests: 2, concurrency: 1'))).toEqual([
      ...['ready', 'cpu', 'host-memory', 'gpu-memory', 'energy', 'gpu-throttled', ...plain],
    ]);
    expect(ids(load('requests: 2, concurrency: 1, api: chat, model: m, prompt: p'))).toEqual(
      expect.arrayContaining(['ttft', 'ttft-p99', 'itl', 'itl-p99', 'tpot', 'tokens-per-second', ...plain]),
    );
    expect(ids('')).not.toContain('errors');
  });

  it.each([
    [load('requests: 2, concurrency: 1, rate: 3'), /^w\.yaml:5:\d+: Expected a key of load of w but received 'rate'/],
    [load('requests: 2'), /line|:5:.*either concurrency or ratePerSecond but received neither/],
    [load('requests: 0, concurrency: 1'), /Expected requests of load of w to be an integer from 1/],
    ['    load: { url: "http://h/", requests: 1, concurrency: 1 }\n', /Expected load of w together with ready/],
    ['    ready: { port: 1 }\n    load: { url: "ftp://h/", requests: 1, concurrency: 1 }\n', /a URL of http or https/],
    [`${load('requests: 2, concurrency: "{request}"')}    matrix: { request: [1] }\n`, /no parameter 'request'/],
    [`${load('requests: 2, concurrency: 1')}    metrics: { ttft: { regex: '(.)', unit: x, direction: none } }\n`, /ttft is measured of every load/], // prettier-ignore
  ])('is refused: %#', (keys, message) => expect(refusalOf(keys)).toMatch(message));

  it('leaves its names to the metrics of programs without one', () =>
    expect(one("    metrics: { ttft: { regex: '(.)', unit: x, direction: none } }\n").metrics).toHaveLength(1));
});

describe('the monitor of a workload', () => {
  it.each([
    ['', { intervalMs: 100, csv: true }],
    ['    monitor: false\n', { intervalMs: 100, csv: false }],
    ['    monitor: { interval: 2s }\n', { intervalMs: 2_000, csv: true }],
    ['    monitor: { interval: 50ms, csv: false }\n', { intervalMs: 50, csv: false }],
  ])('is %j', (keys, monitor) => expect(one(keys)).toMatchObject({ monitor }));

  it.each([
    ['    monitor: { every: 1s }\n', /Expected a key of monitor of w but received 'every'/],
    ['    monitor: { interval: 100 }\n', /Expected interval of monitor of w .* but received 100: add a unit/],
    ['    monitor: { interval: 1ms }\n', /from 10 ms to 1 h/],
    ['    monitor: true\n', /Expected monitor of w to be a map/],
  ])('is refused: %j', (keys, message) => expect(refusalOf(keys)).toMatch(message));
});

describe('secrets of a workload', () => {
  it.each([
    ['http://h/v1?api_key=abc&n=1', 'http://h/v1?api_key=(not recorded)&n=1'],
    ['http://h/v1?n=1&X-Amz-Signature=abc&sig=d', 'http://h/v1?n=1&X-Amz-Signature=(not recorded)&sig=(not recorded)'],
    ['http://h/?acce%73s_token=abc', 'http://h/?acce%73s_token=(not recorded)'],
    ['http://user:pass@h/x', 'http://(not recorded)@h/x'],
    ['http://h/x?%zz=1', 'http://h/x?%zz=1'],
    ['http://h/a@b?mail=x@y', 'http://h/a@b?mail=x@y'],
  ])('are left out of %s', (url, shown) => expect(publicUrl(url)).toBe(shown));

  const headers = 'headers: { X-Api-Key: abc, Cookie: abc, x-id: "Bearer abc", Accept: text/plain }';
  const source = read(
    file(
      `    ready: { http: "http://127.0.0.1:8000/?token=abc" }\n    load: { url: "http://h/?key=abc", requests: 1, concurrency: 1, ${headers} }\n`,
    ),
  );

  it('are left out of what is stored, and then refused', async () => {
    const [given] = source.sources;
    const stored = publicSource(given ?? expect.fail('no source'));
    expect(JSON.stringify(stored)).not.toContain('abc');
    expect(stored.settings.load).toMatchObject({ headers: { Accept: 'text/plain' }, requests: '1' });
    const record = await recordOf(source.workloads[0] ?? expect.fail('no workload'), {});
    expect(JSON.stringify(record)).not.toContain('abc');
    expect(record.load).toMatchObject({ url: 'http://h/?key=(not recorded)', headers: { accept: 'text/plain' } });
    const refused = refusalOf(`    ready: { port: 1 }\n    load: ${JSON.stringify(stored.settings.load)}\n`);
    expect(refused).toMatch(
      /load\.url, load\.headers\.X-Api-Key, load\.headers\.Cookie, load\.headers\.x-id is \(not recorded\)/,
    );
  });
});

const plan = (url: string, change: Partial<LoadPlan> = {}): LoadPlan => ({
  ...{ api: 'http', url: new URL(url), method: 'GET', headers: {}, body: null, requests: 6, warmup: 0 },
  arrivals: { loop: 'closed', concurrency: 2 },
  timeoutMs: 60_000,
  ...change,
});

/** What is in its file, and what `finish` gives. */
async function sent(own: LoadPlan, signal = new AbortController().signal) {
  const path = join(temporaryFolder(), 'requests.jsonl');
  const served = new ServedLoad(own, path);
  await served.run(signal, 0);
  const finished = await served.finish();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return { ...finished, lines: lines.map((line) => JSON.parse(line) as { error: { reason: string } | null }) };
}

/** Six requests of 10 to 60 ms, each with three tokens. */
const result = (change: Partial<LoadResult> = {}): LoadResult => ({
  ...{ api: 'chat', loop: 'closed', completed: true, requests: 6, succeeded: 6, errors: [], warmupErrors: [] },
  ...{ ttftMs: [10, 20, 30, 40, 50, 60], itlMs: [1, 2, 3, 4], tpotMs: [2, 3], latencyMs: [20, 30, 40, 50, 60, 70] },
  ...{ ends: [{ reason: 'stop', count: 6 }], unknown: [], notes: [], tokensDoubt: null },
  ...{ tokens: 18, tokensBy: 'chunks', tokensPerSecond: 9, seconds: 2, offeredPerSecond: null, achievedPerSecond: 3 },
  ...{ lateMs: [], clientBusy: 0, invalid: null },
  ...change,
});
const readings = (change: Partial<LoadResult>) => readingsOf(result(change), { requests: 6 });
const failures = { requests: 6, succeeded: 4, errors: [{ reason: 'timeout', count: 2, message: 'no answer began' }] };

describe('the numbers of a load', () => {
  it('are medians, percentiles where there are enough samples, and rates', () => {
    const many = Array.from({ length: 299 }, (_, i) => i + 1);
    expect(readings({ itlMs: many })).toMatchObject({
      ...{ ttft: { value: 35 }, itl: { value: 150 }, tpot: { value: 2.5 }, latency: { value: 45 } },
      ...{
        'itl-p99': { value: expect.closeTo(296.67) },
        'tokens-per-second': { value: 9 },
        'requests-per-second': { value: 3 },
      },
      ...{ errors: { value: 0 } },
      'ttft-p99': { missing: expect.stringContaining('at least 299 requests'), status: 'unsupported' },
    });
  });

  it('are none where requests failed, but for their share', () => {
    const { errors, ...others } = readings(failures);
    expect(errors).toEqual({ value: 100 / 3 });
    for (const reading of Object.values(others))
      expect(reading).toEqual({ missing: '2 of 6 requests failed: timeout (no answer began)', status: 'failed' });
  });

  it.each([
    ['was late', { ...failures, invalid: 'the client was late' }],
    [
      'had no sockets',
      {
        requests: 6,
        succeeded: 0,
        errors: [{ reason: 'client out of sockets', count: 6, message: '' }],
        invalid: 'the client was late',
      },
    ],
  ])('are invalid where the client %s', (_, change) => {
    for (const reading of Object.values(readings(change)))
      expect(reading).toEqual({ missing: 'the client was late', status: 'invalid' });
  });

  it('of tokens are invalid where their number is in doubt, and the others are not', () => {
    const change = { tokens: null, tokensBy: null, tokensPerSecond: null, tokensDoubt: 'usage', tpotMs: [] };
    const { tpot, 'tokens-per-second': rate, ttft, latency } = readings(change);
    expect([tpot, rate]).toEqual([
      { missing: 'usage', status: 'invalid' },
      { missing: 'usage', status: 'invalid' },
    ]);
    expect([ttft, latency]).toEqual([{ value: 35 }, { value: 45 }]);
  });

  it('failed where no request succeeded: that is no fault of the client', () => {
    const change = { requests: 6, succeeded: 0, errors: [{ reason: 'status 500', count: 6, message: 'status 500' }] };
    const { errors, latency } = readings({ ...change, invalid: 'none of 6 requests succeeded' });
    expect([errors, latency]).toEqual([
      { value: 100 },
      { missing: '6 of 6 requests failed: status 500', status: 'failed' },
    ]);
  });

  it('failed where the load was ended', () =>
    expect(readings({ completed: false, requests: 4, succeeded: 4 }).latency).toEqual({
      missing: 'its load ended after 4 of 6 requests',
      status: 'failed',
    }));

  it.each(['itl', 'tpot'] as const)('have no %s of answers of one token', (key) =>
    expect(readings({ itlMs: [], tpotMs: [] })[key]).toMatchObject({ status: 'unsupported' }),
  );
});

describe('a load that was sent', () => {
  it('has a line for every request, failed ones too', async () => {
    let n = 0;
    const url = await httpServer((_, response) => {
      response.statusCode = n++ % 3 === 0 ? 503 : 200;
      response.end('overloaded');
    });
    const { lines, phase } = await sent(plan(url));
    expect(lines.flatMap(({ error }) => error?.reason ?? [])).toEqual(['status 503', 'status 503']);
    expect(lines).toHaveLength(6);
    expect(phase?.toNs).toBeGreaterThan(phase?.fromNs ?? 0);
  });

  it('keeps the requests that ended before it was stopped', async () => {
    const stop = new AbortController();
    let n = 0;
    const url = await httpServer((_, response) => {
      if (n++ < 4) response.end('x');
      else stop.abort();
    });
    const { readings: found, lines, row } = await sent(plan(url, { arrivals: { loop: 'closed', concurrency: 1 } }), stop.signal); // prettier-ignore
    expect(lines).toHaveLength(4);
    expect(row).toMatchObject({ requests: 4, succeeded: 4 });
    expect(found.latency).toHaveProperty('missing');
  });

  it('has a note of warm-up requests that failed', async () => {
    let n = 0;
    const url = await httpServer((_, response) => {
      response.statusCode = n++ < 2 ? 500 : 200;
      response.end();
    });
    const { notes } = await sent(plan(url, { warmup: 2 }));
    expect(notes).toEqual(['2 of 2 warm-up requests of the load failed: status 500']);
  });

  it('was not sent where the program never was ready', async () => {
    const { readings: found, phase } = await new ServedLoad(plan('http://127.0.0.1:1/'), null).finish();
    expect([found.errors, phase]).toEqual([{ missing: 'its load was not sent' }, null]);
  });
});
