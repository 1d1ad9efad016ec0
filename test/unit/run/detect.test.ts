import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../lib/results/document.js';
import { findMetric } from '../../../lib/metrics/registry.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { roundsGiven, plannedText } from '../../../lib/cli/comparing/rounds-given.js';
import { detectionText } from '../../../lib/report/tables/detection.js';
import { checkDetectable, detectionOf, plannedRounds } from '../../../lib/run/effects/detect.js';
import { type Directed, effectsOf } from '../../../lib/run/effects/family.js';
import { comparison, measured } from '../report/fixtures.js';
import { gaussian } from '../stats/fixtures.js';

const metricsOf = (...ids: string[]) => ids.map((id) => findMetric(id) as MetricDefinition);
const aim = { effect: 0.05, mostRounds: 50 };

const piloted = (metric: string, sd: number, more: Partial<Effect> = {}): Effect => ({
  ...(comparison([
    { name: 'a', metrics: (round) => [measured('OH-002', 10, round)] },
    { name: 'b', metrics: (round) => [measured('OH-002', 10, round)] },
  ]).effects[0] as Effect),
  ...{ metric, system: 'b', rounds: 5, ratio: 1, betweenRounds: [sd, sd], p: 0.5, verdict: 'inconclusive' },
  ...more,
});

describe('the rounds that --detect plans', () => {
  it('are more for a larger family', () => {
    const others = ['OH-001', 'OH-003', 'OH-004'].map((id) => piloted(id, 0.04));
    const needs = (...effects: Effect[]) =>
      detectionOf(effects, metricsOf('OH-002'), aim).needs.find(({ metric }) => metric === 'OH-002')?.rounds;
    expect(needs(piloted('OH-002', 0.04), ...others)).toBeGreaterThan(needs(piloted('OH-002', 0.04)) as number);
  });

  it('are as many as the noisiest metric needs, up to the limit', () => {
    const ids = ['OH-001', 'OH-002', 'OH-003'];
    const all = [piloted('OH-001', 0.001), piloted('OH-002', 0.03), piloted('OH-003', 0.3)];
    const of = (count: number) => plannedRounds(detectionOf(all.slice(0, count), metricsOf(...ids), aim));
    expect(of(1)).toBe(3);
    expect(of(2)).toBeGreaterThan(8);
    expect(of(2)).toBeLessThan(50);
    const detection = detectionOf(all, metricsOf(...ids), { ...aim, mostRounds: 20 });
    expect(plannedRounds(detection)).toBe(20);
    expect(detection.needs.at(-1)).toMatchObject({ metric: 'OH-003', rounds: null });
    expect(detection.needs.at(-1)?.detects).toBeGreaterThan(0.05);
  });

  it('are for δ where the effect to detect would be too small to count', () => {
    const needs = (effect: number) =>
      detectionOf([piloted('OH-002', 0.02)], metricsOf('OH-002'), { ...aim, effect }).needs[0]?.rounds;
    expect(needs(0.01)).toBe(needs(0.05));
    expect(needs(0.1)).toBeLessThan(needs(0.05) as number);
  });

  it('are the minimum if no ratio has a spread', () => {
    const odd = [
      piloted('OH-002', 0.04, { betweenRounds: null }),
      piloted('OH-002', 0.04, { verdict: 'invalid' }),
      piloted('OH-005', 0.04),
    ];
    const detection = detectionOf(odd, metricsOf('OH-002', 'OH-005'), aim);
    expect(detection.needs).toEqual([]);
    expect(plannedText(detection, plannedRounds(detection))).toMatch(/^Planned: 3 rounds, the fewest: no metric/);
  });

  it('lead to a verdict with a probability of 75 to 90 %, over pilots whose noise is low or high by chance', () => {
    const noise = gaussian(11);
    const arms = (count: number, factor: number) =>
      [factor, 1].map((centre) => Array.from({ length: count }, () => centre * Math.exp(0.03 * noise()))) as [
        number[],
        number[],
      ];
    const found = (count: number, factor: number) =>
      effectsOf(
        [
          {
            metric: { ...(findMetric('OH-002') as Directed), id: 'X-001' },
            ...named(arms(count, factor)),
            invalid: null,
          },
        ],
        'b',
        'a',
      )[0];
    const named = ([system, baseline]: [number[], number[]]) => ({ system, baseline });
    const runs = Array.from({ length: 200 }, () => {
      const pilot = { ...(found(5, 1) as Effect), metric: 'OH-002' };
      return found(plannedRounds(detectionOf([pilot], metricsOf('OH-002'), aim)), 1.05)?.verdict === 'slower';
    });
    const share = runs.filter(Boolean).length / runs.length;
    expect(share).toBeGreaterThan(0.72);
    expect(share).toBeLessThan(0.93);
  });

  it('are refused for metrics without a ratio', () => {
    expect(() => checkDetectable(metricsOf('OH-005'))).toThrow(
      /^Expected a metric that is compared by ratio beside --detect but received OH-005/,
    );
    expect(() => checkDetectable(metricsOf('OH-005', 'OH-002'))).not.toThrow();
  });
});

