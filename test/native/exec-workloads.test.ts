/** Programs under systems, through the library. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as bench from '../../lib/index.js';
import { comparisonDocumentSchema } from '../../lib/results/document.js';
import { closedPort } from '../ports.js';
import { processesOf } from '../processes.js';
import { temporaryFolder } from '../temporary.js';
import { cardIn } from './child.js';

beforeAll(() => {
  vi.stubEnv('GVB_SIM', cardIn(`exec-${randomUUID().slice(0, 8)}`, 'init_ms=8,context_ms=8'));
});
afterAll(() => vi.unstubAllEnvs());

const options = { simulate: true, rounds: 2, seed: 1 };
const once = { warmup: 0, iterations: 1 };

describe('execWorkloads', () => {
  it('resolves with the same document as the command line', async () => {
    const steps = new Set<string>();
    const document = await bench.execWorkloads({
      ...options,
      workloads: [
        {
          name: 'echo',
          argv: ['echo', 'v={n}'],
          ...once,
          matrix: { n: [1, 2] },
          metrics: { v: { regex: 'v=(.)', unit: 'x', direction: 'none' } },
        },
      ],
      onProgress: ({ step }) => steps.add(step),
    });
    expect(v.parse(comparisonDocumentSchema, document)).toEqual(document);
    expect(document).toMatchObject({ completed: true, plan: { systems: ['native'], rounds: 2 } });
    const values = document.systems[0]?.[0]?.metrics.filter(({ id }) => id.endsWith('/v'));
    expect(values?.map(({ id, value }) => [id, value])).toEqual([
      ['echo@n=1/v', 1],
      ['echo@n=2/v', 2],
    ]);
    expect(steps).toContain('run 1 of 1');
    expect(await bench.renderReport(document, 'csv')).toContain('echo@n=1/v');
  });

  it('measures under load: a server that fails requests has no times, and its share of errors counts', async () => {
    const port = await closedPort();
    const argv = [process.execPath, join(import.meta.dirname, '../workers/fixtures/served.mjs'), `${port}`, 'flaky'];
    const document = await bench.execWorkloads({
      ...options,
      rounds: 1,
      workloads: [
        {
          ...{ name: 'flaky', argv, ...once, ready: { line: 'listening' }, matrix: { c: [2] }, monitor: false },
          load: { url: `http://127.0.0.1:${port}/`, requests: 10, warmup: 2, concurrency: '{c}' },
        },
      ],
    });
    expect(v.parse(comparisonDocumentSchema, document)).toEqual(document);
    const results = document.systems[0]?.[0]?.metrics ?? [];
    const of = (key: string) => results.find(({ id }) => id === `flaky@c=2/${key}`);
    expect(of('ready')).toMatchObject({ status: 'ok' });
    const [row] = (of('ready')?.details as { runs: { load: object }[] }).runs;
    expect(row?.load).toMatchObject({ requests: 10, succeeded: 5, errors: [{ reason: 'status 503', count: 5 }] });
    expect(document.warnings).toContainEqual(
      expect.stringMatching(/^native, flaky@c=2: 1 of 2 warm-up requests of the load failed/),
    );
    // A machine that is busy with other tests may have held the client up: its answers took 20 ms.
    const isLate = of('errors')?.status === 'invalid';
    expect(of('errors')).toMatchObject(isLate ? { reason: expect.stringContaining('client') } : { value: 50 });
    expect(of('latency')).toMatchObject(
      isLate ? { status: 'invalid' } : { status: 'failed', reason: expect.stringMatching(/^5 of 10 requests failed/) },
    );
  });

  it('ends the program and gives what there is when it is aborted', async () => {
    const mark = randomUUID();
    const controller = new AbortController();
    const folder = temporaryFolder();
    const look = setInterval(() => {
      if (existsSync(join(folder, 'up'))) controller.abort(new Error('enough'));
    }, 20);
    const document = await bench.execWorkloads({
      ...options,
      workloads: [
        { name: 'long', argv: ['env', `GVB_TEST_MARK=${mark}`, 'sh', '-c', 'touch up; sleep 1000'], folder, ...once },
      ],
      signal: controller.signal,
    });
    clearInterval(look);
    expect(document).toMatchObject({ completed: false });
    expect(processesOf(mark)).toEqual([]);
  });

  it.each([
    [[], 'Expected at least one workload but received none.'],
    [[{ name: 'w', argv: ['/no/such'] }], "received '/no/such': there is no such file."],
    [[{ name: 'w', argv: ['true'], iterations: 0 }], 'Expected iterations of w to be an integer from 1'],
  ])('refuses %j', async (workloads, message) => {
    const error: unknown = await bench.execWorkloads({ ...options, workloads }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(bench.UsageError);
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) });
  });
});
