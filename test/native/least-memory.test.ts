/** Metrics whose size follows the memory limit have the same size under every system of a comparison. */
import { expect, it } from 'vitest';
import { type MetricDefinition, unsupported } from '../../lib/metrics/core/metric.js';
import { makePlan } from '../../lib/run/plan/plan.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { System } from '../../lib/systems/system.js';
import { metricNamed } from '../metric-named.js';
import { compared, environment } from './compared.js';

const plain = environmentSystem(environment);
const limited = (name: string, memoryBytes: number): System => ({
  ...plain,
  name,
  limits: () => ({ memoryBytes, smPercent: null }),
});

async function sizesUnder(systems: readonly System[]): Promise<(number | null)[]> {
  const sizes: (number | null)[] = [];
  const definition: MetricDefinition = {
    ...metricNamed('LLM-004'),
    measure: (context) => {
      sizes.push(context.leastMemoryBytes);
      return Promise.resolve(unsupported('only its context was wanted'));
    },
  };
  await compared(systems, 1, { plan: makePlan([definition], 'quick', 1) });
  return sizes;
}

it('is the smallest limit of all systems, also for one without a limit', async () => {
  const systems = [plain, limited('large', 4 * 2 ** 30), limited('small', 2 ** 30)];
  expect(await sizesUnder(systems)).toEqual([2 ** 30, 2 ** 30, 2 ** 30]);
});

it('is none where no system has a limit', async () => {
  expect(await sizesUnder([plain, { ...plain, name: 'other' }])).toEqual([null, null]);
});
