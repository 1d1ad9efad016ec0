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

it.concurrent.each(functionNames)('doctor lists %s alone, with what is lost without it', async (name) => {
  const { stdout, stderr } = await command(
    ['doctor', '--json'],
    {},
    `hide=${name},checkpoint_lock_us=0,checkpoint_fixed_us=0`,
  );
  expect(stderr).toBe('');
  const missing = JSON.parse(stdout).missing as MissingFunction[];
  const { stops = false, metrics: lost = [], partly = [] } = functionCosts[name] ?? {};
  expect(missing.map((each) => each.name)).toEqual([name]);
  expect(missing[0]).toMatchObject({ stops, metrics: lost, partly, hiddenOn: [] });
});

describe.runIf(process.env.GVB_EVERY_FUNCTION === '1')('every function that is missing', () => {
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
