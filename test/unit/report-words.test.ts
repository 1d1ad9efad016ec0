/** Sentences say what the numbers say, and no more. */
import { describe, expect, it } from 'vitest';
import { type ComparisonDocument, type Effect, NOT_RECORDED } from '../../lib/document.js';
import { sizeText } from '../../lib/report/effect-text.js';
import { recommendations } from '../../lib/report/recommendations.js';
import { reproduction, toFillIn } from '../../lib/report/reproduction.js';
import { statisticsText } from '../../lib/report/statistics.js';
import { summaryText } from '../../lib/report/summary-text.js';
import { viewOf } from '../../lib/report/view.js';
import { parseSystem } from '../../lib/systems/parse.js';
import { comparison, everyKind, measured, without } from './report-fixtures.js';
import { runDocument } from './run-fixtures.js';

const two = (rounds: number, factor = 1.2): ComparisonDocument =>
  comparison(
    [
      { name: 'native', metrics: (round) => [measured('OH-001', 5, round)] },
      { name: 'mps', metrics: (round) => [measured('OH-001', 5 * factor, round)] },
    ],
    rounds,
  );
const statistics = (document: ComparisonDocument) => statisticsText(viewOf(document))[0];
const latency = (document: ComparisonDocument) =>
  recommendations(viewOf(document)).find(({ useCase }) => useCase === 'Latency-critical work')?.text;

