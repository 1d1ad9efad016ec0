import { describe, expect, it } from 'vitest';
import { againstBaseline } from '../../../lib/gate/against-baseline.js';
import { gate } from '../../../lib/gate/gate.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { defaultThresholds } from '../../../lib/gate/thresholds.js';
import type { RunDocument } from '../../../lib/results/document.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { about, card, type Change, comparison, type Values, without } from './fixtures.js';
import { host, runDocument } from '../run/fixtures.js';

const layer = (value: number): Values => ({ native: { 'OH-001': about(5) }, layer: { 'OH-001': about(value) } });
const stored = (values: Values, change: Change = {}) => ({ name: 'main', document: comparison(values, change) });
const against = (now: Values, then: Values, change: Change = {}) =>
  againstBaseline(comparison(now), stored(then, change), metrics);

const sampler = (clocks: number[], load: number[]): NonNullable<RunDocument['sampler']> => {
  const unknown = clocks.map(() => null);
  return {
    source: 'nvml',
    intervalMs: 100,
    timeMs: clocks.map((_, i) => 100 * i),
    gpuPercent: load,
    memoryPercent: unknown,
    usedBytes: unknown,
    temperatureC: unknown,
    powerW: unknown,
    smClockMhz: clocks,
    memoryClockMhz: unknown,
    eventReasons: unknown,
  };
};

