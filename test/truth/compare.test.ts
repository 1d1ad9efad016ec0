/** `compare` sees a known delay, and nothing between a system and itself. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { command, emptyFolder, parseComparison } from '../cli/command.js';

const interposer = interposerLibrary() ?? '';
const sim = 'init_ms=8,context_ms=8,alloc_us=5,free_us=5';
const base = ['compare', '--simulate', '--tier', 'quick', '--seed', '1', '--json', '-'];

const compare = (args: readonly string[], output = emptyFolder()) =>
  command([...base, '--output', join(output, 'out'), ...args], {}, sim);

const slow = (name: string, delay: string) =>
  `custom:name=${name},env.LD_PRELOAD=${interposer},env.GVB_INTERPOSE=cuLaunchKernel=+${delay}`;

describe('compare', () => {
  it('finds a known delay, with ratio, interval and verdict, and says what is not proven', async () => {
    const systems = ['--system', 'native', '--system', slow('slow', '2us')];
    const { code, stdout, stderr } = await compare([
      'OH-001',
      'OH-005',
      ...systems,
      '--rounds',
      '3',
      '--iterations',
      '200',
    ]);
    expect(code).toBe(0);
    const document = parseComparison(stdout);
    expect(document.plan.systems).toEqual(['native', 'slow (unverified)']);
    expect(document.plan.order.map((round) => round[0])).toEqual(['native', 'slow (unverified)', 'native']);
    const launch = document.effects.find(({ metric }) => metric === 'OH-001');
    // 2.5 us inside the call and 2 us to the start: 4.5 us, and 2 us more.
    expect(launch).toMatchObject({ system: 'slow (unverified)', baseline: 'native', rounds: 3, verdict: 'slower' });
    expect(launch?.ratio).toBeCloseTo(6.5 / 4.5, 1);
    expect(launch?.difference).toBeCloseTo(2, 1);
    expect(document.effects.find(({ metric }) => metric === 'OH-005')?.difference).toBeGreaterThan(1_900);
    expect(stderr).toMatch(/^Plan: 2 systems \(native, slow \(unverified\)\) × 3 rounds × 2 metrics/m);
  }, 60_000);
});

// Those that are over in a second or two. Side by side, as starts wait more than they compute.
const short = metrics.filter(({ seconds, needs }) => seconds.quick <= 2 && !needs.includes('a native arm'));

// Once: tries would hide how often there is one.
describe.concurrent('compare raises no alarm between a system and itself', () => {
  it.each(['process', 'fresh-processes'] as const)(
    'in what is measured in: %s',
    async (where) => {
      const ids = short.filter((metric) => metric.where === where).map(({ id }) => id);
      const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
      const few = where === 'process' ? ['--iterations', '60'] : [];
      const { code, stdout } = await compare([...ids, ...systems, '--rounds', '3', ...few]);
      expect(code).toBe(0);
      const { effects } = parseComparison(stdout);
      expect(effects.map(({ metric }) => metric)).toEqual(ids);
      for (const { verdict } of effects) expect(['same', 'ambiguous']).toContain(verdict);
    },
    60_000,
  );
});
