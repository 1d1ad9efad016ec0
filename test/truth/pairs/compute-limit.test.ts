/** `compare` finds whether a compute limit takes effect: the interposer's limit, and one that is only claimed. */
import { join } from 'node:path';
import { mean } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { command, emptyFolder, parseComparison } from '../../cli/command.js';
import { type Granted, grantedOf, hasLoad } from '../../native/granted.js';
import { recordedByProcess } from '../../native/record.js';

const limited = 'limits.sm=30,capabilities.computeLimit=softDutyCycle';
const systems = [
  'native',
  `custom:name=holds,${limited},env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=sm=30`,
  `custom:name=claims,${limited}`,
  'custom:name=caps,limits.sm=30,capabilities.computeLimit=smCap',
  'custom:name=free',
];

/** Shares are written to a tenth of a percent. */
const ROUNDING_PERCENT = 0.05;
/**
 * The error of the two stamps of every kernel, one timer step each, with about 100 kernels of a millisecond per bin.
 */
const STAMPS_PERCENT = 0.01;
const TOLERANCE_PERCENT = ROUNDING_PERCENT + STAMPS_PERCENT;

function expectGranted(sharesPercent: readonly number[], achievedPercent: number | null, { bins }: Granted): void {
  expect(sharesPercent).toHaveLength(bins.length);
  const off = sharesPercent.map((share, i) => Math.abs(share - 100 * (bins[i] as number)));
  expect(Math.max(...off)).toBeLessThan(TOLERANCE_PERCENT);
  const late = 100 * mean(bins.slice(Math.floor(bins.length / 2)));
  expect(Math.abs((achievedPercent ?? Number.NaN) - late)).toBeLessThan(TOLERANCE_PERCENT);
}

describe('a compute limit', () => {
  it("is labelled by the device's work, and invalidates nothing", async () => {
    const record = emptyFolder();
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
      `init_ms=1,context_ms=1,record=${record}`,
    );
    expect(code).toBe(0);
    const { computeLimits, systems: documents } = parseComparison(stdout);
    expect(computeLimits.map(({ system, limitPercent, label }) => [system, limitPercent, label])).toEqual([
      ['holds (unverified)', 30, 'throttled'],
      ['claims (unverified)', 30, 'not throttled'],
      ['caps (unverified)', 30, 'not checked'],
    ]);
    const [holds, claims] = computeLimits;
    const loads = recordedByProcess(record).filter(hasLoad).map(grantedOf);
    expect(loads).toHaveLength(2);
    for (const [i, row] of [holds, claims].entries())
      expectGranted(row?.sharesPercent ?? [], row?.achievedPercent ?? null, loads[i] as Granted);
    // On a busy machine a tenant gets less than its limit, but never more for long.
    expect(holds?.achievedPercent).toBeLessThan(35);
    expect(claims?.achievedPercent).toBeGreaterThan(65);
    expect(documents.flat().flatMap(({ metrics }) => metrics.map(({ status }) => status))).toEqual(
      systems.map(() => 'ok'),
    );
    expect(stderr).toMatch(/^Compute limits:\n {2}holds \(unverified\), 30 %: throttled \(busy .* % of the time\); /m);
  });
});
