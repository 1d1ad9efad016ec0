/** Memory limits by cgroup in IS-001 and IS-002, and the rows of soft ones, compared with what the simulated driver did. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { FIRST_CARD, simulatedFolder } from '../../cli/command.js';
import { pathWithMps } from '../../cli/mps-control.js';
import { emptyFolder } from '../../native/child.js';
import { measured, truthOutside } from '../../native/measured.js';
import { durationOf, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';
import { runState } from '../../unit/systems/fixtures.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const CONTEXT_MIB = 500;
/** The card has 8 GiB. */
const [MEMORY, SOFT] = [6, 4];
/** What a fill leaves of a limit. */
const MARGIN = 64 * MIB;
/** A fill ends with a refusal of less than this. */
const STEP = 4 * MIB;

interface Row {
  firstHolds: string;
  softBytes: number;
  firstBytes: number;
  askedBytes: number;
  grantedBytes: number;
  freeBytes: number | null;
  tookMs: number;
  outcome: string;
  told: string | null;
  refusal?: string;
  passed: boolean;
  notMeasured?: string;
}

interface Measured {
  result: MetricResult;
  rows: Row[];
  /** The allocations of each process, in the order of the processes. */
  allocations: RecordedCall[][];
}

const region = ownRegion('soft');
const settings = `region=${region},init_ms=1,context_ms=1,context_mib=${CONTEXT_MIB},memory_mib=${8 * 1024},alloc_us=5,free_us=5`;

async function softLimits(
  sim: string,
  of = `${SOFT}GiB`,
  id = 'IS-001',
  tier: 'quick' | 'thorough' = 'quick',
): Promise<Measured> {
  const [groups, record] = [emptyFolder(), emptyFolder()];
  writeFileSync(join(groups, 'dmem.capacity'), `nvidia/0000:01:00.0/vidmem ${8 * GIB}\n`);
  const GVB_SIM = `${settings},dmem=${groups},record=${record},${sim}`;
  const caller = { PATH: pathWithMps(), HOME: emptyFolder(), GVB_SIM };
  const limits = { memory: `${MEMORY}GiB`, enforcer: 'cgroup', cgroup: groups, ...(of !== '' && { soft: of }) };
  const system = createSystem('mps', limits, { caller, folder: '/' });
  onTestFinished(() => system.teardown());
  const run = runState(emptyFolder());
  const gpu = { ...run.gpu, uuid: FIRST_CARD, memoryBytes: 8 * GIB, pciBusId: '00000000:01:00.0' };
  const target = { ...run.target, simulatedDriver: simulatedFolder };
  await system.prepare({ ...run, gpu, target });
  const result = await measured(id, system, { seed: 1, tier }, await truthOutside(settings));
  // The round's own tenant is ready again where it gave way to others.
  expect(readdirSync(groups).filter((name) => !name.includes('-mps-0.'))).toEqual(['dmem.capacity']);
  await system.teardown();
  expect(readdirSync(groups)).toEqual(['dmem.capacity']);
  const allocations = recordedByProcess(record).map((process) => process.named('cuMemAlloc_v2'));
  return { result, rows: (result.details.evictions ?? []) as Row[], allocations };
}

const bytesOf = (calls: readonly RecordedCall[]): number => calls.reduce((sum, { bytes }) => sum + bytes, 0);

/** The processes of the last scene, of which each situation is one. */
const lastPair = ({ allocations }: Measured): [RecordedCall[], RecordedCall[]] =>
  allocations.filter((calls) => bytesOf(calls) > GIB).slice(-2) as [RecordedCall[], RecordedCall[]];