describe('a stored baseline', () => {
  it('is compared with every system of its name, for any numbers of rounds', () => {
    const now = { native: { 'OH-001': about(5) }, layer: { 'OH-001': about(6).slice(0, 3) } };
    const { effects, warnings } = against(now, layer(5));
    expect(effects.map(({ system, baseline, rounds, verdict }) => ({ system, baseline, rounds, verdict }))).toEqual([
      { system: 'native', baseline: 'main', rounds: 5, verdict: 'same' },
      { system: 'layer', baseline: 'main', rounds: 3, verdict: 'slower' },
    ]);
    expect(effects[1]?.ratio).toBeCloseTo(1.2, 3);
    expect(warnings.filter((warning) => !warning.startsWith('The '))).toEqual([]);
  });

  it('decides the effects of each system together', () => {
    const near = (value: number) => [1, 1.1, 0.9].map((factor) => factor * value);
    const others = ['OH-002', 'OH-003', 'OH-004', 'START-001', 'START-002', 'START-003'];
    const values = (value: number, among: readonly string[]) => ({
      layer: Object.fromEntries([['OH-001', near(value)], ...among.map((id) => [id, near(5)] as const)]),
    });
    const verdictAmong = (among: readonly string[]) => against(values(7, among), values(5, among)).effects[0]?.verdict;
    expect(verdictAmong([])).toBe('slower');
    expect(verdictAmong(others)).toBe('inconclusive');
  });

  it('is refused between a simulated and a real GPU, in either order', () => {
    const simulated = { round: { gpu: [card({ simulated: true })] } };
    expect(() => against(layer(5), layer(5), simulated)).toThrow(
      /^Expected baseline main to be of a real GPU but received one of a simulated GPU/,
    );
    expect(() => againstBaseline(comparison(layer(5), simulated), stored(layer(5)), metrics)).toThrow(
      /of a simulated GPU but received one of a real GPU/,
    );
    const partly = comparison(layer(5));
    partly.systems[1]?.[4]?.gpu.push(card({ simulated: true }));
    expect(() => againstBaseline(partly, stored(layer(5)), metrics)).toThrow(
      /of a simulated GPU but received one of a real/,
    );
    const both = againstBaseline(comparison(layer(5), simulated), stored(layer(5), simulated), metrics);
    expect(both.environments).toMatchObject({ now: { simulated: true }, baseline: { simulated: true } });
  });

  it('is refused without a common system, or if a name means another kind', () => {
    expect(() => against({ other: { 'OH-001': about(5) }, more: { 'OH-001': about(5) } }, layer(5))).toThrow(
      /^Expected a system of baseline main \(native, layer\) but received other, more: give the systems the same names\.$/,
    );
    const kind = { round: { system: { name: 'native', kind: 'mps', settings: {}, attestation: [] } } };
    expect(() => against(layer(5), { native: { 'OH-001': about(5) } }, kind)).toThrow(
      /^Expected native to be of kind mps, as in baseline main, but received native: give it another name\.$/,
    );
  });

  it('names the systems it lacks', () => {
    const now = { ...layer(5), other: { 'OH-001': about(5) } };
    const { warnings, effects } = against(now, layer(5));
    expect(warnings).toEqual(['The baseline has no other: it is not compared.']);
    expect(effects.map(({ system }) => system)).toEqual(['native', 'layer']);
  });

  it.each<[string, Partial<RunDocument>, RegExp]>([
    ['GPU', { gpu: [card({ name: 'NVIDIA A100' })] }, /^The GPU differs .*Test.* against NVIDIA A100/],
    [
      'driver',
      { driver: { version: '1.2', cudaVersion: 12000, libcuda: null, libnvidiaMl: null } },
      /^The driver differs from the baseline's: 580\.1, CUDA 13\.0 against 1\.2, CUDA 12\.0\.$/,
    ],
    ['host', { host: { ...host, cpu: 'y' } }, /^The host differs/],
    [
      'tier',
      { plan: { ...runDocument().plan, tier: 'thorough' } },
      /^The set of measuring options differs .*tier quick.* against tier thorough/,
    ],
    ['persistence mode', { gpu: [card({ persistenceMode: false })] }, /persistence on against .*persistence off/],
  ])('warns of another %s', (_, round, says) =>
    expect(against(layer(5), layer(5), { round }).warnings).toEqual([expect.stringMatching(says)]),
  );

  it('warns of clocks under load that differ by more than 3 %, and not of those of an idle card', () => {
    const warningsOf = (clock: number, load: number) =>
      againstBaseline(
        comparison(layer(5), { round: { sampler: sampler([345, 1980, 1980], [0, 50, 50]) } }),
        stored(layer(5), { round: { sampler: sampler([clock, clock], [load, load]) } }),
        metrics,
      ).warnings;
    expect(warningsOf(1900, 50)).toEqual([
      "The SM clock under load differs from the baseline's by 4.0 %: 1980 MHz against 1900 MHz.",
    ]);
    expect(warningsOf(1930, 50)).toEqual([]);
    expect(warningsOf(345, 0)).toEqual([]);
  });

  it('names changed settings, but not the paths that differ in every run', () => {
    const round = (directory: string, memory: string, sha256: string | null) => ({
      round: {
        system: {
          name: 'layer',
          kind: 'hami-core',
          settings: { CACHE: `/tmp/gvb-${directory}/hami-core/cache-0-2`, MEMORY: memory },
          attestation: [],
          layer: { path: '/opt/l.so', sha256, exports: 1, active: true },
        },
      },
    });
    const only = { layer: { 'OH-001': about(5) } };
    const warningsOf = (memory: string, sha256: string | null) =>
      againstBaseline(
        comparison(only, round('aB3xYz', '1g', 'a'.repeat(64))),
        stored(only, round('Q9q9Q9', memory, sha256)),
        metrics,
      ).warnings;
    expect(warningsOf('1g', 'a'.repeat(64))).toEqual([]);
    expect(warningsOf('1g', null)).toEqual([]);
    expect(warningsOf('2g', 'b'.repeat(64))).toEqual([
      'layer is set up differently: MEMORY is 1g against 2g.',
      'The layer of layer is another build: SHA-256 aaaaaaaaaaaa… against bbbbbbbbbbbb….',
    ]);
  });

  it("compares only a setting's own properties", () => {
    const round = (settings: Record<string, string>) => ({
      round: { system: { name: 'layer', kind: 'k', settings, attestation: [] } },
    });
    const only = { layer: { 'OH-001': about(5) } };
    const now = comparison(only, round({ constructor: 'x' }));
    expect(againstBaseline(now, stored(only, round({})), metrics).warnings).toEqual([
      'layer is set up differently: constructor is x against not set.',
    ]);
  });

  it('is invalid for values with another number of processes', () => {
    const starts = (largest: number) => ({
      layer: { 'START-006': [1, 2, 3].map((value) => ({ value, details: { largest } })) },
    });
    expect(against(starts(10), starts(50)).effects).toMatchObject([
      { verdict: 'invalid', reason: 'not comparable: largest is 10 against 50', ratio: null, difference: null },
    ]);
    expect(against(starts(10), starts(10)).effects[0]?.verdict).toBe('inconclusive');
  });

  it('is invalid if rounds of one side disagree, and handles values that are no number', () => {
    const starts = (...largest: unknown[]) => ({
      layer: { 'START-006': largest.map((each) => ({ value: 1, details: { largest: each } })) },
    });
    for (const [now, then] of [
      [starts(10, 50, 10), starts(10, 10, 10)],
      [starts(10, 10, 10), starts(10, 10, 50)],
    ] as const)
      expect(against(now, then).effects).toMatchObject([
        { verdict: 'invalid', reason: 'not comparable: largest is 10 against 50' },
      ]);
    const odd = { toString: 1 };
    expect(against(starts(odd, odd), starts(odd, { ...odd })).effects[0]?.verdict).toBe('same');
    expect(against(starts(odd, odd), starts(odd, 10)).effects[0]?.reason).toBe(
      'not comparable: largest is {"toString":1} against 10',
    );
  });

  it('compares differences to native with those of its own rounds', () => {
    const arms = (rates: number[]) =>
      rates.map((unitsPerSecond) => ({ ...without('unsupported', 'needs a native arm'), details: { unitsPerSecond } }));
    const values = (share: number): Values => ({
      native: { 'OH-010': arms([100, 101, 99]) },
      layer: { 'OH-010': arms([100, 101, 99].map((rate) => share * rate)) },
    });
    const { effects } = against(values(0.8), values(0.9));
    expect(effects).toMatchObject([{ metric: 'OH-010', system: 'layer', rounds: 3, verdict: 'slower' }]);
    expect(effects[0]?.difference).toBeCloseTo(10, 10);
  });

  it('has no effect for a metric that only one of both measured', () => {
    const more = { layer: { 'OH-001': about(5), 'OH-002': about(5) } };
    const less = { layer: { 'OH-001': about(5) } };
    for (const [now, then] of [
      [more, less],
      [less, more],
    ] as const)
      expect(against(now, then).effects.map(({ metric }) => metric)).toEqual(['OH-001']);
  });

  it('leaves out a round in which one of both arms is missing', () => {
    const arms = (rates: (number | null)[]) =>
      rates.map((unitsPerSecond) => ({ ...without('unsupported', 'needs a native arm'), details: { unitsPerSecond } }));
    const values: Values = {
      native: { 'OH-010': arms([100, null, 100, 100]) },
      layer: { 'OH-010': arms([90, 90, null, 90]) },
    };
    expect(against(values, values).effects).toMatchObject([{ rounds: 2, difference: 0 }]);
  });

  it('pairs differences to native with the rounds beside them, wherever these are in the document', () => {
    const arms = (rates: number[]) =>
      rates.map((unitsPerSecond) => ({ ...without('unsupported', 'needs a native arm'), details: { unitsPerSecond } }));
    // A comparison as merged from two documents, of which the first lacks two rounds of the layer.
    const merged = comparison({
      native: { 'OH-010': arms([100, 100, 100, 200, 200]) },
      layer: { 'OH-010': arms([90, 180, 180]) },
    });
    const places = [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
    ] as const;
    const placed = (rounds: RunDocument[] = [], at: number[]): RunDocument[] =>
      rounds.map((round, i) => {
        const [document, number] = places[at[i] ?? 0] ?? [0, 0];
        return { ...round, session: { document, round: number } };
      });
    const [native, layers] = merged.systems;
    const document = { ...merged, systems: [placed(native, [0, 1, 2, 3, 4]), placed(layers, [0, 3, 4])] };
    const { effects } = againstBaseline(document, { name: 'main', document }, metrics);
    // 10 % in every pair.
    expect(effects).toMatchObject([{ rounds: 3, difference: 0, verdict: 'same' }]);
  });
});

