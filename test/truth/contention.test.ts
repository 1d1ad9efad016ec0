/** OH-006 on the simulated GPU: the time of an injected lock comes back for processes that share it, and for no others. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../lib/document.js';
import { emptyFolder } from '../native/child.js';
import { customUnder, environmentUnder, measured } from '../native/measured.js';

const HOLD_US = 2_000;
const LOCK = `cuMemAlloc_v2=+0ns,lock=${HOLD_US / 1_000}ms`;
/** Sleeps end late, by more where others keep the processors busy. */
const TOLERANCE_US = 0.15 * HOLD_US;
/** Without a lock only the scheduler comes between. */
const NOISE_US = 50;

interface Row {
  operation: string;
  topology: string;
  processes: number;
  p50Us: number;
  p99Us: number | null;
  operations: number;
  commonMs: number;
}

const rowsOf = ({ details }: MetricResult, operation: string, topology = 'shared') =>
  (details.rows as Row[]).filter((row) => row.operation === operation && row.topology === topology);

function growth(result: MetricResult, operation: string, topology?: string): number {
  const rows = rowsOf(result, operation, topology);
  return (rows.at(-1)?.p50Us ?? Number.NaN) - (rows[0]?.p50Us ?? Number.NaN);
}

describe.skipIf(availableParallelism() < 2)('OH-006', () => {
  it('recovers the time that processes wait for a lock they share', async () => {
    const state = join(emptyFolder(), 'state');
    const result = await measured('OH-006', environmentUnder(`${LOCK},state=${state}`));
    expect(result).toMatchObject({ status: 'ok', unit: 'us', ci95: null, stats: null });
    const [alone, ...others] = rowsOf(result, 'allocFree');
    expect(Math.abs((alone?.p50Us ?? 0) - HOLD_US)).toBeLessThan(TOLERANCE_US);
    // First come, first served: everybody waits for everybody else once.
    for (const { processes, p50Us } of others)
      expect(Math.abs(p50Us - processes * HOLD_US)).toBeLessThan(TOLERANCE_US * (processes - 1));
    expect(result.value).toBeCloseTo(growth(result, 'allocFree'), 6);
    expect(result.processes).toBe(others.at(-1)?.processes);
    // What is not hooked has no lock. (The simulated card's count of its memory has one.)
    expect(Math.abs(growth(result, 'launch'))).toBeLessThan(NOISE_US);
    const enough = result.checks.find(({ name }) => name.startsWith('at least'));
    expect(enough).toMatchObject({ passed: false, detail: expect.stringContaining('allocFree of 1 shared') });
  });

  it('is about 0 without a lock', async () => {
    const result = await measured('OH-006', environmentUnder(null));
    expect(result.status).toBe('ok');
    expect(Math.abs(result.value ?? Number.NaN)).toBeLessThan(NOISE_US);
    for (const { operations, p50Us, p99Us, commonMs } of rowsOf(result, 'allocFree')) {
      expect(operations).toBeGreaterThan(2_000);
      expect(p99Us).toBeGreaterThanOrEqual(p50Us);
      expect(commonMs).toBeGreaterThan(200);
    }
  });

  it('is about 0 for tenants that have a lock each', async () => {
    const system = await customUnder(`${LOCK},state={runDir}/state-{tenant}`, '{runDir}/state-{tenant}');
    const result = await measured('OH-006', system, { tier: 'standard' });
    expect(Math.abs((result.value ?? Number.NaN) / (result.processes - 1) - HOLD_US)).toBeLessThan(TOLERANCE_US);
    expect(Math.abs(growth(result, 'allocFree', 'separate'))).toBeLessThan(TOLERANCE_US);
    expect(rowsOf(result, 'allocFree', 'separate').map(({ processes }) => processes)).toEqual(
      rowsOf(result, 'allocFree').map(({ processes }) => processes),
    );
  });
});
