/** START-006 on the simulated GPU: what the starts of many processes at once cost each other. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/document.js';
import { measure, type Settings } from '../native/child.js';
import { type Estimate, expectRecovered } from '../native/recovered.js';

interface StartsRow {
  processes: number;
  releases?: number;
  meanMs?: number;
  p99Ms?: number | null;
}
interface Slope {
  msPerProcess: number;
  ci95: [number, number] | null;
}

const ofSlope = ({ msPerProcess, ci95 }: Slope): Estimate => ({ value: msPerProcess, ci95 });

async function concurrentStarts(sim: Settings): Promise<MetricResult> {
  const [result] = await measure([['measureConcurrentStarts', { iterations: 2 }]], { sim });
  if (!result) throw new Error('unreachable');
  return result;
}

describe('START-006', () => {
  const alone = { init_ms: 40, context_ms: 5, context_mib: 100 };
  const slopesOf = (result: MetricResult) => result.details.slopes as { mean: Slope; total: Slope };

  it('finds starts that wait for one another', async () => {
    const result = await concurrentStarts({ ...alone, init_lock: 1 });
    const slopes = slopesOf(result);
    // The last of n waits for all the others, one in the middle for half of them.
    expectRecovered([
      ['total', ofSlope(slopes.total), { truth: alone.init_ms, tolerance: 3, resolution: 5 }],
      ['mean', ofSlope(slopes.mean), { truth: alone.init_ms / 2, tolerance: 3, resolution: 5 }],
    ]);
    expect(result).toMatchObject({ status: 'ok', processes: 20, details: { largest: 10, topology: 'shared' } });
    const rows = result.details.starts as StartsRow[];
    expect(rows.map(({ processes, releases }) => [processes, releases])).toEqual([
      [1, 2],
      [10, 2],
    ]);
    expect(result.value).toBe(rows[1]?.meanMs);
    expect(rows[1]?.p99Ms).toBeNull();
  });

  it('finds starts that do not', async () => {
    const result = await concurrentStarts(alone);
    // What ten starts themselves compute on few cores remains.
    expect(Math.abs(slopesOf(result).total.msPerProcess)).toBeLessThan(0.2 * alone.init_ms);
    expectRecovered([['mean of ten', result, { truth: 45 + 5, tolerance: 25, resolution: 40 }]]);
  });
});
