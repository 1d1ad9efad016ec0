/** Whether `compare` sees that a compute limit holds, under the interposer's limit and under a claim of one. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { command, emptyFolder, parseComparison } from '../../cli/command.js';

const limited = 'limits.sm=30,capabilities.computeLimit=softDutyCycle';
const systems = [
  'native',
  `custom:name=holds,${limited},env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=sm=30`,
  `custom:name=claims,${limited}`,
  'custom:name=caps,limits.sm=30,capabilities.computeLimit=smCap',
  'custom:name=free',
];

describe('a compute limit', () => {
  it('is labelled and invalidates nothing', async () => {
    const { code, stdout, stderr } = await command(
      [
        'compare',
        'OH-002',
        '--simulate',
        '--tier',
        'quick',
        '--rounds',
        '1',
        '--iterations',
        '20',
        '--json',
        '-',
      ].concat(
        systems.flatMap((system) => ['--system', system]),
        ['--output', join(emptyFolder(), 'out')],
      ),
      {},
      'init_ms=1,context_ms=1',
    );
    expect(code).toBe(0);
    const { computeLimits, systems: documents } = parseComparison(stdout);
    expect(computeLimits.map(({ system, limitPercent, label }) => [system, limitPercent, label])).toEqual([
      ['holds (unverified)', 30, 'throttled'],
      ['claims (unverified)', 30, 'not throttled'],
      ['caps (unverified)', 30, 'not checked'],
    ]);
    const [holds, claims] = computeLimits;
    expect(Math.abs((holds?.achievedPercent ?? 0) - 30)).toBeLessThan(5);
    expect(claims?.achievedPercent).toBeGreaterThan(65);
    expect(claims?.sharesPercent.length).toBeGreaterThan(20);
    expect(documents.flat().flatMap(({ metrics }) => metrics.map(({ status }) => status))).toEqual(
      systems.map(() => 'ok'),
    );
    expect(stderr).toMatch(/^Compute limits:\n {2}holds \(unverified\), 30 %: throttled \(busy .* % of the time\); /m);
  }, 60_000);
});