describe('the statistics', () => {
  it('are of the rounds that there are', () => {
    expect(statistics(two(1))).toMatch(/: 1 round a system, .*With one round .*every verdict is ambiguous\.$/);
    expect(statistics(two(5))).toMatch(/: 5 rounds a system, .*t intervals over them\.$/);
    expect(statistics(two(6))).toMatch(/: 6 rounds a system, .*the median's, by order statistics/);
    const document = two(5);
    const [native = [], mps = []] = document.systems;
    const cut = { ...document, plan: { ...document.plan, rounds: 10 }, systems: [native, mps.slice(0, 4)] };
    expect(statistics(cut)).toMatch(/: 4 to 5 rounds a system/);
  });

  it('of systems that were measured apart hold nothing against anything', () => {
    const document = { ...two(2), effects: [], plan: { ...two(2).plan, order: [] } };
    expect(statisticsText(viewOf(document)).join(' ')).toMatch(/measured apart .* nothing is held against anything/);
    expect(statisticsText(viewOf(document)).join(' ')).not.toMatch(/Holm/);
  });
});

describe('a difference', () => {
  const ns = (value: number) => sizeText({ value, unit: 'ns', ci95: [-6e-4, 6e-4] });

  it('of equal numbers is 0, whatever rounding leaves of them', () => {
    expect(ns(2.96e-16)).toBe('0 ns');
    expect(ns(-2.96e-16)).toBe('0 ns');
  });

  it('that is small is told', () => expect([ns(1e-9), ns(-2e-4)]).toEqual(['+1.000e-9 ns', '-0.0002 ns']));
});

describe('values', () => {
  it('lie in their intervals, however they are spread', () => {
    for (const count of [2, 3, 4, 5, 6, 7, 10, 20])
      for (let high = 0; high <= count; high++) {
        const value = (round: number) => (round < high ? 10 : 5) + 0.001 * round;
        const metrics = (round: number) => [{ ...measured('OH-001', 5, 0), value: value(round) }];
        const [row] = viewOf(comparison([{ name: 'native', metrics }], count)).categories[0]?.rows ?? [];
        const [cell] = row?.cells ?? [];
        expect(cell?.ci95?.[0]).toBeLessThanOrEqual(cell?.value as number);
        expect(cell?.ci95?.[1]).toBeGreaterThanOrEqual(cell?.value as number);
      }
  });

  it('have the percentiles that the least of their rounds allows', () => {
    const metrics = (round: number) => [measured('OH-001', 5, round, round === 0 ? 30 : 400)];
    const [row] = viewOf(comparison([{ name: 'native', metrics }], 3)).categories[0]?.rows ?? [];
    expect(row?.cells[0]?.tail).toMatchObject({ count: 30, p95: null, p99: null });
  });
});

describe('the summary', () => {
  it('names what differs most first, whichever way', () => {
    const document = everyKind();
    const slower = (metric: string, ratio: number): Effect => ({
      ...(document.effects[0] as Effect),
      ...{ metric, ratio, ratioCi95: [ratio, ratio], verdict: 'faster' },
    });
    const effects = [slower('OH-001', 0.9), slower('OH-002', 0.1), slower('OH-003', 0.5), slower('START-001', 0.8)];
    const [text] = summaryText(viewOf({ ...document, effects }));
    expect(text).toMatch(/faster in 4 \(OH-002 .*, OH-003 .*, START-001 .*, …\)/);
  });
});

describe('a recommendation', () => {
  const named = (document: ComparisonDocument, changes: Record<string, Partial<Effect>>): ComparisonDocument => ({
    ...document,
    effects: document.effects.map((effect) => ({ ...effect, ...changes[`${effect.system} ${effect.metric}`] })),
  });
  const three = comparison([
    { name: 'native', metrics: (round) => [measured('OH-001', 5, round)] },
    { name: 'a', metrics: (round) => [measured('OH-001', 6, round)] },
    { name: 'b', metrics: (round) => [measured('OH-001', 6.2, round)] },
  ]);

  it('prefers of two that are slower the one whose interval ends before', () => {
    const apart = { 'a OH-001': { ratioCi95: [1.1, 1.2] }, 'b OH-001': { ratioCi95: [1.3, 1.4] } } as const;
    expect(latency(named(three, apart as never))).toMatch(/of a, b alone: a, better than b in OH-001/);
    const meeting = { 'a OH-001': { ratioCi95: [1.1, 1.35] }, 'b OH-001': { ratioCi95: [1.3, 1.4] } } as const;
    expect(latency(named(three, meeting as never))).toMatch(/of a, b alone: no significant difference/);
  });

  it('follows from nothing that is ambiguous or invalid', () => {
    const open = { 'a OH-001': { verdict: 'ambiguous' }, 'b OH-001': { verdict: 'ambiguous' } } as const;
    expect(latency(named(three, open))).toBe('no significant difference; 2 of 2 effects are ambiguous.');
    const bad = { 'a OH-001': { verdict: 'invalid' }, 'b OH-001': { verdict: 'slower' } } as const;
    expect(latency(named(three, bad))).toBe(
      'native, better than b in OH-001 and not shown to be worse in anything; without a verdict everywhere: OH-001.',
    );
  });

  it('says which metric is missing from it', () => {
    const metrics = (factor: number) => (round: number) => [
      factor === 1 ? measured('OH-001', 5, round) : without('OH-001', 'failed', 'CUDA_ERROR_UNKNOWN'),
      measured('OH-002', 40, round),
    ];
    const document = comparison([
      { name: 'native', metrics: metrics(1) },
      { name: 'mps', metrics: metrics(2) },
    ]);
    expect(latency(document)).toBe('no significant difference; without a verdict everywhere: OH-001.');
  });
});

describe('the command that measures it again', () => {
  it('of a run has the environment that is recorded', () => {
    const run = runDocument({ plan: { ...runDocument().plan, metrics: ['OH-001'] } });
    const system = { ...run.system, settings: { LD_PRELOAD: "/opt/a b/it's.so" } };
    expect(reproduction(viewOf({ ...run, system }))).toBe(
      `LD_PRELOAD='/opt/a b/it'\\''s.so' npx gpu-virt-bench run OH-001 --tier quick --seed 1`,
    );
  });

  it('leaves a word, and says what belongs there, where a document does not hold the settings of a system', () => {
    const document = two(2);
    const kinds = (kind: string, name: string): ComparisonDocument => ({
      ...document,
      plan: { ...document.plan, systems: ['native', name] },
      systems: document.systems.map((rounds, index) =>
        rounds.map((round) => {
          const { spec: _, ...system } = round.system;
          return index === 0 ? round : { ...round, system: { ...system, kind, name } };
        }),
      ),
    });
    expect(reproduction(viewOf(kinds('mps', 'mps')))).toContain(' --system mps:SETTINGS ');
    const own = viewOf(kinds('custom', 'own (unverified)'));
    expect(reproduction(own)).toContain(' --system custom:name=own,SETTINGS ');
    expect(toFillIn(own)).toEqual([
      expect.stringMatching(
        /^Replace SETTINGS of own \(unverified\) by .*Environment, Variables of own \(unverified\)/,
      ),
    ]);
    expect(() => parseSystem('custom:name=own,SETTINGS')).toThrow(/key=value/);
    expect(toFillIn(viewOf(document))).toEqual([]);
  });

  it('says that secrets are to be filled in', () => {
    const document = two(2);
    for (const { system } of document.systems[1] ?? []) system.spec = `custom:name=mps,env.TOKEN=${NOT_RECORDED}`;
    expect(toFillIn(viewOf(document))).toEqual(['Replace every (not recorded) of mps: a document keeps no secrets.']);
  });

  it('repeats no control character', () => {
    const run = runDocument();
    const system = { ...run.system, settings: { A: '\u001b]0;owned\u0007\nrm -rf x\u202e' } };
    expect(reproduction(viewOf({ ...run, system }))).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
