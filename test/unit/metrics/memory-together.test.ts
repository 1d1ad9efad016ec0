/** Two processes of one tenant under a limit that applies to each of them. */
import { expect, it } from 'vitest';
import { byProcess } from '../../../lib/metrics/isolation/shared/memory-together.js';
import { type PathRow, violationOf } from '../../../lib/metrics/isolation/shared/memory-paths.js';
import type { Capabilities, System } from '../../../lib/systems/system.js';

const GIB = 2 ** 30;

const row = (usedBytes: number, change: Partial<PathRow> = {}): PathRow => ({
  ...{ path: 'two processes', outcome: 'leaks', grantedBytes: usedBytes - GIB, limitBytes: 20 * GIB, usedBytes },
  ...{ beforeBytes: GIB, truthBytes: usedBytes, ...change },
});
const under = (memLimit: Capabilities['memLimit']) => ({ system: { capabilities: { memLimit } } as System });

it('are no leak if the layer says that its limit is one of each process', () => {
  const judged = byProcess(under('perProcess'), row(40 * GIB), 2);
  expect(judged).toMatchObject({
    outcome: 'limited per process',
    reason: 'each of 2 processes has a limit of its own',
  });
  expect(violationOf(judged)).toBeNull();
});

it('are a leak under a limit that all processes share', () => {
  const judged = byProcess(under('perTenantPool'), row(40 * GIB), 2);
  expect(judged.outcome).toBe('leaks');
  expect(violationOf(judged)).toMatch(/^two processes: 39 GiB granted/);
});

it.each([
  ['hold', row(41 * GIB)],
  ['were granted', row(40 * GIB, { grantedBytes: 41 * GIB })],
])('are a leak if they %s more than a limit each', (_, leak) => {
  expect(byProcess(under('perProcess'), leak, 2)).toEqual(leak);
});

it('stay enforced if they do not even take one limit', () => {
  const enforced = row(20 * GIB, { outcome: 'enforced' });
  expect(byProcess(under('perProcess'), enforced, 2)).toEqual(enforced);
});
