/** Programs under systems, through the library. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as bench from '../../lib/index.js';
import { comparisonDocumentSchema } from '../../lib/results/document.js';
import { processesOf } from '../processes.js';
import { temporaryFolder } from '../temporary.js';

beforeAll(() => {
  vi.stubEnv('GVB_SIM', `region=exec-${randomUUID().slice(0, 8)},init_ms=8,context_ms=8`);
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

  it('ends the program and returns the results so far when it is aborted', async () => {
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
  ])('refuses %j', (workloads, message) =>
    expect(bench.execWorkloads({ ...options, workloads })).rejects.toThrow(message),
  );
});
