/** A neighbour that keeps the card busy, as a worker that answers by hand. */
import { expect, it } from 'vitest';
import type { MeasureContext } from '../../../lib/metrics/core/metric.js';
import { besideBusy } from '../../../lib/metrics/isolation/busy-neighbour.js';
import type { WorkerTenant } from '../../../lib/workers/worker-tenant.js';

const AGGRESSION = { operations: 3, missing: null };

/** Works until it is asked to end; `end` ends it before. */
function neighbour() {
  let end = () => {};
  const attack = new Promise<unknown>((resolve) => {
    end = () => resolve(AGGRESSION);
  });
  const worker = {
    alive: true,
    request(method: string, _params: object, { onProgress }: { onProgress?: () => void }): Promise<unknown> {
      if (method === 'endAttack') {
        end();
        return Promise.resolve({});
      }
      onProgress?.();
      return attack;
    },
  };
  return { tenant: { worker } as unknown as WorkerTenant, end: () => end() };
}

const context = { signal: new AbortController().signal } as MeasureContext;

it('says that the neighbour worked until the measurement was over', async () => {
  const { tenant } = neighbour();
  expect(await besideBusy(tenant, 'l2Thrash', context, async () => {})).toEqual({
    aggression: AGGRESSION,
    lasted: true,
  });
});

it('says that the neighbour ended before the measurement', async () => {
  const { tenant, end } = neighbour();
  const measure = async () => {
    end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  expect(await besideBusy(tenant, 'l2Thrash', context, measure)).toEqual({ aggression: AGGRESSION, lasted: false });
});
