import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { historyReport } from '../../../lib/report/formats/history.js';
import { sparkline } from '../../../lib/report/text/sparkline.js';
import { baselineText } from '../../../lib/saved/baseline-store.js';
import { type HistoryEntry, readHistory, trendsOf } from '../../../lib/saved/history.js';
import { about, card, type Change, comparison, type Values } from '../gate/fixtures.js';
import { temporaryFolder } from '../systems/fixtures.js';

const values = (value: number): Values => ({ native: { 'OH-001': about(5) }, layer: { 'OH-001': about(value) } });
const on = (day: number, value: number, change: Change = {}): ComparisonDocument =>
  comparison(values(value), {
    ...change,
    document: { startedAt: `2026-01-0${day}T00:00:00.000Z`, ...change.document },
  });

function places() {
  const folder = temporaryFolder();
  const results = join(folder, 'results');
  const store = join(folder, 'baselines');
  mkdirSync(results);
  mkdirSync(store);
  const save = (name: string, text: string, day = 1) => {
    mkdirSync(join(results, name));
    const file = join(results, name, 'summary.json');
    writeFileSync(file, text);
    utimesSync(file, day, day);
  };
  return { results, store, save };
}

const read = (where: { results: string; store: string }, limit = 50) => readHistory({ ...where, limit }, metrics);

describe('a history', () => {
  it('is empty without documents', async () => {
    const nowhere = { results: '/nowhere/results', store: '/nowhere/baselines' };
    const history = await read(nowhere);
    expect(history).toEqual({ entries: [], unreadable: [], leftOut: 0, programs: [] });
    expect(historyReport(history, [])).toBe('Nothing was measured yet.');
  });

  it('begins with the oldest, with a line per metric and system', async () => {
    const { save, ...where } = places();
    save('b', JSON.stringify(on(2, 5.5)));
    save('c', JSON.stringify(on(3, 6)));
    save('a', JSON.stringify(on(1, 5)));
    const { entries } = await read(where);
    expect(entries.map(({ path, rounds }) => [path.at(-1), rounds])).toEqual([
      ['a', 5],
      ['b', 5],
      ['c', 5],
    ]);
    const trends = trendsOf(entries, metrics);
    expect(trends.map(({ metric, system, first, last }) => [metric, system, first, last])).toEqual([
      ['OH-001', 'layer', 5, 6],
      ['OH-001', 'native', 5, 5],
    ]);
    expect(trends[0]?.changePercent).toBeCloseTo(20, 10);
    expect(historyReport({ entries, unreadable: [], leftOut: 0 }, trends)).toMatch(
      /OH-001 Kernel Launch Latency +layer +▁▄█ +3 +5\.000 us +6\.000 us +\+20\.00 %/,
    );
  });

  it('has the requested metrics, sorted by card, then metric, then system', async () => {
    const { save, ...where } = places();
    const on = (name: string) => ({
      gpu: [card({ name })],
      driver: { version: name === 'Y' ? '1' : '2', cudaVersion: null, libcuda: null, libnvidiaMl: null },
    });
    const both = (value: number) => ({ 'OH-002': [value], 'OH-001': [value] });
    for (const [directory, name] of [
      ['a', 'Y'],
      ['b', 'X'],
    ] as const)
      save(directory, JSON.stringify(comparison({ native: both(5), layer: both(6) }, { round: on(name) })));
    const { entries } = await read(where);
    const lines = (all: typeof metrics) =>
      trendsOf(entries, all).map(({ gpu, metric, system }) => `${gpu} ${metric} ${system}`);
    const wanted = (gpu: string, id: string) => ['layer', 'native'].map((system) => `${gpu} ${id} ${system}`);
    expect(lines(metrics)).toEqual(['X', 'Y'].flatMap((gpu) => ['OH-001', 'OH-002'].flatMap((id) => wanted(gpu, id))));
    const only = metrics.filter(({ id }) => id === 'OH-002');
    expect(lines(only)).toEqual(['X', 'Y'].flatMap((gpu) => wanted(gpu, 'OH-002')));
  });

  it('has separate lines for another GPU, driver or kind of GPU', async () => {
    const { save, ...where } = places();
    const gpu = (name: string, simulated: boolean) => ({ round: { gpu: [card({ name, simulated })] } });
    save('a', JSON.stringify(on(1, 5, gpu('X', false))));
    save('b', JSON.stringify(on(2, 5, gpu('Y', false))));
    save('c', JSON.stringify(on(3, 5, gpu('X', true))));
    const driver = { version: '999', cudaVersion: null, libcuda: null, libnvidiaMl: null };
    save('d', JSON.stringify(on(4, 5, { round: { ...gpu('X', false).round, driver } })));
    const trends = trendsOf((await read(where)).entries, metrics);
    expect(trends).toHaveLength(8);
    expect(trends.every(({ points }) => points.length === 1)).toBe(true);
  });

  it('names unreadable files, and continues', async () => {
    const { save, ...where } = places();
    save('good', JSON.stringify(on(1, 5)));
    save('half', '{"kind":');
    mkdirSync(join(where.results, 'empty'));
    writeFileSync(join(where.store, 'bad.json'), 'x');
    const { entries, unreadable } = await read(where);
    expect(entries).toHaveLength(1);
    expect(unreadable.map(({ path, reason }) => [path.split('/').at(-1), reason])).toEqual([
      ['half', expect.stringMatching(/^Expected a result document/)],
      ['bad.json', expect.stringMatching(/^Expected a result document/)],
    ]);
  });

  it('counts a baseline and its run once, and no interrupted run', async () => {
    const { save, ...where } = places();
    save('a', JSON.stringify(on(1, 5)));
    save('b', JSON.stringify(on(2, 500, { document: { completed: false } })));
    writeFileSync(join(where.store, 'main.json'), baselineText(on(1, 5)));
    const { entries } = await read(where);
    expect(entries.map(({ source, incomplete, baselines }) => [source, incomplete, baselines])).toEqual([
      ['results', null, ['main']],
      ['results', 'interrupted', []],
    ]);
    const report = historyReport({ entries, unreadable: [], leftOut: 0 }, []);
    expect(report).toMatch(/results\/a .* yes$/m);
    // A long folder wraps it into the next line.
    expect(report).toMatch(/results\/a\s[^]*\(baseline\s[^]*main\)/);
    expect(report).toMatch(/results\/b .* NO: interrupted$/m);
    expect(trendsOf(entries, metrics).map(({ points }) => points.length)).toEqual([1, 1]);
  });

  it('does not call a result complete whose layer was not shown to be active, and leaves it out of the trends', async () => {
    const { save, ...where } = places();
    const attestation = [{ proof: 'interception', passed: false, detail: '' }];
    const system = { name: 'layer', kind: 'custom', settings: {}, attestation };
    save('a', JSON.stringify(comparison({ layer: { 'OH-001': about(5) } }, { round: { system } })));
    const { entries } = await read(where);
    expect(entries.map(({ completed, incomplete }) => [completed, incomplete])).toEqual([
      [false, 'layer not shown to be active'],
    ]);
    expect(trendsOf(entries, metrics)).toEqual([]);
  });

  it('keeps a baseline whose run is gone', async () => {
    const { save: _, ...where } = places();
    writeFileSync(join(where.store, 'main.json'), baselineText(on(1, 5)));
    const { entries } = await read(where);
    expect(entries.map(({ source, baselines }) => [source, baselines])).toEqual([['baseline', []]]);
  });

  it('reads the newest directories, up to a number', async () => {
    const { save, ...where } = places();
    for (const day of [1, 2, 3, 4]) save(`d${day}`, JSON.stringify(on(day, 5)), day);
    const { entries, leftOut } = await read(where, 2);
    expect(entries.map(({ path }) => path.slice(-2))).toEqual(['d3', 'd4']);
    expect(leftOut).toBe(2);
  });

  it('separates values of different numbers of processes, and has no percentage if a value may be zero', async () => {
    const { save, ...where } = places();
    const starts = (day: number, largest: number) =>
      comparison(
        { layer: { 'START-006': [{ value: 5, details: { largest } }], 'OH-005': [day] } },
        { document: { startedAt: `2026-01-0${day}T00:00:00.000Z` } },
      );
    save('a', JSON.stringify(starts(1, 10)));
    save('b', JSON.stringify(starts(2, 50)));
    save('c', JSON.stringify(starts(3, { toString: 1 } as never)));
    const { entries } = await read(where);
    expect(entries.pop()?.values.at(-1)?.at).toBe('largest {"toString":1}');
    const trends = trendsOf(entries, metrics);
    expect(trends.map(({ metric, at, changePercent }) => [metric, at, changePercent])).toEqual([
      ['OH-005', null, null],
      ['START-006', 'largest 10', 0],
      ['START-006', 'largest 50', 0],
    ]);
    expect(historyReport({ entries, unreadable: [], leftOut: 0 }, trends)).toMatch(
      /▃▅ +2 +1\.000 ns +2\.000 ns +\+1\.000 ns/,
    );
  });
});