it.each([
  ['loses its contexts', 1, 'evicted', /^CUDA_ERROR_MPS_CLIENT_TERMINATED$/],
  ['is killed', 2, 'killed', /killed by SIGKILL/],
])('a tenant above its soft limit %s for one within it', async (_, evicts, outcome, told) => {
  const measurement = await softLimits(`dmem_evicts=${evicts},dmem_evict_ms=300`);
  const { result, rows } = measurement;
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(result.violations).toBeUndefined();
  const [above, within] = rows as [Row, Row];
  const context = CONTEXT_MIB * MIB;
  expect(above).toMatchObject({
    firstHolds: 'more than its soft limit',
    softBytes: SOFT * GIB,
    firstBytes: MEMORY * GIB - context - MARGIN,
    askedBytes: SOFT * GIB - context - MARGIN,
    grantedBytes: SOFT * GIB - context - MARGIN,
    outcome,
    passed: true,
  });
  expect(above.told).toMatch(told);
  // The card keeps 2 MiB for itself.
  expect(above.freeBytes).toBe(8 * GIB - 2 * MIB - 2 * context - above.firstBytes);
  expect(within).toMatchObject({ firstHolds: 'less than its soft limit', outcome: 'kept', told: null, passed: true });
  expect(within.refusal).toBe('CUDA_ERROR_OUT_OF_MEMORY');
  expect(within.firstBytes).toBe(SOFT * GIB - context - MARGIN);
  expect(within.grantedBytes).toBeLessThanOrEqual(within.freeBytes as number);
  expect(within.grantedBytes).toBeGreaterThan((within.freeBytes as number) - STEP);
  // The one call that evicted.
  const [call] = measurement.allocations.flat().filter(({ bytes }) => bytes === above.askedBytes);
  const tookNs = durationOf(call as RecordedCall);
  expect(tookNs).toBeGreaterThan(300e6);
  expect(above.tookMs * 1e6).toBeGreaterThanOrEqual(tookNs);
});

it('finds a soft limit that is set and not enforced', async () => {
  const measurement = await softLimits('dmem_evicts=0');
  const { result, rows } = measurement;
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  const [above, within] = rows as [Row, Row];
  expect(above).toMatchObject({ outcome: 'kept', told: null, passed: false, refusal: 'CUDA_ERROR_OUT_OF_MEMORY' });
  expect(above.grantedBytes).toBeGreaterThan((above.freeBytes as number) - STEP);
  expect(above.grantedBytes).toBeLessThanOrEqual(above.freeBytes as number);
  expect(within.passed).toBe(true);
  expect(result.violations).toHaveLength(1);
  expect(result.violations?.[0]?.detail).toMatch(
    /^soft limit: a tenant got 1\.57 GiB of 3\.45 GiB within 4 GiB beside one that held 5\.45 GiB: CUDA_ERROR_OUT_OF_MEMORY$/,
  );
});

it('finds a driver that takes what a soft limit promises', async () => {
  const measurement = await softLimits('dmem_evicts=3');
  const [above, within] = measurement.rows as [Row, Row];
  expect(above.passed).toBe(true);
  expect(within).toMatchObject({ outcome: 'evicted', passed: false });
  expect(within.grantedBytes).toBe(within.askedBytes);
  const [first, second] = lastPair(measurement);
  expect(within.firstBytes).toBe(bytesOf(first));
  expect(bytesOf(second)).toBeGreaterThanOrEqual(within.grantedBytes);
  expect(measurement.result.violations).toEqual([
    { detail: 'soft limit: a tenant that held 3.45 GiB within 4 GiB lost them to one above its own (evicted)' },
  ]);
});

it('has no numbers where both tenants have room, and no rows without a soft limit', async () => {
  const { rows } = await softLimits('dmem_evicts=1', '1GiB');
  expect(rows).toEqual([
    {
      firstHolds: 'more than its soft limit',
      softBytes: GIB,
      notMeasured: expect.stringMatching(/^the card has room for both: .* are free for /) as string,
    },
    expect.objectContaining({ firstHolds: 'less than its soft limit', notMeasured: expect.anything() as string }),
  ]);
  const { result } = await softLimits('dmem_evicts=1', '');
  expect(result).toMatchObject({ status: 'ok', value: 100 });
  expect(result.details).not.toHaveProperty('evictions');
});

it('IS-002 says how long a tenant waits for memory that another one loses', async () => {
  const { result, rows, allocations } = await softLimits('dmem_evict_ms=300', undefined, 'IS-002');
  expect(result.status).toBe('ok');
  const [above] = rows as [Row];
  const [call] = allocations.flat().filter(({ bytes }) => bytes === above.askedBytes);
  expect(above.tookMs * 1e6).toBeGreaterThanOrEqual(durationOf(call as RecordedCall));
  expect(above).toMatchObject({ passed: true, outcome: 'evicted' });
});

it('measures other shares of the card, each in a cgroup of its own', async () => {
  const { result } = await softLimits('dmem_evicts=1', '', 'IS-001', 'thorough');
  expect(result.status).toBe('ok');
  const points = result.details.points as { limitBytes: number; signedErrorBytes: number }[];
  expect(points.map(({ limitBytes, signedErrorBytes }) => [limitBytes / GIB, signedErrorBytes])).toEqual([
    [MEMORY, 0],
    [2, 0],
    [4, 0],
    [6, 0],
  ]);
});
