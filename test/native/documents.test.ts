/** Whole runs and comparisons through the library, as a program requests them. */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { comparisonDocumentSchema, runDocumentSchema } from '../../lib/results/document.js';
import * as bench from '../../lib/index.js';
import { planWithin } from '../../lib/run/plan/budget.js';
import { metricNamed } from '../metric-named.js';
import { cardIn } from './child.js';

beforeAll(() => {
  vi.stubEnv('GVB_SIM', cardIn(`documents-${randomUUID().slice(0, 8)}`, 'init_ms=8,context_ms=8'));
});
afterAll(() => vi.unstubAllEnvs());

describe('runMetrics', () => {
  it('resolves with the same document as the command line, and reports progress', async () => {
    const seen = new Set<string>();
    const document = await bench.runMetrics({
      metrics: ['OH-002', 'OH-003'],
      simulate: true,
      iterations: 30,
      onProgress: ({ id }) => seen.add(id),
    });
    expect(v.parse(runDocumentSchema, document)).toEqual(document);
    expect(document).toMatchObject({ completed: true, system: { name: 'environment' } });
    expect(document.metrics.map(({ id, status }) => [id, status])).toEqual([
      ['OH-002', 'ok'],
      ['OH-003', 'ok'],
    ]);
    expect([...seen].sort()).toEqual(['OH-002', 'OH-003']);
    const times = document.metrics.map(({ durationMs }) => durationMs as number);
    for (const ms of times) expect(ms).toBeGreaterThan(0);
    expect(times.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(document.durationMs);
  });

  it('returns the results so far when it is aborted', async () => {
    const controller = new AbortController();
    const document = await bench.runMetrics({
      metrics: ['OH-001'],
      simulate: true,
      iterations: 1_000_000,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    });
    expect(document).toMatchObject({ completed: false, metrics: [] });
  });

  it('refuses an unknown metric', () =>
    expect(bench.runMetrics({ metrics: ['OH-999'], simulate: true })).rejects.toThrow(/OH-999/));
});

describe('compareSystems', () => {
  it('resolves with the comparison document', async () => {
    const document = await bench.compareSystems({
      metrics: ['OH-002'],
      systems: ['native:name=a', 'native:name=b'],
      rounds: 2,
      tier: 'quick',
      simulate: true,
      iterations: 30,
    });
    expect(v.parse(comparisonDocumentSchema, document)).toEqual(document);
    expect(document.systems.map((rounds) => rounds.length)).toEqual([2, 2]);
    expect(document.effects).toHaveLength(1);
  });

  it('computes the cost for a program, by its call profile', async () => {
    const document = await bench.compareSystems({
      metrics: ['OH-005'],
      systems: ['native:name=a', 'native:name=b'],
      rounds: 2,
      tier: 'quick',
      simulate: true,
      iterations: 30,
      profile: 'graphs',
    });
    expect(v.parse(comparisonDocumentSchema, document)).toEqual(document);
    expect(document.programCosts?.map(({ system, profile, taxUs }) => [system, profile, taxUs])).toEqual([
      ['a', 'graphs', 0],
      ['b', 'graphs', 0],
    ]);
  });

  it('refuses a call profile that it cannot price, before anything is measured', async () => {
    const options = { systems: ['native:name=a', 'native:name=b'], simulate: true };
    await expect(bench.compareSystems({ ...options, metrics: ['OH-002'], profile: 'eager' })).rejects.toThrow(
      /measured by OH-005, which is not among the metrics/,
    );
    await expect(bench.runMetrics({ simulate: true, metrics: ['OH-005'], profile: './none.json' })).rejects.toThrow(
      /Expected a call profile but received .*there is no such file/,
    );
  });

  it('says what a tenant of each system pays, and that none of its own metrics has a cost', async () => {
    const options = { metrics: ['OH-002'], rounds: 1, tier: 'quick' as const, simulate: true, iterations: 30 };
    const half = { kind: 'custom' as const, name: 'half', env: {}, interposes: false };
    const document = await bench.compareSystems({
      ...{ ...options, systems: ['native', half] },
      prices: { currency: 'EUR', cards: 4, systems: { half: { share: '50%' } } },
    });
    expect(v.parse(comparisonDocumentSchema, document)).toEqual(document);
    expect(document.prices).toEqual({
      currency: 'EUR',
      perGpuHour: 4,
      systems: [
        { system: 'native', sharePercent: 100, from: 'whole card', perHour: 4 },
        { system: 'half (unverified)', sharePercent: 50, from: 'prices', perHour: 2 },
      ],
    });
    expect(document.warnings).toContainEqual(
      expect.stringMatching(/^Prices were given, but no metric of a program is/),
    );
    const bare = await bench.compareSystems({ ...options, systems: ['native:name=a', 'native:name=b'] });
    expect(bare.prices).toBeUndefined();
  });

  it('plans tier and rounds for a budget', async () => {
    const options = { metrics: ['OH-002'], systems: ['native:name=a', 'native:name=b'], simulate: true };
    const { plan } = await bench.compareSystems({ ...options, budget: '20s', iterations: 30 });
    const planned = planWithin({ metrics: [metricNamed('OH-002')], systems: 2, seconds: 20 });
    expect({ tier: plan.tier, rounds: plan.rounds }).toEqual(planned);
    for (const other of [{ rounds: 2 }, { tier: 'quick' as const }, { detect: 0.1 }])
      await expect(bench.compareSystems({ ...options, ...other, budget: '20s' })).rejects.toThrow(
        /^Expected budget or (rounds|tier|detect) but received both/,
      );
    await expect(bench.compareSystems({ ...options, budget: '20' })).rejects.toThrow(
      /^Expected budget to be a duration with its unit/,
    );
    await expect(bench.compareSystems({ ...options, budget: '1s' })).rejects.toThrow(
      /^Expected a budget of at least .* but received 1 s/,
    );
  });

  it('refuses prices of other systems and of no card, before it measures', async () => {
    const onProgress = () => {
      throw new Error('it measured');
    };
    const options = { metrics: ['OH-002'], systems: ['native:name=a', 'native:name=b'], simulate: true, onProgress };
    const prices = { cards: 4, systems: { c: { share: '50%' } } };
    await expect(bench.compareSystems({ ...options, prices })).rejects.toThrow(
      /^Expected systems of prices to be systems that are measured but received 'c'/,
    );
    await expect(bench.compareSystems({ ...options, prices: { cards: { 'Some other GPU': 4 } } })).rejects.toThrow(
      /Simulated GPU/,
    );
  });

  it('accepts systems with proofs, as in the YAML file', async () => {
    const owned = (matches: string) => ({
      kind: 'custom' as const,
      name: matches,
      env: { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'cuLaunchKernel=+0ns' },
      verify: [{ symbolOwner: { symbol: 'cuLaunchKernel', matches } }],
    });
    const { systems } = await bench.compareSystems({
      metrics: ['OH-002'],
      systems: [{ kind: 'native' }, owned('interpose'), owned('another')],
      rounds: 1,
      tier: 'quick',
      simulate: true,
      iterations: 30,
    });
    expect(systems.map(([round]) => round?.system.name)).toEqual(['native', 'interpose', 'another']);
    expect(systems.map(([round]) => round?.metrics[0]?.status)).toEqual(['ok', 'ok', 'invalid']);
  });

  it.each([
    [{ systems: ['native'] }, /at least two systems to compare but received 1/],
    [{ systems: ['native', 'fcsp'], rounds: 0 }, /rounds to be an integer from 1 to 1000 but received 0/],
    [{ systems: ['native', 'fcsp'], rounds: 1001 }, /rounds to be an integer from 1 to 1000 but received 1001/],
    [{ systems: ['native', 'native'] }, /native twice/],
  ])('refuses %j', async (options, message) => {
    const refused = expect(bench.compareSystems({ ...options, simulate: true })).rejects;
    await refused.toThrow(message);
    await refused.toMatchObject({ name: expect.stringMatching(/^(UsageError|TypeError|RangeError)$/) });
  });
});
