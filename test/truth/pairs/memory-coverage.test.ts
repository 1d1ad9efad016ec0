/** IS-011: among sixteen ways to allocate memory, finds those that a limit covers. */
import { describe, expect, it } from 'vitest';
import { CONTEXT_MIB, measuredOutside, pathsOf, withOutcome } from '../../native/memory-limited.js';

const GIB = 2 ** 30;

describe('IS-011', () => {
  it('finds each way around a limit that counts addresses, handles and flat arrays', async () => {
    const result = await measuredOutside('IS-011', {
      memory: '1GiB',
      interpose: `quota=1GiB,context=${CONTEXT_MIB}MiB,pool={pool}`,
      memLimit: 'perTenantPool',
    });
    const leaks = [
      'cuMemCreate, handle released',
      'imported shareable handle',
      'cuArray3DCreate_v2',
      'cuMipmappedArrayCreate',
      'graph memory node',
      'module global',
    ];
    expect(withOutcome(result, 'leaks')).toEqual(leaks);
    expect(withOutcome(result, 'enforced')).toHaveLength(10);
    expect(result.status).toBe('ok');
    expect(result.value).toBeCloseTo(62.5, 6);
    expect(result.violations).toHaveLength(leaks.length);
    for (const { outcome, truthBytes, usedBytes } of pathsOf(result).filter(({ truthBytes }) => truthBytes !== null)) {
      expect(usedBytes).toBe(truthBytes);
      expect((truthBytes as number) > GIB).toBe(outcome === 'leaks');
    }
  });

  it("finds none under the driver's own limit", async () => {
    const result = await measuredOutside('IS-011', { memory: '1GiB', driver: '1G', memLimit: 'perProcess' });
    expect(withOutcome(result, 'leaks')).toEqual([]);
    expect(withOutcome(result, 'limited per process')).toEqual(['IPC import']);
    expect(result.value).toBe(100);
    expect(pathsOf(result).at(-1)?.reason).toBe('each of 2 processes has a limit of its own');
    expect(withOutcome(result, 'enforced')).toHaveLength(15);
    expect(result.violations).toBeUndefined();
  });
});