describe('a gate with a stored baseline', () => {
  const judged = (now: Values, then: Values, yaml = '{}') =>
    gate(comparison(now), parseThresholds(yaml, 'gate.yaml', metrics), stored(then), metrics);

  it('judges every system, and shows both environments', () => {
    const found = judged(layer(6), layer(5));
    expect(found.cases.map(({ system, outcome }) => `${system} ${outcome}`)).toEqual(['native passed', 'layer failed']);
    expect(found.cases[1]?.threshold).toBe('at most 10 % worse than baseline main (maxRegression: 10)');
    expect(found.environments).toMatchObject({
      now: { gpu: expect.any(String), rounds: 5 },
      baseline: { driver: expect.any(String), rounds: 5 },
    });
  });

  it("warns that the machine changed if the bare driver's results did", () => {
    const slow = { native: { 'OH-001': about(6) }, layer: { 'OH-001': about(6) } };
    expect(judged(slow, layer(5)).warnings).toEqual([
      expect.stringMatching(/^The bare driver itself is worse than in the baseline \(OH-001\)/),
    ]);
    expect(judged(layer(6), layer(5)).warnings).toEqual([]);
  });

  it('judges a run of one system, whose single round never passes', () => {
    const run = (value: number) =>
      ({ ...comparison({ environment: { 'OH-001': [value] } }).systems[0]?.[0] }) as RunDocument;
    const found = gate(run(50), defaultThresholds(metrics), { name: 'main', document: run(5) }, metrics);
    expect(found.cases).toMatchObject([{ outcome: 'inconclusive', countsAs: 'failed' }]);
  });

  it('does not judge a metric that the baseline lacks', () => {
    const now = { layer: { 'OH-001': about(5), 'OH-002': about(5) } };
    const then = { layer: { 'OH-001': about(5) } };
    const last = (yaml?: string) => judged(now, then, yaml).cases.at(-1);
    expect(last()).toMatchObject({
      outcome: 'not measured',
      countsAs: 'passed',
      reason: 'baseline main has no value to compare with',
    });
    expect(last('metrics: { OH-002: }')).toMatchObject({ countsAs: 'failed' });
  });
});
