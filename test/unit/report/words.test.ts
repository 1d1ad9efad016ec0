/** The sentences of reports state what the numbers show, and no more. */
import { describe, expect, it } from 'vitest';
import { type ComparisonDocument, NOT_RECORDED, type RunDocument } from '../../../lib/results/document.js';
import { sizeText } from '../../../lib/results/text/effect-text.js';
import { reproduction, toFillIn } from '../../../lib/report/tables/reproduction.js';
import { statisticsText } from '../../../lib/report/text/statistics.js';
import { headerFacts, timesText } from '../../../lib/report/tables/header.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparison, measured, without } from './fixtures.js';
import { runDocument } from '../run/fixtures.js';

const two = (rounds: number, factor = 1.2): ComparisonDocument =>
  comparison(
    [
      { name: 'native', metrics: (round) => [measured('OH-001', 5, round)] },
      { name: 'mps', metrics: (round) => [measured('OH-001', 5 * factor, round)] },
    ],
    rounds,
  );
const statistics = (document: ComparisonDocument) => statisticsText(viewOf(document))[0];
describe('the head of a report', () => {
  const proven = (failed: number, kind: string, more: Partial<RunDocument['system']> = {}) => {
    const document = two(2);
    const attestation = Array.from({ length: 6 }, (_, i) => ({ proof: `p${i}`, passed: i >= failed, detail: '' }));
    const [round] = document.systems[0] ?? [];
    if (round) round.system = { ...round.system, kind, attestation, ...more };
    return new Map(headerFacts(viewOf(document)));
  };

  it('states whether a system was confirmed, and by how many checks', () => {
    expect(proven(0, 'native').get('Baseline')).toMatch(/^native confirmed: no layer active \(6 of 6 checks\)/);
    expect(proven(0, 'mps').get('Baseline')).toMatch(/^native confirmed: active \(6 of 6 checks\)/);
    expect(proven(0, 'environment').get('Baseline')).toMatch(/^native passed 6 of 6 checks/);
    expect(proven(0, 'custom', { verified: false }).get('Baseline')).toMatch(/^native passed 6 of 6 checks/);
    expect(proven(1, 'native').get('Baseline')).toMatch(/^native NOT confirmed: only 5 of 6 checks passed/);
  });
});

describe('the statistics', () => {
  it('cover the available rounds', () => {
    expect(statistics(two(1))).toMatch(/: 1 round per system, .*With one round, .*every verdict is inconclusive\.$/);
    expect(statistics(two(5))).toMatch(/: 5 rounds per system, .*t intervals over them\.$/);
    expect(statistics(two(6))).toMatch(/: 6 rounds per system, .*those of the median, by order statistics/);
    const document = two(5);
    const [native = [], mps = []] = document.systems;
    const cut = { ...document, plan: { ...document.plan, rounds: 10 }, systems: [native, mps.slice(0, 4)] };
    expect(statistics(cut)).toMatch(/: 4 to 5 rounds per system/);
  });

  it('compare nothing between systems measured separately', () => {
    const document = { ...two(2), effects: [], plan: { ...two(2).plan, order: [] } };
    expect(statisticsText(viewOf(document)).join(' ')).toMatch(
      /measured separately .* they are not compared with each other/,
    );
    expect(statisticsText(viewOf(document)).join(' ')).not.toMatch(/Holm/);
  });
});

describe('a difference', () => {
  const ns = (value: number) => sizeText({ value, unit: 'ns', ci95: [-6e-4, 6e-4] }).value;

  it('of equal numbers is 0 despite rounding', () => {
    expect(ns(2.96e-16)).toBe('0 ns');
    expect(ns(-2.96e-16)).toBe('0 ns');
  });

  it('is shown even if small', () => expect([ns(1e-6), ns(-2e-4)]).toEqual(['+0.0000010 ns', '-0.0002000 ns']));
});

