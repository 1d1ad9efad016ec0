/** `compare --detect` on the simulated GPU. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, emptyFolder, parseComparison, start } from './command.js';
import { expectRefusal, refused } from './refused.js';

const sim = 'init_ms=1,context_ms=1';
const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
const detecting = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--seed', '1', '--iterations', '10'];
const args = (output: string) => [...detecting, ...systems, '--detect', '50%', '--max-rounds', '4', '--output', output];
const summary = (output: string) => parseComparison(readFileSync(join(output, 'summary.json'), 'utf8'));
const rawFiles = (output: string, stage: string) =>
  readdirSync(join(output, 'raw')).filter((name) => name.startsWith(stage)).length;

describe('compare --detect', () => {
  it('plans the rounds from a stored pilot that is not part of the result', async () => {
    const output = join(emptyFolder(), 'out');
    const { code, stderr } = await command(args(output), {}, sim);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Plan: .* × 5 rounds of a pilot, then 3 to 4 rounds that detect 50 % × 1 metric /m);
    expect(stderr).toMatch(/^Pilot round 5, [ab]: /m);
    const { plan, systems: documents, completed } = summary(output);
    expect(completed).toBe(true);
    expect(stderr).toMatch(new RegExp(`^Planned: ${plan.rounds} rounds to detect 50 % `, 'm'));
    expect(plan.detect).toMatchObject({ effect: 0.5, pilotRounds: 5, mostRounds: 4, needs: [{ metric: 'OH-002' }] });
    expect(documents.map((rounds) => rounds.length)).toEqual([plan.rounds, plan.rounds]);
    expect([rawFiles(output, 'pilot'), rawFiles(output, 'round')]).toEqual([10, 2 * plan.rounds]);
    expect(readFileSync(join(output, 'report.md'), 'utf8')).toContain('planned from a pilot of 5 rounds');

    // An existing pilot is not measured again, and leads to the same plan.
    rmSync(join(output, 'raw/round-0002-system-1.json'));
    const resumed = await command(['compare', '--resume', output], {}, sim);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toMatch(/^Pilot round 1, a: reused$/m);
    expect(resumed.stderr).toMatch(/^Round 1, a: reused$/m);
    expect(summary(output).plan).toMatchObject({ rounds: plan.rounds, detect: plan.detect });
    const other = await refused(['compare', '--resume', output, '--detect', '10%'], { sim });
    expectRefusal(other, /its --detect was 50%, and now 10%;/);
  });

  it('reports an interrupted pilot, and continues it with --resume', async () => {
    const output = join(emptyFolder(), 'out');
    const running = start(args(output), {}, sim);
    await running.said('Pilot round 1');
    running.child.kill('SIGINT');
    const { code, stderr } = await running.done;
    expect(code).toBe(130);
    expect(stderr).toMatch(/^Interrupted: \d+ of 10 rounds of the pilot are finished\. Continue with: /m);
    expect(summary(output).plan.detect).toMatchObject({ isPilot: true, needs: [] });
    const resumed = await command(['compare', '--resume', output], {}, sim);
    expect(resumed.code).toBe(0);
    expect(summary(output).plan.detect).not.toHaveProperty('isPilot');
  });

  it.each<[string[], RegExp]>([
    [['--detect', '5'], /Expected --detect to be a percentage above 0% and at most 100%, e\.g\. 5%, but received 5\./],
    [['--detect', '5%', '--rounds', '5'], /Expected --rounds or --detect but received both/],
    [['--max-rounds', '5'], /Expected --max-rounds together with --detect/],
  ])('refuses %j', async (options, says) => expectRefusal(await refused([...detecting, ...systems, ...options]), says));
});