describe('a change in percent', () => {
  it.each([
    [0, 5],
    [5, 0],
    [-1, 5],
  ])('is none from %d to %d', (first, last) => {
    const entry = (day: number, value: number): HistoryEntry => ({
      ...{ source: 'results', path: 'x', startedAt: `2026-01-0${day}T00:00:00.000Z`, simulated: false, gpu: 'X' },
      ...{
        driver: '1',
        systems: ['a'],
        tier: 'quick',
        rounds: 1,
        completed: true,
        ...{ incomplete: null, baselines: [] },
      },
      values: [{ metric: 'OH-001', name: 'x', unit: 'us', system: 'a', value, at: null }],
    });
    expect(trendsOf([entry(1, first), entry(2, last)], metrics)).toMatchObject([{ first, last, changePercent: null }]);
  });
});

describe('a sparkline', () => {
  it('follows its values', () => expect(sparkline([1, 2, 3, 8])).toBe('▁▂▃█'));
  it('is level for equal values', () => expect(sparkline([3, 3])).toBe('▄▄'));
  it('is level if no difference is relevant', () => {
    expect(sparkline([13.54, 13.53], 0.7)).toBe('▄▄');
    expect(sparkline([10, 11, 12], 4)).toBe('▂▄▆');
    expect(sparkline([1, 8], 4)).toBe('▁█');
  });
  it('has the smallest negative value at the bottom', () => expect(sparkline([-2, -1])).toBe('▁█'));
});
