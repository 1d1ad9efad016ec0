/** NCCL-003 on simulated cards with links of known rates, which record when each copy ran. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { peerBandwidthBy } from '../../../lib/metrics/nccl/nccl-003-peer-bandwidth.js';
import type { PeerPlan } from '../../../lib/metrics/nccl/peer-pairs.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { recordedIn } from '../../native/record.js';
import { temporaryFolder } from '../../temporary.js';

interface Row {
  from: number;
  to: number;
  connection: string | null;
  ceilingGbs: number | null;
  canAccess: boolean;
  gbs: number;
  bothGbs: number | null;
  loadsGbs: number | null;
  processGbs: number | null;
  count: number;
  without?: Record<string, { failed?: string }>;
}
const rowsOf = ({ details }: MetricResult) => details.pairs as Row[];

/** Each copy takes much longer than the host needs from an event to the copy behind it. */
const BYTES = 4 * 2 ** 20;
const SLOW = 'start_ns=0,nvlink_mbs=150';
const LINKS_GBS = 2.7;
/**
 * Lowest share of the true rate: the time between event and copy makes a rate a little lower, nothing makes it higher.
 */
const LOWEST = 0.97;
const HIGHEST = 1.001;
const PLAN: PeerPlan = { bytes: BYTES, count: 7, otherCount: 6, warmup: 1 };
const SHORT: PeerPlan = { bytes: 2 ** 16, count: 2, otherCount: 2, warmup: 0 };

function measured(plan: PeerPlan, sim: string, variables: NodeJS.ProcessEnv = {}, record?: string) {
  const system = environmentSystem({ ...environment(null, sim, record), ...variables });
  const metric = { ...metricNamed('NCCL-003'), measure: peerBandwidthBy(plan) };
  return measureMetric(metric, { simulate: true, seed: 3 }, { system });
}

describe('NCCL-003', () => {
  it.each([
    ['two', 'devices=2,link_gbs@0=2,link_gbs@1=1.25', [2, 1.25]],
    ['four', 'devices=4,link_gbs@0=2,link_gbs@1=1.25,link_gbs@2=1.5,link_gbs@3=1', [2, 1.25, 1.5, 1]],
  ])('finds the rates of the links between %s cards', async (_, sim, links) => {
    const record = temporaryFolder('record');
    const copies = 'recorded=cuMemcpyPeerAsync+cuMemcpyDtoDAsync_v2';
    const result = await measured(PLAN, `${sim},${SLOW},${copies}`, {}, record);
    expect(result).toMatchObject({ status: 'ok', processes: links.length });
    const rows = rowsOf(result);
    expect(rows).toHaveLength(links.length * (links.length - 1));
    for (const row of rows) {
      const gbs = Math.min(links[row.from] ?? NaN, links[row.to] ?? NaN);
      const where = `${row.from} to ${row.to}`;
      expect(row, where).toMatchObject({ connection: 'NVLink', ceilingGbs: LINKS_GBS, canAccess: true, count: 7 });
      for (const share of [row.gbs, (row.bothGbs ?? NaN) / 2, row.loadsGbs ?? NaN, row.processGbs ?? NaN]) {
        expect(share / gbs, where).toBeGreaterThan(LOWEST);
        expect(share / gbs, where).toBeLessThan(HIGHEST);
      }
      expect(row.without).toBeUndefined();
    }
    expect(result.value).toBe(Math.min(...rows.map(({ gbs }) => gbs)));
    const slowest = Math.min(...links);
    const recorded = recordedIn(record).calls.filter(
      ({ name, bytes, begins, ends }) =>
        name === 'cuMemcpyPeerAsync' && bytes === BYTES && ends - begins > (0.99 * BYTES) / slowest,
    );
    expect(recorded.length).toBeGreaterThan(7);
    const ofRecord = median(recorded.map(({ begins, ends }) => BYTES / (ends - begins))).value;
    expect((result.value as number) / ofRecord).toBeGreaterThan(LOWEST);
    expect((result.value as number) / ofRecord).toBeLessThan(HIGHEST);
  });

  it.each([
    [10, 'PIX'],
    [20, 'PXB'],
    [30, 'PHB'],
    [40, 'NODE'],
    [50, 'SYS'],
  ])('names the connection of level %i and copies over PCIe', async (topology, connection) => {
    const sim = `devices=2,start_ns=0,topology=${topology},pcie_gbs@0=1.5,pcie_gbs@1=1,pcie_out_gbs@0=1.25`;
    const rows = rowsOf(await measured({ ...PLAN, count: 5, otherCount: 2 }, sim));
    expect(rows).toMatchObject([
      { from: 0, to: 1, connection },
      { from: 1, to: 0, connection },
    ]);
    for (const { gbs, ceilingGbs } of rows) {
      expect(ceilingGbs).toBeCloseTo(63, 0);
      expect(gbs).toBeGreaterThan(LOWEST);
      expect(gbs).toBeLessThan(HIGHEST);
    }
  });

  it('is unsupported without peer access, with the rate through the host', async () => {
    const result = await measured({ ...PLAN, otherCount: 2 }, 'devices=2,peer_access=0,pcie_gbs=1');
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/^no GPU can reach another one's memory \(cuDeviceCanAccessPeer\)/);
    expect(result.details).toMatchObject({ pairsWithAccess: 0, hostStagedGbs: expect.closeTo(1, 1) as number });
  });

  it.each([
    ['there is one GPU', 'devices=1', {}],
    ['one GPU is visible', 'devices=2', { CUDA_VISIBLE_DEVICES: '1' }],
  ])('is unsupported where %s', async (_, sim, variables) => {
    const result = await measured(SHORT, sim, variables);
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(/^several GPUs are needed; the process sees one GPU/);
  });

  it('keeps the other rows where memory cannot be shared between processes', async () => {
    const result = await measured(SHORT, 'devices=2,fail=cuIpcGetMemHandle:801@1');
    expect(result.status).toBe('ok');
    for (const { processGbs, without, loadsGbs } of rowsOf(result)) {
      expect(processGbs).toBeNull();
      expect(loadsGbs).toBeGreaterThan(0);
      expect(without?.['another process']?.failed).toMatch(/cuIpcGetMemHandle/);
    }
  });

  it.each([
    ['copies move nothing', 'copy_skip=1', /^A copy to another GPU reported success, but \d+ of \d+ words/],
    ['halves change places', 'copy_swap=1', /^A copy to another GPU reported success, but \d+ of \d+ words/],
    ['copies take no time', `copy_lazy=1,${SLOW},link_gbs=1`, /^no faster than the links: \w+, GPU \d to /],
    ['a rate is beyond the links', `link_gbs=4,${SLOW}`, /[34]\.\d GB\/s, but the links carry 2\.7 GB\/s$/],
  ])('publishes no number if %s', async (_, sim, reason) => {
    const result = await measured({ ...PLAN, count: 5, otherCount: 2 }, `devices=2,${sim}`);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });

  it.each(['cuMemcpyPeerAsync=1', 'cuMemcpyPeerAsync=5', 'kernel=gvb_mix_check', 'kernel=gvb_mix'])(
    'gets no number with %s',
    async (lazy) => {
      const result = await measured(SHORT, 'devices=2', { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });
      expect(result).toMatchObject({ status: 'invalid', value: null });
      expect(result.reason).toMatch(/reported success, but \d+ of \d+ words/);
    },
  );
});
