/** ERR-002: how soon a tenant works again after its process ended, by the records of both processes. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KILLS } from '../../../lib/metrics/error-recovery/crashes.js';
import { errorRecoveryBy, type RecoveryPlan } from '../../../lib/metrics/error-recovery/err-002-error-recovery.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricResult } from '../../../lib/results/document.js';
import type { System } from '../../../lib/systems/system.js';
import { command, parseDocument } from '../../cli/command.js';
import { WAIT_MS } from '../../limits.js';
import { ownRegion } from '../../temporary.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environmentUnder } from '../../native/measured.js';
import { durationOf, type Recorded, recordedByProcess } from '../../native/record.js';

const measured = (system: System, plan: Partial<RecoveryPlan> = {}) =>
  measureMetric(
    { ...metricNamed('ERR-002'), measure: errorRecoveryBy({ patienceMs: WAIT_MS, kills: [], ...plan }) },
    { simulate: true, tier: 'quick', iterations: 1, seed: 1 },
    { system },
  );

interface Row {
  fault: string;
  way: string;
  told: string[];
  processes: number;
  recovered: number;
  recoveryUs: number | null;
  toldToResultUs: number;
  mostTries: number;
  refusals: string[];
  missingBytes: number;
  slowerSteps: { step: string; moreUs: number }[];
  reset?: string[];
  xids: number[] | null;
}
const saidOf = ({ violations = [] }: MetricResult) => violations.map(({ detail }) => detail);
const rowsOf = ({ details }: MetricResult) => details.recoveries as Row[];
const rowOf = (result: MetricResult, fault: string) =>
  rowsOf(result).find((row) => row.fault === fault && row.way === 'new process') as Row;
const stepOf = ({ slowerSteps }: Row, name: string) => slowerSteps.find(({ step }) => step === name)?.moreUs as number;

/** Far below what is injected: a process may be interrupted between a call and its reading of the clock. */
const TOLERANCE_US = 50_000;
const RECOVERY_MS = 1_200;
/** Longer than a busy machine takes to end a process and to start the next one. */
const REFUSING_MS = 6_000;
const STALE_MS = 900;

const firstOf = (process: Recorded, name: string) => process.named(name)[0] as Recorded['calls'][number];
const tookUs = (process: Recorded, name: string) => durationOf(firstOf(process, name)) / 1e3;
const firstAllocation = (process: Recorded) => process.hooked('cuMemAlloc_v2')[0] as Recorded['calls'][number];
const allocatedUs = (process: Recorded) => durationOf(firstAllocation(process)) / 1e3;
/** How long the first hooked allocation of a process waited for the lock. */
const waitedUs = (process: Recorded) => {
  const { entered, begins } = firstAllocation(process);
  return (begins - entered) / 1e3;
};

