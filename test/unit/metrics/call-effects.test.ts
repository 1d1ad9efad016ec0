/** The cost of each driver call, from pairs in the details of every round. */
import { describe, expect, it } from 'vitest';
import { pairStall } from '../../../lib/answer/stalls.js';
import { callEffects } from '../../../lib/metrics/core/call-effects.js';
import { pairSummary } from '../../../lib/metrics/overhead/pairs.js';
import type { PairBlock } from '../../../lib/native/addon-types.js';
import type { MetricResult, RunDocument } from '../../../lib/results/document.js';
import { result, runDocument, without } from '../run/fixtures.js';

const LAYER = '/opt/layer/libvgpu.so';
const CUDA = '/usr/lib/libcuda.so.1';

const row = (name: string, overheadNs: number, change: object = {}) => ({
  name,
  owner: LAYER,
  intercepted: true,
  overheadNs,
  bareNs: 100,
  ...change,
});

const rounds = (count: number, metrics: (round: number) => MetricResult[], name = 'hami-core'): RunDocument[] =>
  Array.from({ length: count }, (_, round) =>
    runDocument({
      system: { name, kind: name, settings: {}, attestation: [] },
      metrics: metrics(round),
      provenance: [
        {
          name: 'cuLaunchKernel',
          paths: { runtime: LAYER, dlsym: LAYER, linked: CUDA, bare: CUDA },
          interposed: ['runtime', 'dlsym'],
        },
      ],
    }),
  );

const functions = (...rows: object[]) => result('OH-005', { details: { functions: rows } });

describe('the trimmed mean of pairs', () => {
  /** 1 000 pairs; every fiftieth call through the layer stalls. */
  const block = (slowNs: number): PairBlock => ({
    ...{ owner: LAYER, bareOwner: CUDA, intercepted: true, calls: 1, achievedNs: null },
    hookedNs: Float64Array.from({ length: 1000 }, (_, i) => (i % 50 === 0 ? slowNs : 105)),
    bareNs: new Float64Array(1000).fill(100),
  });

  it('counts stalls that a median does not see', () => {
    expect(pairSummary([block(105)])).toMatchObject({ overheadNs: 5, trimmedNs: 5 });
    const { overheadNs, trimmedNs } = pairSummary([block(100_105)]);
    expect(overheadNs).toBe(5);
    // 10 of 20 stalls are left of 980 pairs.
    expect(trimmedNs).toBeCloseTo(5 + (10 * 100_000) / 980, 6);
  });

  it('is compared beside the median, over the same rounds', () => {
    const pairs = (trimmedNs?: number) => functions(row('cuInit', 5, trimmedNs === undefined ? {} : { trimmedNs }));
    const [effect] = callEffects([rounds(5, (round) => [pairs(1_000 + round)])]);
    expect(effect).toMatchObject({ overheadNs: 5, trimmed: { overheadNs: 1_002 } });
    expect(effect && pairStall(effect)).toBe('few calls pay for many: +1.002 us by the trimmed mean');
    const [even] = callEffects([rounds(5, (round) => [pairs(5 + round / 10)])]);
    expect(even && pairStall(even)).toBeNull();
    const [old] = callEffects([rounds(5, () => [pairs()])]);
    expect(old).not.toHaveProperty('trimmed');
  });
});

describe('the cost of a call', () => {
  it("is the mean over rounds of each round's pairs, against zero", () => {
    const [effect] = callEffects([rounds(5, (round) => [functions(row('cuMemGetInfo_v2', 900 + round))])]);
    expect(effect).toMatchObject({
      metric: 'OH-005',
      system: 'hami-core',
      call: 'cuMemGetInfo_v2',
      owner: LAYER,
      intercepted: true,
      interceptedOn: null,
      rounds: 5,
      overheadNs: 902,
      bareNs: 100,
      verdict: 'slower',
    });
    const [low, high] = effect?.overheadCi95 as [number, number];
    expect(low).toBeCloseTo(902 - 2.776445 * Math.sqrt((2.5 + 1 / 12) / 5), 4);
    expect(low + high).toBeCloseTo(2 * 902, 9);
  });

  it('is signed, and inconclusive if its interval includes zero', () => {
    const verdict = (...values: number[]) =>
      callEffects([rounds(values.length, (round) => [functions(row('cuInit', values[round] as number))])])[0]?.verdict;
    expect(verdict(-5, -6, -7)).toBe('faster');
    expect(verdict(-5, 6, -7)).toBe('inconclusive');
    expect(verdict(500)).toBe('inconclusive');
    expect(verdict(0, 0, 0)).toBe('same');
  });

  it('is adjusted over the calls of its metric, so that noise in one of forty is not resolved', () => {
    const noise = [8, 10, 12];
    const others = Array.from({ length: 39 }, (_, i) => `cu${i}`);
    const effects = callEffects([
      rounds(3, (round) => [
        functions(row('cuNoise', noise[round] as number), ...others.map((name) => row(name, round - 1))),
      ]),
    ]);
    expect(effects.find(({ call }) => call === 'cuNoise')).toMatchObject({
      p: expect.any(Number) as number,
      verdict: 'inconclusive',
    });
  });

  it('is listed per metric, with the paths on which the layer owns it', () => {
    const pair = { call: 'cuLaunchKernel', intercepted: true, overheadNs: 300, bareNs: 4_200 };
    const effects = callEffects([
      rounds(2, () => [result('OH-001', { details: { pair } }), functions(row('cuLaunchKernel', 100))]),
    ]);
    expect(effects.map(({ metric, overheadNs, owner }) => [metric, overheadNs, owner])).toEqual([
      ['OH-001', 300, LAYER],
      ['OH-005', 100, LAYER],
    ]);
    expect(effects[0]?.interceptedOn).toEqual(['runtime', 'dlsym']);
  });

  it('uses only the rounds that measured it', () => {
    const some = (round: number) => [
      round === 1 ? without(functions(row('cuInit', 7)), 'invalid', 'why') : functions(row('cuInit', 5)),
    ];
    expect(callEffects([[...rounds(3, some), ...rounds(1, () => [])]])).toMatchObject([{ rounds: 2, overheadNs: 5 }]);
  });

  it('is not taken from details of another form', () => {
    const odd = [null, 'x', [], {}, row('cuInit', Number.NaN), row('cuInit', 1, { intercepted: 'yes' }), { pair: 1 }];
    for (const details of [{}, { functions: odd }, { functions: 'x' }, { pair: null }, { __proto__: [] }])
      expect(callEffects([rounds(2, () => ['OH-001', 'OH-005', 'X-1'].map((id) => result(id, { details })))])).toEqual(
        [],
      );
  });
});