describe('the options of --detect', () => {
  it('set an effect and a limit', () => {
    expect(roundsGiven({})).toBeNull();
    expect(roundsGiven({ detect: '5%' })).toEqual({ effect: 0.05, mostRounds: 50 });
    expect(roundsGiven({ detect: '0.5%', maxRounds: '3' })).toEqual({ effect: 0.005, mostRounds: 3 });
  });

  it.each([
    [{ detect: '5' }, 'Expected --detect to be a percentage above 0% and at most 100%, e.g. 5%, but received 5.'],
    [{ detect: '0%' }, "Expected --detect to be a percentage above 0% and at most 100%, e.g. 5%, but received '0%'."],
    [{ detect: '101%' }, 'Expected --detect to be a percentage above 0% and at most 100%'],
    [{ detect: '-1%' }, 'Expected --detect to be a percentage above 0% and at most 100%'],
    [{ detect: '5%', maxRounds: '2' }, 'Expected --max-rounds to be an integer from 3 to 1000 but received 2.'],
    [{ detect: '5%', maxRounds: '1e3' }, "Expected --max-rounds to be an integer from 3 to 1000 but received '1e3'."],
    [{ maxRounds: '20' }, 'Expected --max-rounds together with --detect but received it alone.'],
    [
      { detect: '5%', rounds: '5' },
      'Expected --rounds or --detect but received both: --detect plans the rounds itself.',
    ],
  ])('refuse %j', (raw, message) => expect(() => roundsGiven(raw)).toThrow(message));
});

describe('the report of planned rounds', () => {
  const document = comparison([{ name: 'a', metrics: (round) => [measured('OH-002', 10, round)] }]);
  const of = (detect: NonNullable<(typeof document.plan)['detect']>) =>
    detectionText({ ...document, plan: { ...document.plan, detect } });
  const detect = { effect: 0.05, pilotRounds: 5, mostRounds: 20 };

  it('is empty without --detect', () => expect(detectionText(document)).toEqual([]));

  it('names the metrics whose effect the allowed rounds do not detect', () => {
    const quiet = { metric: 'OH-002', system: 'mps', rounds: 10, detects: 0.047 };
    const loud = { metric: 'OH-003', system: 'm\u001b[31mps', rounds: null, detects: 0.258 };
    expect(of({ ...detect, needs: [quiet] })).toHaveLength(1);
    const [planned, others] = of({ ...detect, needs: [quiet, loud] });
    expect(planned).toMatch(/^The number of rounds was planned from a pilot of 5 rounds, .* an effect is 5 %, /);
    expect(others).toMatch(/; these 3 detect: OH-003 of mps 25\.8 %\.$/);
  });

  it('reports an interrupted pilot', () =>
    expect(of({ ...detect, needs: [], isPilot: true })).toEqual([expect.stringMatching(/It was interrupted\.$/)]));
});
