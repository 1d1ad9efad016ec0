/** IS-010 finds faults that reach a neighbour, and a tenant that is stopped while it holds a lock of the layer. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAULTS } from '../../../lib/metrics/isolation/shared/faults.js';
import type { FaultRow } from '../../../lib/metrics/isolation/shared/fault-rows.js';
import { faultIsolationBy } from '../../../lib/metrics/isolation/is-010-fault-isolation.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { command, parseDocument } from '../../cli/command.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder, measured } from '../../native/measured.js';

const layer = join(emptyFolder(), 'lazy-layer.so');

beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const rowsOf = ({ details }: MetricResult) => details.faults as FaultRow[];
const failed = (rows: readonly FaultRow[]) => rows.filter(({ passed }) => !passed).map(({ fault }) => fault);

describe('IS-010', () => {
  it('passes a card on which faults stay with their tenant, and lists the errors that the card reported', async () => {
    const { stdout } = await command(['run', 'IS-010', '--simulate', '--json', '-'], {}, 'init_ms=1,context_ms=1');
    const result = parseDocument(stdout).metrics[0] as MetricResult;
    expect(result).toMatchObject({ status: 'ok', value: 1 });
    const rows = rowsOf(result);
    expect(rows.map(({ fault, code }) => [fault, code])).toEqual(FAULTS.map((one) => [one.name, one.expectedCode]));
    expect(failed(rows)).toEqual([]);
    expect(rows.slice(0, 4).map(({ xids }) => xids)).toEqual([[31], [13], [43], [43]]);
  });

  it('raises every fault again in every round', async () => {
    const faults = FAULTS.filter(({ name }) => ['trap', 'leak until the quota'].includes(name));
    const definition = { ...metricNamed('IS-010'), measure: faultIsolationBy({ rounds: 2, faults }) };
    const system = environmentUnder(null, '');
    const result = await measureMetric(definition, { simulate: true, seed: 1 }, { system });
    expect(result).toMatchObject({ status: 'ok', value: 1, details: { rounds: 2 } });
    const names = faults.map(({ name }) => name);
    expect(rowsOf(result).map(({ fault }) => fault)).toEqual([...names, ...names]);
  });

  it('finds faults that reach a neighbour, and is invalid if one of them did not happen', async () => {
    const lazy = { LD_PRELOAD: layer, GVB_TEST_LAZY: 'kernel=gvb_trap' };
    const result = await measured('IS-010', environmentSystem({ ...environment(null, 'fault_spread=1'), ...lazy }));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe('every fault really happened: trap: everything succeeded');
    const spread = ['out-of-bounds store', 'misaligned access', 'device assert'];
    expect(result.violations?.map(({ detail }) => detail.split(':')[0])).toEqual(spread);
    expect(failed(rowsOf(result))).toEqual(['out-of-bounds store', 'misaligned access', 'trap', 'device assert']);
    for (const { victim, expectedCode } of rowsOf(result).filter(({ fault }) => spread.includes(fault)))
      expect(victim).toContain(expectedCode);
  });

  it('finds a stall if a tenant is stopped while it holds a lock that others need', async () => {
    const state = join(emptyFolder(), 'state');
    const result = await measured('IS-010', environmentUnder(`cuMemAlloc_v2=+0ns,lock=3ms,state=${state}`));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    expect(failed(rowsOf(result))).toEqual(['SIGSTOP inside an allocation']);
    const row = rowsOf(result).find(({ passed }) => !passed);
    expect(row?.victim).toMatch(/^no result for \d+ ms$/);
    expect(row?.longestStallMs).toBeGreaterThan(2_000);
    expect(row?.newTenant).toBe('starts');
  });
});
