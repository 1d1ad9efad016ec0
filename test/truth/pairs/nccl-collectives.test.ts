/** NCCL-001, NCCL-002 and NCCL-004 on simulated cards, whose NCCL records when each collective ran on the device. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { allReduceBy, type AllReducePlan } from '../../../lib/metrics/nccl/nccl-001-all-reduce.js';
import { allGatherBy } from '../../../lib/metrics/nccl/nccl-002-all-gather.js';
import { broadcastBy } from '../../../lib/metrics/nccl/nccl-004-broadcast.js';
import type { BandwidthPlan } from '../../../lib/metrics/nccl/collective-bandwidth.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder, simulatedFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { type Recorded, recordedByProcess, type RecordedCall } from '../../native/record.js';
import { temporaryFolder } from '../../temporary.js';

const nccl = join(simulatedFolder, 'nccl');
const KIB = 1024;
/** The links carry a byte a us: a collective is beyond that even where a busy host delays its ranks by milliseconds. */
const BEYOND = 'nccl_us=0,nvlinks=1,nvlink_mbs=1';

interface On {
  sim: string;
  variables?: NodeJS.ProcessEnv;
  record?: string;
}

function measured(id: string, measure: MetricDefinition['measure'], { sim, variables, record }: On) {
  const system = environmentSystem({ ...environment(null, sim, record), LD_LIBRARY_PATH: nccl, ...variables });
  return measureMetric({ ...metricNamed(id), measure }, { simulate: true, seed: 7 }, { system });
}

/** Durations of a rank's burst, per operation. */
interface RecordedBurst {
  bytes: number;
  /** From the call that recorded the first event to the end of the wait. */
  hostNs: number;
  /** From the first operation's begin to the last one's end. */
  deviceNs: number;
  /** Duration of an operation by itself, however late the host queued the next one. */
  alone: number;
}

const BURST_CALLS = 'cuEventRecord+cuStreamSynchronize';

/** The bursts of a process: collectives between two events, and the wait behind them. */
function burstsOf({ calls }: Recorded, name: string): RecordedBurst[] {
  const bursts: RecordedBurst[] = [];
  let [first, own]: [RecordedCall | null, RecordedCall[]] = [null, []];
  for (const call of [...calls].sort((a, b) => a.entered - b.entered)) {
    if (call.name === 'cuEventRecord') first ??= call;
    else if (call.name === name) own.push(call);
    else if (call.name === 'cuStreamSynchronize') {
      const [begin, end] = [own[0], own.at(-1)];
      if (first && begin && end) {
        const per = (ns: number) => ns / own.length;
        const [hostNs, deviceNs] = [per(call.left - first.entered), per(end.ends - begin.begins)];
        const alone = median(own.map(({ begins, ends }) => ends - begins)).value;
        bursts.push({ bytes: begin.bytes, hostNs, deviceNs, alone });
      }
      [first, own] = [null, []];
    }
  }
  return bursts;
}

const COUNTED = 6;
const WARMUP = 1;

/**
 * The slowest rank's time in bursts of results of that size. `groups`: how many times bursts were asked for, each time
 * with one more that warms up; of bursts of the same place in their groups the median counts.
 */
function slowestRank(record: string, name: string, bytes: number, groups = 1) {
  const ranks = recordedByProcess(record).map((process) =>
    burstsOf(process, name).filter((burst) => burst.bytes === bytes),
  );
  const counted = Array.from({ length: COUNTED }, (_, i) => WARMUP + i);
  const most = (key: 'hostNs' | 'deviceNs' | 'alone') =>
    counted.map((place) => {
      const starts = Array.from({ length: groups }, (_, group) => group * (WARMUP + COUNTED));
      return median(starts.map((start) => Math.max(...ranks.map((bursts) => bursts[start + place]?.[key] ?? NaN))))
        .value;
    });
  const of = (key: Parameters<typeof most>[0]) => median(most(key)).value;
  return { ranks: ranks.length, hostNs: of('hostNs'), deviceNs: of('deviceNs'), alone: of('alone') };
}

/** A host that wakes up late makes a burst longer, as recorded; none is shorter than the cards' time. */
function expectRecorded(ns: number, recorded: ReturnType<typeof slowestRank>): void {
  expect(Math.abs(ns / recorded.hostNs - 1)).toBeLessThan(0.01);
  expect(ns).toBeGreaterThan(0.99 * recorded.deviceNs);
}

