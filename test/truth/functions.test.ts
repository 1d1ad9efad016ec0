/**
 * What the driver's and NVML's functions cost where one is missing: lib/native/function-costs.ts, which `doctor` and
 * docs/drivers.md show. All of them take an hour of processor time and are measured with GVB_EVERY_FUNCTION=1 only.
 */
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { functionCosts } from '../../lib/native/function-costs.js';
import { functionNames } from '../../lib/native/function-names.js';
import type { MissingFunction } from '../../lib/systems/proof/missing-functions.js';
import { command, root } from '../cli/command.js';
import { everyCost } from '../functions/every-cost.js';
import { sourceOf } from '../functions/source.js';

const LIMIT_MS = 4 * 3_600_000;
const file = join(root, 'lib/native/function-costs.ts');

const isEvery = process.env.GVB_EVERY_FUNCTION === '1';

/**
 * Each function with a dozen others, and again with a dozen of which none was with it before: one that is listed because
 * of another is not hidden in one of its two groups. A doctor for each alone takes five minutes of processor time.
 */
function inTwoGroups(names: readonly string[]): string[][] {
  const side = Math.ceil(Math.sqrt(names.length));
  const groupBy = (groupOf: (index: number) => number) =>
    Array.from({ length: side }, (_, group) => names.filter((_name, index) => groupOf(index) === group));
  const groups = [...groupBy((index) => index % side), ...groupBy((index) => Math.floor(index / side))];
  return groups.filter((group) => group.length > 0);
}

const stopping = functionNames.filter((name) => functionCosts[name]?.stops === true);
const alone = isEvery ? functionNames : stopping;
const together = isEvery ? [] : inTwoGroups(functionNames.filter((name) => !stopping.includes(name)));

/** `cuInit`, or the first and the last of several. */
const ends = (names: readonly string[]): string => [...new Set([names[0], names.at(-1)])].join(' … ');

it.concurrent.each([...alone.map((name) => [name]), ...together].map((hidden) => [ends(hidden), hidden] as const))(
  'doctor lists what is missing and nothing else, with what is lost without it: %s',
  async (_, hidden) => {
    const { stdout, stderr } = await command(
      ['doctor', '--json'],
      {},
      `hide=${hidden.join('+')},checkpoint_lock_us=0,checkpoint_fixed_us=0`,
    );
    expect(stderr).toBe('');
    const missing = JSON.parse(stdout).missing as MissingFunction[];
    expect(missing.map(({ name }) => name)).toEqual(hidden);
    for (const found of missing) {
      const { stops = false, metrics: lost = [], partly = [] } = functionCosts[found.name] ?? {};
      expect(found).toMatchObject({ stops, metrics: lost, partly, hiddenOn: [] });
    }
  },
);

describe.runIf(isEvery)('every function that is missing', () => {
  it(
    'costs what lib/native/function-costs.ts says (vitest -u writes it)',
    async () => {
      const ids = metrics.map(({ id }) => id);
      const costs = await everyCost(functionNames, ids, (name, cost) => console.log(name, JSON.stringify(cost)));
      const source = sourceOf(costs, functionNames);
      const written = await format(source, { ...(await resolveConfig(file)), filepath: file });
      await expect(written).toMatchFileSnapshot(file);
    },
    LIMIT_MS,
  );
});
