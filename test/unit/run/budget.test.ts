import { describe, expect, it } from 'vitest';
import { budgetGiven, budgetText } from '../../../lib/cli/comparing/budgeting.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { planWithin } from '../../../lib/run/plan/budget.js';
import { duration } from '../../../lib/results/text/plain.js';
import { makePlan, secondsOf } from '../../../lib/run/plan/plan.js';
import { withProcesses } from '../../../lib/run/plan/processes-per-round.js';
import type { Tier } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';
import { metric } from './fixtures.js';

// With the second of its start, a round takes 10 s at tier quick, 100 s at standard and 1 000 s at thorough.
const one = [metric('OH-001', 'overhead', { quick: 9, standard: 99, thorough: 999 })];
const within = (seconds: number) => planWithin({ metrics: one, systems: 2, seconds });

describe('a plan within a budget', () => {
  it.each([
    [40, 'quick', 2],
    [999, 'quick', 49],
    [1_000, 'standard', 5],
    [1_199, 'standard', 5],
    [19_999, 'standard', 50],
    [20_000, 'thorough', 10],
    [1e9, 'thorough', 50],
  ])('of %d s is tier %s with %d rounds', (seconds, tier, rounds) => expect(within(seconds)).toEqual({ tier, rounds }));

  it.each([metrics.slice(0, 5), metrics.slice(5, 30), metrics])('never takes longer than the budget', (...some) => {
    for (const seconds of [600, 3_600, 7_200, 40_000, 200_000]) {
      if (seconds < secondsOf(some, 'quick') * 3 * 2) continue;
      const { tier, rounds } = planWithin({ metrics: some, systems: 3, seconds });
      expect(secondsOf(some, tier) * 3 * rounds).toBeLessThanOrEqual(seconds);
      expect(rounds).toBeGreaterThanOrEqual(2);
    }
  });

  it('is refused if not even two rounds fit, with the time needed and a selection that fits', () => {
    const refusal =
      (seconds: number, some = metrics) =>
      () =>
        planWithin({ metrics: some, systems: 2, seconds });
    const needed = `2 rounds of ${metrics.length} metrics of 2 systems at tier quick`;
    expect(refusal(600)).toThrow(
      `Expected a budget of at least ${duration(secondsOf(metrics, 'quick') * 4)}, which ${needed} take, but received 10 min: --for `,
    );
    expect(refusal(600)).toThrow(/: --for \S+ would fit\.$/);
    expect(refusal(120)).toThrow(/: compare overhead would fit\.$/);
    expect(refusal(12)).toThrow(/: OH-001 OH-002 would fit\.$/);
    expect(refusal(7)).toThrow(/: no metric of them fits\.$/);
    // The whole category is longer than what was selected of it.
    const some = metrics.filter(({ id }) => ['LLM-001', 'LLM-005', 'LLM-006'].includes(id));
    expect(refusal(15, some)).toThrow(/: LLM-005 LLM-006 would fit\.$/);
  });
});

describe('--budget', () => {
  const parse = (budget: string, ...given: string[]) => budgetGiven({ budget }, (option) => given.includes(option));

  it.each([
    ['90s', 90],
    ['20min', 1_200],
    ['1h', 3_600],
    ['1h30min', 5_400],
    ['1h 30min 5s', 5_405],
  ])('takes %s', (text, seconds) => expect(parse(text)).toBe(seconds));

  it.each(['20', '30min1h', '1h1h', 'h', '0s', '-5min', '8000h', '1h30'])('refuses %j', (text) =>
    expect(() => parse(text)).toThrow(/^Expected --budget to be a duration with its unit/),
  );

  it.each([
    ['rounds', '--rounds'],
    ['detect', '--detect'],
    ['maxRounds', '--max-rounds'],
    ['tier', '--tier'],
    ['resume', '--resume'],
  ])('is refused beside %s', (option, flag) =>
    expect(() => parse('1h', option)).toThrow(`Expected --budget or ${flag} but received both: `),
  );

  it('is not needed', () => expect(budgetGiven({}, () => true)).toBeNull());

  it('says which changes the rounds find, by metric', () => {
    const some = ['START-002', 'OH-002', 'LLM-001'].map(metricNamed);
    const text = (tier: Tier, rounds: number) => {
      const plan = withProcesses(makePlan(some, tier, 1), 2);
      return budgetText(1_200, plan, rounds);
    };
    expect(text('quick', 2)).toMatch(
      /^Budget 20 min: 2 rounds at tier quick fit\. Only changes larger than 10 % are found in START-002 \(from (\d+ %|× [\d.]+)\), OH-002 \(from × [\d.]+\)\. Of 1 metric no variance is on record: --detect 10%/,
    );
    expect(text('quick', 12)).toMatch(/12 rounds at tier quick find a change of 10 % in START-002\. /);
    // More processes a round reduce the variance of its value.
    const from = (tier: Tier) => Number(/OH-002 \(from (\d+) %\)/.exec(text(tier, 12))?.[1]);
    expect(from('standard')).toBeLessThan(0.8 * from('quick'));
  });

  it('says nothing about metrics without a direction', () => {
    const plan = makePlan([{ ...metricNamed('START-002'), direction: 'none' }], 'quick', 1);
    expect(budgetText(1_200, plan, 2)).toBe('Budget 20 min: 2 rounds at tier quick fit.');
  });
});