describe('NCCL-001', () => {
  interface Row {
    bytes: number;
    operations: number;
    us: number;
    busGbPerSecond: number;
    count: number;
  }
  const rowsOf = ({ details }: MetricResult) => details.sizes as Row[];
  /** Each collective takes much longer than its ranks need to meet on a busy host. */
  const SLOW = 'nccl_us=20000,link_gbs=0.1';
  const plan: AllReducePlan = { sizes: [8, 8 * KIB, 1024 * KIB], operations: 4, bursts: COUNTED, otherBursts: COUNTED };
  const short: AllReducePlan = { sizes: [8, 8 * KIB], operations: 3, bursts: 2, otherBursts: 2 };
  const allReduce = (of: AllReducePlan, on: On) => measured('NCCL-001', allReduceBy(of), on);

  it.each([2, 4])('finds what the record of %i ranks says, of every size', async (ranks) => {
    const record = temporaryFolder('record');
    const result = await allReduce(plan, {
      sim: `devices=${ranks},${SLOW},recorded=ncclAllReduce+${BURST_CALLS}`,
      record,
    });
    expect(result).toMatchObject({
      status: 'ok',
      processes: ranks,
      details: {
        ranks,
        connections: ['NVLink'],
        ceilingGbs: (18 * 26_562) / 1e3,
        nccl: { environment: { NCCL_NVLS_ENABLE: '0' } },
      },
    });
    const rows = rowsOf(result);
    expect(rows.map(({ bytes }) => bytes)).toEqual(plan.sizes);
    for (const { bytes, us, operations, count, busGbPerSecond } of rows) {
      const recorded = slowestRank(record, 'ncclAllReduce', bytes);
      expect([operations, count, recorded.ranks]).toEqual([4, COUNTED, ranks]);
      expectRecorded(us * 1e3, recorded);
      // By hand: twice what each rank keeps from the others, over the link.
      const seconds = 0.02 + (bytes * 2 * (ranks - 1)) / ranks / 0.1e9;
      expect(recorded.alone / 1e9 / seconds).toBeCloseTo(1, 4);
      expect(busGbPerSecond).toBeCloseTo((bytes * 2 * (ranks - 1)) / ranks / (us * 1e3), 9);
    }
    expect(result.value).toBe(rows[1]?.us);
    expect(result.checks.slice(0, 3).map(({ passed }) => passed)).toEqual([true, true, true]);
  });

  it.each([
    ['sums are left out', 'nccl_skip=1', /^every rank has every result: \d{3,} of \d+ words on 2 ranks/],
    [
      'one number of each sum is off by one',
      'nccl_off=1',
      /^every rank has every result: 36 of 36900 words on 2 ranks/,
    ],
    ['the rate is beyond what the links carry', BEYOND, /^no faster than the links: all-reduce of /],
  ])('publishes no number if %s', async (_, sim, reason) => {
    const result = await allReduce(sim === BEYOND ? { ...short, sizes: [8, 8 * KIB, 256 * KIB] } : short, {
      sim: `devices=2,nccl_us=1,${sim}`,
    });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });

  it.each([
    ['ncclAllReduce:1@3', /^ncclAllReduce returned 1, unhandled cuda error/],
    ['ncclCommGetAsyncError:6@1', /^ncclCommGetAsyncError returned 6, remote process exited/],
  ])("fails with NCCL's error: %s", async (fail, reason) => {
    const result = await allReduce(short, { sim: `devices=2,nccl_us=1,fail=${fail}` });
    expect(result).toMatchObject({ status: 'failed', value: null, reason: expect.stringMatching(reason) as string });
  });

  it.each([
    ['there is one GPU', { sim: 'devices=1' }, /^several GPUs are needed; the process sees one GPU/],
    ['there is no NCCL', { sim: 'devices=2', variables: { LD_LIBRARY_PATH: '' } }, /^NCCL was not found .*install it/],
  ])('is unsupported where %s', async (_, on, reason) => {
    const result = await allReduce(short, on);
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(reason);
  });

  it('has no ceiling where NVML reports no link', async () => {
    const result = await allReduce(short, { sim: 'devices=3,nccl_us=1,topology=50,pcie_gen=0' });
    expect(result).toMatchObject({ status: 'ok', processes: 3, details: { connections: ['SYS'], ceilingGbs: null } });
    expect(result.checks.find(({ name }) => name === 'no faster than the links')?.passed).toBe('not checked');
  });
});