describe('values', () => {
  it('lie in their intervals for any spread', () => {
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

  it('have the percentiles that the smallest round allows', () => {
    const metrics = (round: number) => [measured('OH-001', 5, round, round === 0 ? 30 : 400)];
    const [row] = viewOf(comparison([{ name: 'native', metrics }], 3)).categories[0]?.rows ?? [];
    expect(row?.cells[0]?.tail).toMatchObject({ count: 30, p95: null, p99: null });
  });
});

describe('the command that repeats the measurement', () => {
  it('of a run contains the recorded environment', () => {
    const run = runDocument({ plan: { ...runDocument().plan, metrics: ['OH-001'] } });
    const system = { ...run.system, settings: { LD_PRELOAD: "/opt/a b/it's.so" } };
    expect(reproduction(viewOf({ ...run, system }))).toBe(
      `LD_PRELOAD='/opt/a b/it'\\''s.so' npx gpu-virt-bench run OH-001 --tier quick --seed 1`,
    );
  });

  /** Two systems; the second was made from the settings of `system`. */
  const made = (system: Partial<RunDocument['system']>, plan: Partial<ComparisonDocument['plan']> = {}) => {
    const document = two(2);
    const { name = 'mps' } = system;
    const changed = (round: RunDocument) => ({ ...round, system: { ...round.system, spec: undefined, ...system } });
    return {
      ...document,
      plan: { ...document.plan, systems: ['native', name], ...plan },
      systems: document.systems.map((rounds, index) => (index === 0 ? rounds : rounds.map(changed))),
    } as ComparisonDocument;
  };

  it('is replaced by an explanation if a document lacks the settings of a system', () => {
    const own = viewOf(made({ kind: 'custom', name: 'own (unverified)' }));
    expect(reproduction(own)).toBe('');
    expect(toFillIn(own)).toEqual([
      expect.stringMatching(/^No command .* settings of own \(unverified\).*Variables of own \(unverified\)\.$/),
    ]);
    expect(toFillIn(viewOf(two(2)))).toEqual([]);
  });

  it('names the systems file if there is one', () => {
    const document = made({ kind: 'custom', name: 'own' }, { config: 'out of/systems.yaml' });
    expect(reproduction(viewOf(document))).toMatch(
      /^npx gpu-virt-bench compare .*--config 'out of\/systems\.yaml' --rounds/,
    );
    expect(reproduction(viewOf(document))).not.toContain('--system');
    expect(toFillIn(viewOf(document))).toEqual([]);
  });

  it('is a separate command for the environment of run', () => {
    const merged = viewOf(made({ kind: 'environment', name: 'environment', settings: { LD_PRELOAD: '/x.so' } }));
    const [compared, run, ...more] = reproduction(merged).split('\n');
    expect(compared).toMatch(/^npx gpu-virt-bench compare .* --system native --rounds /);
    expect(run).toMatch(/^LD_PRELOAD=\/x\.so npx gpu-virt-bench run /);
    expect(more).toEqual([]);
  });

  it('has a line for each set of metrics that merged runs measured', () => {
    const run = runDocument();
    const of = (...metrics: string[]) => ({ ...run, plan: { ...run.plan, metrics } });
    const { plan } = made({});
    const rounds = [of('OH-001'), of('OH-002', 'OH-001'), of('OH-001'), of('OH-001', 'OH-002')];
    const merged = { ...two(2), plan: { ...plan, systems: ['environment'], order: [] }, systems: [rounds] };
    const lines = reproduction(viewOf(merged as ComparisonDocument)).split('\n');
    expect(lines.map((line) => /run (.*?) --tier/.exec(line)?.[1])).toEqual(['OH-001', 'OH-001 OH-002']);
  });

  it('accounts for a missing system', () => {
    const document = made({ spec: 'mps' });
    for (const round of document.systems[1] ?? [])
      Object.assign(round, { provenance: [], metrics: [without('OH-001', 'unsupported', 'no control program')] });
    expect(reproduction(viewOf(document))).toContain(
      ' --system mps --rounds 2 --tier standard --seed 7 --allow-missing',
    );
    expect(reproduction(viewOf(two(2)))).not.toContain('--allow-missing');
  });

  it('shows how to continue an interrupted comparison', () => {
    const document = { ...made({ spec: 'mps' }, { config: 'results/x/systems.yaml' }), completed: false };
    expect(toFillIn(viewOf(document))).toEqual([
      'The comparison was interrupted. This continues it: npx gpu-virt-bench compare --resume results/x',
    ]);
  });

  it('states that secrets must be filled in', () => {
    const spec = `custom:name=mps,env.TOKEN=${NOT_RECORDED}`;
    expect(toFillIn(viewOf(made({ spec })))).toEqual(['Replace every (not recorded) of mps: results keep no secrets.']);
    const interrupted = { ...made({ spec }, { config: 'x/systems.yaml' }), completed: false };
    expect(toFillIn(viewOf(interrupted))).toEqual([
      'Replace every (not recorded) of mps in x/systems.yaml: results keep no secrets.',
    ]);
  });

  it('contains no control character', () => {
    const run = runDocument();
    const system = { ...run.system, settings: { A: '\u001b]0;owned\u0007\nrm -rf x\u202e' } };
    expect(reproduction(viewOf({ ...run, system }))).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});

describe('the times of metrics', () => {
  const timed = (id: string, category: string, durationMs?: number) => ({
    ...{ ...measured(id, 1, 0), category },
    ...(durationMs !== undefined && { durationMs }),
  });
  const round = (...metrics: ReturnType<typeof timed>[]) => runDocument({ metrics });

  it('are means over the rounds that have them, by category', () => {
    const rounds = [
      round(timed('IS-001', 'isolation', 4_000), timed('IS-002', 'isolation', 1_250), timed('OH-001', 'overhead', 500)),
      round(timed('IS-001', 'isolation', 5_000), timed('IS-002', 'isolation'), timed('OH-001', 'overhead', 500)),
    ];
    expect(timesText(rounds)).toBe('isolation 5.75 s (IS-001 4.5 s, IS-002 1.25 s); overhead 0.5 s (OH-001 0.5 s)');
  });

  it('are left out for documents without them', () =>
    expect(timesText([round(timed('IS-001', 'isolation'))])).toBe(''));
});
