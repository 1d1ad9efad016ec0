import { describe, expect, it } from 'vitest';
import type { Effect } from '../../lib/results/document.js';
import { findMetric } from '../../lib/metrics/registry.js';
import type { MetricDefinition } from '../../lib/metrics/metric.js';
import { parseAim, plannedText } from '../../lib/cli/detecting.js';
import { detectionText } from '../../lib/report/detection.js';
import { checkDetectable, detectionOf, plannedRounds } from '../../lib/run/detect.js';
import { effect as effectOf } from '../../lib/stats/effect.js';
import { detectable } from '../../lib/stats/rounds-needed.js';
import { comparison, measured } from './report-fixtures.js';
import { gaussian } from './stats-fixtures.js';

const metricsOf = (...ids: string[]) => ids.map((id) => findMetric(id) as MetricDefinition);
const aim = { effect: 0.05, mostRounds: 50 };

/** The pilot has five rounds: the t quantile for four degrees of freedom is 2.776. */
const piloted = (metric: string, sd: number, more: Partial<Effect> = {}): Effect => {
  const half = (2.776445 * sd) / Math.sqrt(5);
  return {
    ...(comparison([
      { name: 'a', metrics: (round) => [measured('OH-002', 10, round)] },
      { name: 'b', metrics: (round) => [measured('OH-002', 10, round)] },
    ]).effects[0] as Effect),
    ...{ metric, system: 'b', rounds: 5, ratioCi95: [Math.exp(-half), Math.exp(half)], verdictRaw: 'inconclusive' },
    ...more,
  } as Effect;
};

describe('the rounds that --detect plans', () => {
  it('are the fewest whose quantiles of 95 and 90 % together are shorter than the effect', () => {
    const { needs } = detectionOf([piloted('OH-002', 0.04)], metricsOf('OH-002'), aim);
    // ln 1.05 is 4.88 %: 10 rounds detect (2.262 + 1.383) × 0.04 / √10 = 4.61 %, 9 rounds 4.94 %.
    expect(needs).toEqual([
      { metric: 'OH-002', system: 'b', rounds: 10, detects: expect.closeTo(0.0472, 3) as number },
    ]);
  });

  it('are as many as the noisiest metric needs, up to the limit', () => {
    const ids = ['OH-001', 'OH-002', 'OH-003'];
    const all = [piloted('OH-001', 0.001), piloted('OH-002', 0.04), piloted('OH-003', 0.3)];
    expect(plannedRounds(detectionOf(all.slice(0, 1), metricsOf(...ids), aim))).toBe(3);
    expect(plannedRounds(detectionOf(all.slice(0, 2), metricsOf(...ids), aim))).toBe(10);
    const detection = detectionOf(all, metricsOf(...ids), { ...aim, mostRounds: 20 });
    expect(plannedRounds(detection)).toBe(20);
    expect(detection.needs.at(-1)).toMatchObject({ metric: 'OH-003', rounds: null });
    // For 20 rounds: (2.093 + 1.328) × 0.3 / √20 on a logarithmic scale.
    expect(detection.needs.at(-1)?.detects).toBeCloseTo(Math.expm1(0.2295), 3);
  });

  it('are the minimum if no ratio has an interval', () => {
    const odd = [
      piloted('OH-002', 0.04, { ratioCi95: null }),
      piloted('OH-002', 0.04, { verdictRaw: 'invalid' }),
      piloted('OH-005', 0.04),
    ];
    const detection = detectionOf(odd, metricsOf('OH-002', 'OH-005'), aim);
    expect(detection.needs).toEqual([]);
    expect(plannedText(detection, plannedRounds(detection))).toMatch(/^Planned: 3 rounds, the fewest: no metric/);
  });

  it('detect the effect with a probability of about 80 %, even if the noise of the pilot is low or high by chance', () => {
    const noise = gaussian(11);
    const rounds = (count: number, factor: number) =>
      Array.from({ length: count }, () => ({ system: factor * Math.exp(0.03 * noise()), baseline: 1 }));
    const found = (count: number, factor: number) =>
      effectOf(rounds(count, factor), 'lower', { relative: 0 }).ratioCi95;
    const runs = Array.from({ length: 300 }, () => {
      const pilot = piloted('OH-002', 0, { ratioCi95: found(5, 1) });
      const count = plannedRounds(detectionOf([pilot], metricsOf('OH-002'), aim));
      return { power: (found(count, 1.05)?.[0] ?? 0) > 1, covers: (found(count, 1)?.[0] ?? 2) <= 1 };
    });
    const share = (of: (run: (typeof runs)[number]) => boolean) => runs.filter(of).length / runs.length;
    expect(share(({ power }) => power)).toBeGreaterThan(0.75);
    expect(share(({ power }) => power)).toBeLessThan(0.93);
    // One side of a 95 % interval, since it does not include the pilot.
    expect(share(({ covers }) => covers)).toBeGreaterThan(0.95);
  });

  it('agree with the textbook: 16 rounds detect 0.75 standard deviations with 80 %', () =>
    // t(0.975, 15) = 2.131, t(0.8, 15) = 0.866.
    expect(detectable(1, 16, 0.8)).toBeCloseTo((2.131 + 0.866) / 4, 3));

  it('are refused for metrics without a ratio', () => {
    expect(() => checkDetectable(metricsOf('OH-005'))).toThrow(
      /^Expected a metric that is compared by ratio beside --detect but received OH-005/,
    );
    expect(() => checkDetectable(metricsOf('OH-005', 'OH-002'))).not.toThrow();
  });
});

describe('the options of --detect', () => {
  it('set an effect and a limit', () => {
    expect(parseAim({})).toBeNull();
    expect(parseAim({ detect: '5%' })).toEqual({ effect: 0.05, mostRounds: 50 });
    expect(parseAim({ detect: '0.5%', maxRounds: '3' })).toEqual({ effect: 0.005, mostRounds: 3 });
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
  ])('refuse %j', (raw, message) => expect(() => parseAim(raw)).toThrow(message));
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