const GATHER = ['NCCL-002', 'ncclAllGather', allGatherBy] as const;
const BROADCAST = ['NCCL-004', 'ncclBroadcast', broadcastBy] as const;

describe.each([GATHER, BROADCAST])('%s', (id, collective, by) => {
  const BYTES = 3 * 2 ** 20;
  const plan: BandwidthPlan = { bytes: BYTES, operations: 3, bursts: COUNTED };
  const short: BandwidthPlan = { bytes: 96 * KIB, operations: 2, bursts: 2 };

  it.each([2, 4])('finds what the record of %i ranks says', async (ranks) => {
    const record = temporaryFolder('record');
    const sim = `devices=${ranks},nccl_us=20000,link_gbs=0.2,recorded=${collective}+${BURST_CALLS}`;
    const result = await measured(id, by(plan), { sim, record });
    expect(result).toMatchObject({ status: 'ok', processes: ranks, details: { ranks, bytes: BYTES } });
    // By hand: what passes the link of a rank.
    const bus = BYTES * (id === 'NCCL-002' ? (ranks - 1) / ranks : 1);
    const roots = id === 'NCCL-004' ? ranks : 1;
    const recorded = slowestRank(record, collective, BYTES, roots);
    expect(recorded.ranks).toBe(ranks);
    expectRecorded(bus / (result.value as number), recorded);
    expect(recorded.alone / (20e6 + bus / 0.2)).toBeCloseTo(1, 4);
    if (id === 'NCCL-004') {
      const found = result.details.roots as { root: number; gbs: number }[];
      expect(found.map(({ root }) => root)).toEqual(Array.from({ length: ranks }, (_, rank) => rank));
    }
  });

  it('divides evenly among three ranks', async () => {
    const result = await measured(id, by({ ...short, bytes: 100 * KIB }), { sim: 'devices=3,nccl_us=1' });
    expect(result).toMatchObject({ status: 'ok', processes: 3, details: { bytes: 99 * KIB } });
  });

  it.each([
    ['results are left out', 'nccl_skip=1', /^every rank has every result: \d{4,} of \d+ words on 2 ranks/],
    ['the rate is beyond what the links carry', BEYOND, /^no faster than the links: nccl/],
  ])('publishes no number if %s', async (_, sim, reason) => {
    const result = await measured(id, by(short), { sim: `devices=2,nccl_us=1,${sim}` });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });

  it.each([
    ['there is one GPU', { sim: 'devices=1' }, /^several GPUs are needed; the process sees one GPU/],
    ['there is no NCCL', { sim: 'devices=2', variables: { LD_LIBRARY_PATH: '' } }, /^NCCL was not found .*install it/],
  ])('is unsupported where %s', async (_, on, reason) => {
    const result = await measured(id, by(short), on);
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result.reason).toMatch(reason);
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });
  const allReduce = allReduceBy({ sizes: [8 * KIB], operations: 3, bursts: 3, otherBursts: 1 });
  const plan: BandwidthPlan = { bytes: 64 * KIB, operations: 2, bursts: 3 };

  it.each([
    ['NCCL-001', 'ncclAllReduce=1', allReduce],
    ['NCCL-001', 'ncclAllReduce=6', allReduce],
    ['NCCL-001', 'kernel=gvb_sums_check', allReduce],
    ['NCCL-001', 'kernel=gvb_parts', allReduce],
    ['NCCL-002', 'ncclAllGather=3', allGatherBy(plan)],
    ['NCCL-002', 'kernel=gvb_mix', allGatherBy(plan)],
    ['NCCL-002', 'kernel=gvb_mix_check', allGatherBy(plan)],
    ['NCCL-004', 'ncclBroadcast=3', broadcastBy(plan)],
  ])('gets no number for %s with %s', async (id, lazy, measure) => {
    const variables = { LD_PRELOAD: layer, GVB_TEST_LAZY: lazy };
    const result = await measured(id, measure, { sim: 'devices=2,nccl_us=1', variables });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^every rank has every result: /);
  });
});
