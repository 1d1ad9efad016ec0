import { expect, it } from 'vitest';
import { inWorker } from '../../../lib/metrics/in-worker.js';
import { metrics } from '../../../lib/metrics/registry.js';

it('lets a worker measure exactly the metrics of one process, each by its id', async () => {
  expect(Object.keys(inWorker)).toEqual(metrics.filter(({ where }) => where === 'process').map(({ id }) => id));
  for (const [id, load] of Object.entries(inWorker)) expect((await load()).id).toBe(id);
});
