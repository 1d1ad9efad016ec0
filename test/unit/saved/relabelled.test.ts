/** A system whose proofs were added later is the same system in all documents stored before. */
import { describe, expect, it } from 'vitest';
import { gate } from '../../../lib/gate/gate.js';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { trendsOf } from '../../../lib/saved/history.js';
import { merge } from '../../../lib/saved/merge.js';
import { commonLabels, relabelled } from '../../../lib/saved/relabelled.js';
import { labelAmong } from '../../../lib/systems/system-name.js';
import { about, comparison, type Values } from '../gate/fixtures.js';

const labels = ['mine', 'mine (unverified)'] as const;
const pairs = [labels, [...labels].reverse()] as [string, string][];
const values = (name: string): Values => ({ native: { 'OH-001': about(5) }, [name]: { 'OH-001': about(7) } });

const on = (day: number, name: string) =>
  comparison(values(name), { round: { startedAt: `2026-01-0${day}T00:00:00.000Z` } });

describe.each(pairs)('what was stored for %s is used for %s', (before, now) => {
  it('as a baseline', () => {
    const baseline = { name: 'main', document: comparison(values(before)) };
    const { cases, effects, warnings } = gate(
      comparison(values(now)),
      parseThresholds('', 'x', metrics),
      baseline,
      metrics,
    );
    expect(cases.map(({ system, outcome }) => [system, outcome])).toEqual([
      ['native', 'passed'],
      [now, 'passed'],
    ]);
    expect(effects.map(({ system, ratio }) => [system, ratio])).toContainEqual([now, 1]);
    expect(warnings.join()).not.toContain('The baseline has no');
  });

  it('in thresholds', () => {
    const thresholds = parseThresholds(`systems: ['${before}']\n`, 'gate.yaml', metrics);
    const { cases } = gate(comparison(values(now)), thresholds, null, metrics);
    expect(cases.map(({ system, outcome }) => [system, outcome])).toEqual([[now, 'failed']]);
  });

  it('in a merge, as unverified if any of its rounds is', () => {
    const merged = merge([
      { file: 'a.json', document: on(1, before) },
      { file: 'b.json', document: on(2, now) },
    ]);
    expect(merged).toMatchObject({ plan: { systems: ['native', 'mine (unverified)'] }, effects: [{ rounds: 10 }] });
  });

  it('in what is said of several cards', () => {
    const cards = (system: string) => [{ system, baseline: 'native', paired: [], leftOut: [] }];
    const document = { ...comparison(values(before)), cards: cards(before) };
    expect(relabelled(document, ['native', now])).toMatchObject({ cards: cards(now) });
  });

  it('in the history, under its last label', () => {
    const entry = (day: number, system: string) => ({
      ...{ source: 'results' as const, path: `${day}`, startedAt: `2026-01-0${day}T00:00:00.000Z`, simulated: false },
      ...{
        gpu: 'g',
        driver: 'd',
        systems: [system],
        tier: 'quick',
        rounds: 5,
        completed: true,
        ...{ incomplete: null, baselines: [] },
      },
      values: [{ metric: 'OH-001', name: 'n', unit: 'us', system, value: day, at: null }],
    });
    const trends = trendsOf([entry(1, before), entry(2, now)], metrics);
    expect(trends.map(({ system, points }) => [system, points.length])).toEqual([[now, 2]]);
  });
});

describe('labels', () => {
  it('are kept if two systems of a document have the same name', () => {
    const document = comparison({ ...values('mine'), 'mine (unverified)': { 'OH-001': about(1) } });
    expect(relabelled(document, ['native', 'mine (unverified)'])).toBe(document);
    expect(labelAmong('other', ['mine', 'native'])).toBe('other');
  });

  it('are renamed everywhere in a document', () => {
    const text = JSON.stringify(relabelled(comparison(values('mine (unverified)')), ['mine']));
    expect(text).not.toContain('(unverified)');
    expect(commonLabels([comparison(values('mine')), comparison(values('mine (unverified)'))])).toEqual([
      'native',
      'mine (unverified)',
    ]);
  });
});
