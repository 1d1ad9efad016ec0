/** Reports about the details of isolation metrics, for arbitrary documents. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MetricResult, ResultWithoutNumber } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { interferenceMaps } from '../../../lib/report/isolation/interference.js';
import { leftOutDetails } from '../../../lib/report/isolation/left-out.js';
import { isolationLines } from '../../../lib/report/isolation/lines.js';
import { memoryPathsOf } from '../../../lib/report/isolation/memory-paths.js';
import { type OutcomeTable, outcomeTables } from '../../../lib/report/isolation/outcome-tables.js';
import { sharePanels } from '../../../lib/report/isolation/tenant-shares.js';
import { behaviours, isolationComparison, isolationRun } from './isolation-fixtures.js';
import { result, runDocument, without } from '../run/fixtures.js';

type Details = Record<string, unknown>;

const GIB = 2 ** 30;

const runWith = (id: string, details: Details, change: Partial<MetricResult> = {}) =>
  viewOf(runDocument({ metrics: [result(id, { details, ...change })] }));

const words = ({ rows }: OutcomeTable, system: number) => rows.map(({ outcomes }) => outcomes[system]?.word ?? null);
const tableOf = (tables: OutcomeTable[], metric: string) => tables.find((one) => one.metric === metric);

describe('tables of outcomes', () => {
  const tables = outcomeTables(viewOf(isolationComparison()));

  it('have a column per system, and a row for every test', () => {
    const paths = tableOf(tables, 'IS-011') as OutcomeTable;
    expect(paths.systems).toEqual(behaviours.map(({ name }) => name));
    expect(paths.rows.map(({ keys }) => keys)).toEqual([
      ['cuMemAlloc'],
      ['cuMemAllocManaged'],
      ['cuMemCreate'],
      ['cuMemAllocFromPoolAsync'],
    ]);
    expect(words(paths, 0)).toEqual(['enforced', 'leaks', 'wrong error', 'unsupported']);
    expect(words(paths, 1)).toEqual(['enforced', 'enforced', 'wrong error', 'unsupported']);
    expect(paths.rows[1]?.outcomes[0]).toEqual({
      state: 'bad',
      word: 'leaks',
      note: 'granted 38 GiB, limit 20 GiB',
    });
  });

  it('distinguish launch paths from memory paths by their fields', () =>
    expect(tables.filter(({ metric }) => metric === 'IS-012').map(({ title }) => title)).toEqual([
      'Launch paths against the compute limit',
    ]));

  it('say who kept its memory on a full card, and who was told what', () => {
    const row = { firstHolds: 'more than its soft limit', firstBytes: 6 * GIB, askedBytes: 4 * GIB };
    const evicted = { ...row, grantedBytes: 4 * GIB, tookMs: 12.5, outcome: 'evicted', told: 'gone', passed: true };
    const refused = {
      ...row,
      grantedBytes: GIB,
      tookMs: 3,
      outcome: 'kept',
      told: null,
      refusal: 'full',
      passed: false,
    };
    const [first, second] = [
      [evicted, { firstHolds: 'less than its soft limit', notMeasured: 'no pressure' }],
      [refused],
    ].map((evictions) => outcomeTables(runWith('IS-001', { evictions }))[0] as OutcomeTable);
    expect(first?.rows).toEqual([
      {
        keys: ['more than its soft limit'],
        outcomes: [
          {
            state: 'good',
            word: 'soft limits kept',
            brief: 'the first tenant evicted',
            note: 'the first tenant, with 6 GiB: evicted; told gone; the other got 4 GiB of 4 GiB in 12.5 ms',
          },
        ],
      },
      { keys: ['less than its soft limit'], outcomes: [{ state: 'none', word: 'not measured', note: 'no pressure' }] },
    ]);
    expect(second?.rows[0]?.outcomes[0]).toMatchObject({
      ...{ state: 'bad', word: 'not kept' },
      note: 'the first tenant, with 6 GiB: kept; the other got 1 GiB of 4 GiB in 3 ms; full',
    });
  });

  it("show a fault's effect on the neighbour, and what was not checked", () => {
    const faults = tableOf(tables, 'IS-010') as OutcomeTable;
    expect(faults.rows[1]?.outcomes[0]).toMatchObject({
      ...{ state: 'bad', word: 'failed' },
      note: expect.stringContaining('victim CUDA_ERROR_LAUNCH_FAILED'),
    });
    expect(faults.rows[2]?.outcomes[0]?.note).toBe(
      'no code seen; victim unharmed; stall not measured; new tenant starts; Xids not read',
    );
  });

  it('never call a surface clean if its control failed', () => {
    const surfaces = tableOf(tables, 'IS-005') as OutcomeTable;
    expect(surfaces.rows.at(-1)?.outcomes[0]).toMatchObject({ state: 'unclear', word: 'control failed' });
    expect(surfaces.rows.at(-2)?.outcomes[0]).toMatchObject({ state: 'unclear', word: 'unexplained' });
  });

  it('show the most severe outcome of several rounds, and in how many it occurred', () => {
    const document = isolationComparison(3, (one, system, round) => {
      if (one.id !== 'COMPAT-001' || system !== 1) return one;
      const outcome = round === 2 ? 'hang' : 'same';
      return { ...one, details: { probes: [{ probe: 'fork', issue: 'x#1', outcome, native: 'works' }] } };
    });
    const compatibility = tableOf(outcomeTables(viewOf(document)), 'COMPAT-001') as OutcomeTable;
    const fork = compatibility.rows.find(({ keys }) => keys[0] === 'fork');
    expect(fork?.outcomes).toEqual([
      null,
      { state: 'bad', word: 'hang', note: 'native: works; in 1 of 3 rounds' },
      null,
    ]);
  });

  it('show why a system has no outcome', () => {
    const document = isolationComparison(1, (one, system) =>
      system === 2 ? without(one, 'unsupported', 'why', {}) : one,
    );
    const paths = tableOf(outcomeTables(viewOf(document)), 'IS-001') as OutcomeTable;
    expect(new Set(words(paths, 2))).toEqual(new Set(['unsupported']));
  });

  it('use no details of an invalid result, but those of a failed one', () => {
    const details = isolationRun().metrics[0]?.details ?? {};
    const of = (status: ResultWithoutNumber['status']) =>
      outcomeTables(viewOf(runDocument({ metrics: [without(result('IS-001', { details }), status, 'why')] })));
    expect(of('invalid')).toEqual([]);
    expect(of('failed').map(({ metric }) => metric)).toEqual(['IS-001']);
  });

  it('show a limit for which a shape was not measured, with the reason', () => {
    const rows = [{ smPercent: 30, shape: 'graph', unsupported: 'the driver has no graphs' }];
    const [table] = outcomeTables(runWith('IS-003', { limits: rows }));
    expect(table?.rows).toEqual([
      { keys: ['30 %', 'graph'], outcomes: [{ state: 'none', word: 'unsupported', note: 'the driver has no graphs' }] },
    ]);
  });

  it('have one row per limit and shape, however long its kernels took', () => {
    const row = { smPercent: 30, shape: 'back to back', achievedPercent: 31, mechanism: { name: 'token bucket' } };
    const document = isolationComparison(1, (one, system) =>
      one.id === 'IS-003' ? { ...one, details: { limits: [{ ...row, kernelMs: 1 + system / 100 }] } } : one,
    );
    const limits = tableOf(outcomeTables(viewOf(document)), 'IS-003');
    expect(limits?.rows.map(({ keys }) => keys)).toEqual([['30 %', 'back to back']]);
    expect(limits?.rows[0]?.outcomes[1]?.note).toBe('token bucket; kernels of 1.01 ms');
  });

  it("have NVML's readings in separate columns, for the systems where they exist", () => {
    const document = isolationComparison(1, (one, system) => {
      const row = { smPercent: 30, shape: 'back to back', achievedPercent: 31 };
      const nvml = { gpuPercent: 99.5, processPercent: null, reason: 'NVML listed no utilisation of the process' };
      return one.id === 'IS-003' ? { ...one, details: { limits: [{ ...row, ...(system === 1 && { nvml }) }] } } : one;
    });
    const limits = tableOf(outcomeTables(viewOf(document)), 'IS-003');
    expect(limits?.systems.slice(3)).toEqual([`${limits?.systems[1]}: NVML utilisation`]);
    expect(limits?.rows[0]?.outcomes[3]).toEqual({
      state: 'plain',
      word: '99.5 %',
      note: 'NVML listed no utilisation of the process',
    });
  });

  it('ignore details of other metrics', () =>
    expect(outcomeTables(runWith('OH-001', isolationRun().metrics[0]?.details ?? {}))).toEqual([]));
});

describe('interference', () => {
  const row = (degradationPercent: number | null, reason?: string) => ({
    ...{ victim: 'v', aggressor: 'a', degradationPercent },
    ...(reason !== undefined && { reason }),
  });

  it('is the median over rounds of each victim beside each aggressor', () => {
    const [map] = interferenceMaps(viewOf(isolationComparison(3)));
    expect(map).toMatchObject({ system: 'hami-core', victims: ['GEMM', 'copy', 'launch latency'] });
    expect(map?.aggressors).toHaveLength(6);
    // 40 % minus 40 % of the first aggressor, plus the number of the round.
    expect(map?.cells[0]?.[0]).toEqual({ percent: 1, reason: '', isQueue: false });
    expect(map?.cells[1]?.[3]).toEqual({ percent: null, reason: 'the aggressor made no progress', isQueue: false });
  });

  it('has no number if there is none, and no pair that was not measured', () => {
    const [map] = interferenceMaps(
      runWith('IS-009', { interference: [row(null, 'no progress'), { ...row(3), victim: 'w', aggressor: 'b' }] }),
    );
    expect(map?.cells).toEqual([
      [{ percent: null, reason: 'no progress', isQueue: false }, null],
      [null, { percent: 3, reason: '', isQueue: false }],
    ]);
  });
});

describe('shares over time', () => {
  const share = (name: string, limitPercent: number | null, percent: number[]) => ({
    ...{ name, limitPercent, binMs: 100, percent },
  });

  it('come from one round, with the means of its bins', () => {
    const [panel] = sharePanels(runWith('IS-008', { shares: [share('a', 30, [100, 100, 30, 30])] }));
    expect(panel).toMatchObject({ metric: 'IS-008', part: '', round: 1, of: 1 });
    expect(panel?.tenants[0]).toMatchObject({ meanPercent: 65, lateMeanPercent: 30, stretch: 0.1 });
    expect(panel?.tenants[0]?.stretches.map(({ at }) => Number(at.toFixed(3)))).toEqual([0.05, 0.15, 0.25, 0.35]);
  });

  it('keep the mean if there are more bins than a drawing can show', () => {
    const percent = Array.from({ length: 1_000 }, (_, i) => i % 2);
    const [panel] = sharePanels(runWith('IS-008', { shares: [share('a', null, percent)] }));
    const stretches = panel?.tenants[0]?.stretches ?? [];
    expect(stretches.length).toBeLessThanOrEqual(60);
    expect(stretches.map((stretch) => stretch.percent)).toSatisfy((all: number[]) =>
      all.every((one) => Math.abs(one - 0.5) < 0.1),
    );
  });

  it('are split by limit if names repeat or are many', () => {
    const parts = (shares: object[]) => sharePanels(runWith('IS-003', { shares })).map(({ part }) => part);
    expect(parts([share('x', 30, [1]), share('x', 70, [1])])).toEqual(['limit 30 %', 'limit 70 %']);
    expect(parts([share('x', 30, [1]), share('y', 70, [1])])).toEqual(['']);
    const many = Array.from({ length: 10 }, (_, i) => share(`s${i}`, 30, [1]));
    expect(parts(many)).toEqual(['limit 30 %, 1 of 2', 'limit 30 %, 2 of 2']);
  });

  it('are split by what ran at the same time, according to their names', () => {
    const names = [
      'tenant 1 of 2, alone',
      'tenant 1 of 2',
      'tenant 2 of 2',
      ...[1, 2, 3, 4, 5, 6].map((i) => `tenant ${i} of 6`),
    ];
    const panels = sharePanels(runWith('IS-006', { shares: names.map((name) => share(name, null, [1])) }));
    expect(panels.map(({ part, tenants }) => [part, tenants.length])).toEqual([
      ['2', 3],
      ['6', 6],
    ]);
  });

  it('of a failed metric say so', () => {
    const [panel] = sharePanels(
      runWith(
        'IS-004',
        { shares: [share('a', 30, [90])] },
        { status: 'failed', value: null, reason: '> 30 s: it did not settle' },
      ),
    );
    expect(panel?.reason).toBe('failed: > 30 s: it did not settle');
  });

  it('have no mean without a bin', () => {
    const [panel] = sharePanels(runWith('IS-008', { shares: [share('a', 30, [])] }));
    expect(panel?.tenants[0]).toMatchObject({ meanPercent: null, lateMeanPercent: null, stretches: [] });
  });
});

describe('memory paths', () => {
  it('come from the round that granted most', () => {
    const path = (grantedBytes: number | null) => ({
      paths: [{ path: 'p', outcome: 'leaks', grantedBytes, limitBytes: 10 }],
    });
    const document = isolationComparison(3, (one, _, round) => ({
      ...one,
      details: path([5, 20, null][round] ?? null),
    }));
    const [first] = memoryPathsOf(viewOf(document));
    expect(first?.paths).toEqual([{ path: 'p', outcome: 'leaks', grantedBytes: 20, limitBytes: 10 }]);
  });
});

describe('lines for the terminal', () => {
  it('count outcomes, name the bad ones, and name the largest cost', () => {
    const lines = isolationLines(viewOf(isolationRun()));
    expect(lines).toContain(
      'IS-011: 1 leaks (cuMemAllocManaged), 1 wrong error (cuMemCreate), 1 enforced, 1 unsupported',
    );
    expect(lines).toContain('IS-009: most 98 %, GEMM beside DRAM');
    expect(isolationLines(viewOf(isolationComparison()))).toContain('mps, COMPAT-001: 3 same');
  });

  it('name no more than fit, and no system without a result', () => {
    const probes = Array.from({ length: 9 }, (_, i) => ({
      ...{ probe: `p${i}`, issue: 'x#1', outcome: 'hang', native: 'works' },
    }));
    const document = isolationComparison(1, (one, system) =>
      one.id === 'COMPAT-001' && system === 0
        ? { ...one, details: { probes } }
        : without(one, 'unsupported', 'why', {}),
    );
    expect(isolationLines(viewOf(document))).toEqual([
      'hami-core, COMPAT-001: 9 hang (p0, x#1; p1, x#1; p2, x#1; p3, x#1; p4, x#1; …)',
    ]);
  });

  it('name what failed after a fault, not the code that was expected', () => {
    const row = (fault: string, expectedCode: string, change: object) => ({
      ...{ fault, expectedCode, code: expectedCode, victim: 'unharmed', longestStallMs: 1, newTenant: 'starts' },
      ...{ xids: null, passed: false, ...change },
    });
    const reached = { victim: 'cuMemcpyDtoH_v2 returned CUDA_ERROR_X (7) while reading.', newTenant: 'cuInit failed' };
    const faults = [
      row('store', 'CUDA_ERROR_ILLEGAL_ADDRESS (700)', reached),
      row('misaligned', 'CUDA_ERROR_MISALIGNED_ADDRESS (716)', { ...reached, code: 'CUDA_ERROR_LAUNCH_FAILED (719)' }),
      row('endless kernel, SIGKILL', 'SIGKILL', reached),
      row('SIGSTOP inside an allocation', 'SIGSTOP', { victim: 'no result for 2006 ms' }),
      row('leak', 'CUDA_ERROR_OUT_OF_MEMORY (2)', { victim: 'cuMemAlloc_v2 returned CUDA_ERROR_OUT_OF_MEMORY (2).' }),
      row('assert', 'CUDA_ERROR_ASSERT (710)', { victim: '3 wrong results' }),
      row('trap', 'CUDA_ERROR_LAUNCH_FAILED (719)', { code: null }),
      row('kill', 'SIGKILL', { passed: true }),
    ];
    expect(isolationLines(runWith('IS-010', { faults }))).toEqual([
      `IS-010: 7 failed (${[
        'store and endless kernel, SIGKILL: neighbour failed, no new tenant started',
        'misaligned: the tenant got CUDA_ERROR_LAUNCH_FAILED (719), neighbour failed, no new tenant started',
        'SIGSTOP inside an allocation: neighbour stalled',
        'leak: neighbour failed',
        'assert: neighbour had wrong results',
        '…',
      ].join('; ')}), 1 passed`,
    ]);
    expect(isolationLines(runWith('IS-010', { faults: faults.slice(6) }))).toEqual([
      'IS-010: 1 failed (trap: it did not happen), 1 passed',
    ]);
  });

  it('say which reports disagree, and how', () => {
    const report = (source: string, says: string, agrees: boolean | null) => ({
      ...{ source, says, agrees, expected: source.endsWith('free') ? 'at most 20 GiB' : '20 GiB (the limit)' },
    });
    const view = runWith('IS-013', {
      reports: [
        report('cuMemGetInfo: total', '139.8 GiB', false),
        report('cuMemGetInfo: free', '19.64 GiB', true),
        report('cuDeviceTotalMem: total', '139.8 GiB', false),
        report('nvmlDeviceGetMemoryInfo: free', '139.37 GiB', false),
        report('NVML process list', 'nothing', null),
      ],
    });
    expect(isolationLines(view)).toEqual([
      'IS-013: 3 not as expected (cuMemGetInfo total and cuDeviceTotalMem total: 139.8 GiB, not 20 GiB (the limit); nvmlDeviceGetMemoryInfo free: 139.37 GiB, not at most 20 GiB), 1 as expected, 1 not compared',
    ]);
    expect(outcomeTables(view)[0]?.rows[0]).toMatchObject({
      keys: ['cuMemGetInfo: total'],
      outcomes: [{ state: 'bad', word: 'not as expected', note: '139.8 GiB, expected 20 GiB (the limit)' }],
    });
  });

  it('say how much of on-chip memory had the tag of another tenant, because bytes of many scans are no size', () => {
    const row = (surface: string, bytes: number, lookedAtBytes: number) => ({
      ...{ surface, transition: 'exit', control: 'passed', outcome: 'leaks', bytes, lookedAtBytes },
    });
    const view = runWith('IS-005', {
      surfaces: [row('shared memory', 15_111_325_760, 29_157_752_832), row('cuMemAlloc', 3 * 2 ** 30, 5 * 2 ** 30)],
    });
    expect(isolationLines(view)).toEqual([
      'IS-005: 2 leaks (shared memory, exit: 52 % of what was scanned; cuMemAlloc, exit: 3 GiB)',
    ]);
    expect(outcomeTables(view)[0]?.rows.map(({ outcomes }) => outcomes[0]?.note)).toEqual([
      '52 % of what was scanned',
      '3 GiB',
    ]);
  });

  it.each(['limited per process', 'leaks'])('call processes with a limit each no leak (recorded as %s)', (outcome) => {
    const path = (name: string, change: object) => ({
      ...{ path: name, outcome: 'leaks', grantedBytes: 40 * 2 ** 30, limitBytes: 20 * 2 ** 30, ...change },
    });
    const paths = [
      path('small blocks', { reason: '19 GiB granted, by NVML the process holds 20.28 GiB more' }),
      path('cuMemAlloc_v2, two processes', { outcome, reason: 'each of 2 processes has a limit of its own' }),
    ];
    const view = runWith('IS-001', { paths });
    expect(isolationLines(view)).toEqual([
      'IS-001: 1 leaks (small blocks), 1 limited per process (cuMemAlloc_v2, two processes: 40 GiB)',
    ]);
    expect(memoryPathsOf(view)[0]?.paths[1]?.outcome).toBe('limited per process');
  });

  it('are empty without such metrics', () => expect(isolationLines(viewOf(runDocument()))).toEqual([]));
});

describe('untrusted details', () => {
  it('of another shape are left out and shown unchanged', () => {
    const view = runWith('IS-011', {
      paths: [{ path: 'p', outcome: 'enforced', grantedBytes: '1', limitBytes: 2 }, 7, null],
      faults: 'none',
    });
    expect(outcomeTables(view)).toEqual([]);
    expect(leftOutDetails(view)).toEqual([
      'environment, IS-011, paths: {"path":"p","outcome":"enforced","grantedBytes":"1","limitBytes":2}',
      'environment, IS-011, paths: 7',
      'environment, IS-011, paths: null',
      'environment, IS-011, faults: "none"',
    ]);
  });

  it('are listed up to a limit', () => {
    const paths = Array.from({ length: 50 }, (_, i) => i);
    expect(leftOutDetails(runWith('IS-011', { paths }))).toHaveLength(21);
  });

  it('with more names than a metric has are truncated, and the report says so', () => {
    const interference = Array.from({ length: 100 }, (_, i) => ({
      ...{ victim: `v${i}`, aggressor: `a${i}`, degradationPercent: 1 },
    }));
    const [map] = interferenceMaps(runWith('IS-009', { interference }));
    expect([map?.victims.length, map?.aggressors.length, map?.leftOut.length]).toEqual([40, 40, 120]);
    const probes = Array.from({ length: 1_000 }, (_, i) => ({
      ...{ probe: `p${i}`, issue: '', outcome: 'same', native: '' },
    }));
    expect(outcomeTables(runWith('COMPAT-001', { probes }))[0]?.rows).toHaveLength(400);
  });

  const anything = fc.dictionary(
    fc.constantFrom('paths', 'faults', 'probes', 'surfaces', 'reports', 'interference', 'shares', 'limits'),
    fc.oneof(
      fc.jsonValue(),
      fc.array(
        fc.dictionary(
          fc.constantFrom(
            'path',
            'outcome',
            'grantedBytes',
            'limitBytes',
            'name',
            'percent',
            'binMs',
            'victim',
            '__proto__',
          ),
          fc.oneof(fc.jsonValue(), fc.constantFrom('enforced', 1e308, -1e308, 5e-324)),
        ),
      ),
    ),
  );

  it('never cause a crash', () =>
    fc.assert(
      fc.property(anything, (details) => {
        const view = runWith('IS-001', details);
        const found = [outcomeTables(view), interferenceMaps(view), sharePanels(view), memoryPathsOf(view)].flat();
        expect(JSON.stringify(found)).not.toMatch(/null:|NaN|Infinity/);
        leftOutDetails(view);
        isolationLines(view);
      }),
    ));
});