describe('ERR-002', () => {
  it('finds what the card takes after a fault and what a lock of a killed process costs, and in which step', async () => {
    const record = emptyFolder();
    const state = join(emptyFolder(), 'lock');
    const layer = `cuMemAlloc_v2=+0ns,cuMemFree_v2=+0ns,lock=2ms,state=${state},stale=${STALE_MS}ms`;
    const system = environmentUnder(layer, `recovery_ms=${RECOVERY_MS}`, record);
    const result = await measured(system, { kills: KILLS.slice(0, 1) });
    expect(result.status).toBe('ok');
    expect(result.violations).toBeUndefined();
    // In the order of their starts: a start without an error, the lost one and its successor, twice, and the reset.
    const [before, faulty, after, , heir] = recordedByProcess(record) as Recorded[] as [
      Recorded,
      Recorded,
      Recorded,
      Recorded,
      Recorded,
    ];
    const told = faulty.named('cuCtxSynchronize').at(-1)?.left as number;
    const workedAt = firstOf(after, 'cuMemcpyDtoH_v2').left;
    const recoveredUs = (workedAt - told) / 1e3;
    const row = rowOf(result, 'illegal address');
    // The card recovers from its fault on, of which a busy machine tells the process late.
    const fault = faulty.named('cuLaunchKernel').find(({ kernel }) => kernel === 'gvb_out_of_boun');
    expect(workedAt - (fault?.begins as number)).toBeGreaterThan(RECOVERY_MS * 1e6);
    expect(Math.abs(row.toldToResultUs - recoveredUs)).toBeLessThan(TOLERANCE_US);
    const startUs = result.details.untroubledStartUs as number;
    expect(Math.abs((result.value as number) - (recoveredUs - startUs))).toBeLessThan(TOLERANCE_US);
    const context = 'cuDevicePrimaryCtxRetain';
    const waited = tookUs(after, context) - tookUs(before, context);
    expect(Math.abs(stepOf(row, 'context') - waited)).toBeLessThan(TOLERANCE_US);
    expect(row).toMatchObject({ told: ['CUDA_ERROR_ILLEGAL_ADDRESS (700)'], mostTries: 1, refusals: [] });

    const killed = rowOf(result, 'SIGKILL inside an allocation');
    const locked = waitedUs(heir) - waitedUs(before);
    expect(locked).toBeGreaterThanOrEqual(STALE_MS * 1e3 - TOLERANCE_US);
    expect(Math.abs(stepOf(killed, 'firstAlloc') - locked)).toBeLessThan(TOLERANCE_US);
    expect(killed.recoveryUs).toBeGreaterThan(locked - startUs);
    const allocated = allocatedUs(after) - allocatedUs(before);
    expect(Math.abs(stepOf(row, 'firstAlloc') - allocated)).toBeLessThan(TOLERANCE_US);
    // The context of a process that resets it waits for the card too.
    const reset = rowsOf(result).find(({ way }) => way !== 'new process') as Row;
    expect(reset).toMatchObject({ recovered: 1, refusals: [], reset: ['CUDA_SUCCESS (0)'] });
    expect(reset.recoveryUs).toBeGreaterThan(RECOVERY_MS * 1e3 - TOLERANCE_US);
  });

  it('starts processes until one works, and says why others did not', async () => {
    const sim = `recovery_ms=${REFUSING_MS},recovery_refuses=1,fail=cuDevicePrimaryCtxReset_v2:801@1`;
    const result = await measured(environmentUnder(null, sim));
    expect(result.status).toBe('ok');
    const row = rowOf(result, 'illegal address');
    expect(row.toldToResultUs).toBeGreaterThan(REFUSING_MS * 1e3 - TOLERANCE_US);
    expect(row.mostTries).toBeGreaterThan(1);
    expect(row.refusals).toHaveLength(1);
    expect(row.refusals[0]).toContain('CUDA_ERROR_SYSTEM_NOT_READY (802)');
    const reset = rowsOf(result).at(-1) as Row;
    expect(reset).toMatchObject({ recovered: 0, recoveryUs: null, reset: ['CUDA_ERROR_NOT_SUPPORTED (801)'] });
    expect(reset.refusals[0]).toContain('CUDA_ERROR_ILLEGAL_ADDRESS (700)');
  });

  it('counts no error of the card from before the fault', async () => {
    // With this seed ERR-001 comes first, whose faults nobody watches.
    const args = ['run', 'ERR-001', 'ERR-002', '--simulate', '--iterations', '1', '--seed', '1', '--json', '-'];
    const { stdout } = await command(args, {}, 'recovery_ms=1');
    const [detection, recovery] = parseDocument(stdout).metrics as [MetricResult, MetricResult];
    // Where host and device cannot run at once it has no number, but all of its faults.
    expect(detection).toMatchObject({ id: 'ERR-001', details: { detections: [{ processes: 1 }, {}, {}, {}, {}] } });
    expect(rowOf(recovery, 'illegal address')).toMatchObject({ processes: 1, xids: [31] });
    expect(rowsOf(recovery).at(-1)).toMatchObject({ way: 'same process, context reset', xids: [31] });
  });

  it('has no value for a tenant that does not work again', async () => {
    // Other tests of this file do not wait for this card.
    const sim = `region=${ownRegion('lost')},recovery_ms=1000000`;
    const result = await measured(environmentUnder(null, sim), { patienceMs: 3_000, kills: KILLS });
    expect(result).toMatchObject({ status: 'failed', value: null });
    expect(result.reason).toMatch(/^not recovered: after illegal address no new process worked within 3 s/);
    expect(saidOf(result)).toEqual(['illegal address: no new process worked within 3 s']);
    expect(rowOf(result, 'illegal address')).toMatchObject({ processes: 1, recovered: 0, recoveryUs: null });
  });

  it('says which crash took memory of the quota for good', async () => {
    const pool = join(emptyFolder(), 'pool');
    const result = await measured(environmentUnder(`quota=1GiB,context=64MiB,pool=${pool}`), {
      kills: KILLS.slice(1),
    });
    expect(result.status).toBe('ok');
    expect(saidOf(result)).toEqual([
      'SIGKILL while a kernel runs: 64 MiB of 960 MiB could not be allocated any more (1 of 1 times)',
    ]);
    expect(rowOf(result, 'SIGKILL while a kernel runs').missingBytes).toBe(64 * 2 ** 20);
    expect(rowOf(result, 'illegal address').missingBytes).toBe(0);
  });
});
