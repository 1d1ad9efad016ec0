import { describe, expect, it } from 'vitest';
import { execTimeText } from '../../../lib/workloads/metrics/exec-time.js';
import { workloadsOf } from '../../../lib/workloads/settings/read-workloads.js';

const of = (settings: Record<string, unknown>, rounds = { fewest: 5, most: 5 }) =>
  execTimeText(workloadsOf({ settings: { name: 'a', argv: ['a'], ...settings } as never, folder: '/' }), 2, rounds);

describe('the time of programs', () => {
  it('is not known before the first run, and has an upper limit', () =>
    expect(of({})).toBe(
      'Time: not known before the first run, because it depends on how long the program runs: 130 runs of 10 s would take about 22 min. At most about 61 h: 330 runs where they vary, each with its time limit and the longest wait for the GPU to cool.',
    ));

  it('has no repeats of a hundred runs, which are enough', () =>
    expect(of({ warmup: '0', iterations: '100' })).toMatch(/1000 runs of 10 s .*: 1000 runs where they vary/));

  it('is at least what the settings declare', () => {
    const server = { ready: { line: 'up' }, stopAfter: '60', warmup: '0', iterations: '3' };
    expect(of(server)).toMatch(/^Time: at least about 30 min, as declared, and the start .* each of 30 runs\. At most/);
  });

  it('covers the pilot and all rounds that --detect may plan', () => {
    const text = of({}, { fewest: 8, most: 55 });
    expect(text).toContain('208 runs of 10 s');
    expect(text).toContain('3630 runs where they vary');
  });
});
