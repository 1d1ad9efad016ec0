/**
 * LLM-004 on the simulated card: steps compared with their record, co-tenants of known cost, layers that skip or replay
 * work.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sum } from 'simple-statistics';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FrontierRow } from '../../../lib/metrics/llm/generation.js';
import {
  tokenLatency,
  tokenLatencyBy,
  type TokenLatencyTimes,
} from '../../../lib/metrics/llm/llm-004-token-latency.js';
import type { Stops } from '../../../lib/metrics/llm/stops.js';
import { unlikeConditions } from '../../../lib/metrics/core/compared-at.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MeasureOptions } from '../../../lib/metrics/core/metric.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder } from '../../native/measured.js';
import { type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';
import { medianWithin } from '../../native/recovered.js';
import { busyIn, lasted } from '../isolation/shares.js';

const RECORDED = 'recorded=cuLaunchKernel+cuLaunchKernelEx+cuGraphLaunch';
const WORKLOAD = { batch: 1, prompt: 16, output: 12 };
const ALONE: TokenLatencyTimes = { aloneMs: 300, togetherMs: 300, coTenants: [] };

function latency(system: System, times: TokenLatencyTimes, options: MeasureOptions = {}) {
  const measure = tokenLatencyBy({ workload: WORKLOAD, times });
  const definition = { ...metricNamed('LLM-004'), measure };
  return measureMetric(definition, { simulate: true, seed: 1, ...options }, { system });
}

/** Long enough for several stops; the last request that begins in it is served to its end. */
const STOPPED_MS = 1_600;
const SPENT_MS = 2 * STOPPED_MS;

interface Row {
  mode: string;
  ttftMs: number;
  itlP50Ms: number;
  steps: number;
  stops: Stops;
}
const rowsOf = ({ details }: { details: Record<string, unknown> }) => details.rows as [Row, Row];
const frontierOf = ({ details }: { details: Record<string, unknown> }) => details.frontier as FrontierRow[];

/** Launches per step of a decoder with one layer, the default on a simulated card. */
const LAUNCHES_OF_STEP = 9;

/** The launches of a token: from the first one until the one that shows it, or one launch of a graph. */
interface Pass {
  launches: number | 'graph';
  entered: number;
  ends: number;
  /** When the process launched something again; it had seen the token by then. */
  nextAt: number;
}

const isOfDecoder = ({ kernel }: RecordedCall) => /^gvb_(deco|gemm|attention)/.test(kernel);

function passes({ calls }: Recorded): Pass[] {
  const all: Pass[] = [];
  let open: RecordedCall[] = [];
  for (const [i, call] of calls.entries()) {
    const graph = call.name === 'cuGraphLaunch';
    if (!graph && !isOfDecoder(call)) continue;
    open.push(call);
    if (!graph && !call.kernel.startsWith('gvb_decoder_pub')) continue;
    const [{ entered }] = open as [RecordedCall];
    const nextAt = calls[i + 1]?.entered ?? Number.POSITIVE_INFINITY;
    all.push({ launches: graph ? 'graph' : open.length, entered, ends: call.ends, nextAt });
    open = [];
  }
  return all;
}

const stepsIn = (process: Recorded, launches: Pass['launches'] = LAUNCHES_OF_STEP): Pass[] =>
  passes(process).filter((pass) => pass.launches === launches);

/** A step is a stop from this many times the median on. */
const STOP = 10;

/**
 * How many tokens came late after the one before although no pause kept the process from its work, because the host was
 * busy: it saw one late, or launched the next one late.
 */
function delayedByHost(process: Recorded, pauses: readonly RecordedCall[], leastMs: number): number {
  const ends = passes(process).flatMap((pass) => (pass.ends > 0 ? [pass.ends] : []));
  const late = ends.filter((to, i) => {
    const from = ends[i - 1] ?? Number.POSITIVE_INFINITY;
    return to - from >= leastMs * 1e6 && !pauses.some((pause) => pause.begins < to && pause.ends > from);
  });
  return late.length;
}

const middle = (values: readonly number[]): number => median(values).value;

/** Kernels of one size, in prompts and in steps: the median of other sizes depends on which kernels are counted. */
const kernelsOf = ({ calls }: Recorded, from: number, to: number) =>
  calls.filter(({ kernel, begins, ends }) => kernel.startsWith('gvb_decoder_pic') && begins >= from && ends <= to);

/** How long the kernels of one process took while others ran all the time. */
function besideOthers(own: Recorded, other: Recorded): number[] {
  const others = other.calls.filter((call) => isOfDecoder(call) && !call.kernel.startsWith('gvb_decoder_pub'));
  const covered = ({ begins, ends }: RecordedCall) => busyIn(others, begins, ends) > 0.9 * (ends - begins);
  return kernelsOf(own, 0, Number.POSITIVE_INFINITY).filter(covered).map(lasted);
}

/** How much earlier another tenant of the same release may have begun; it warmed up long before. */
const RELEASE_NS = 20e6;
/** The device's clock differs from the host's by some millionths. */
const CLOCKS = 1e-3;

/**
 * The host sees a token after its step is over, however late a busy machine makes it, and before it launches the next
 * one.
 */
function expectMedian(ms: number, steps: readonly Pass[], count: number): void {
  // Few are not counted: warm-up steps, or steps in which a window ends.
  expect(count).toBeGreaterThan(0.5 * steps.length);
  const [least] = medianWithin(
    steps.map(({ entered, ends }) => (ends - entered) / 1e6),
    count,
  );
  const [, most] = medianWithin(
    steps.map(({ entered, nextAt }) => (nextAt - entered) / 1e6),
    count,
  );
  expect(ms).toBeGreaterThan(least * (1 - CLOCKS));
  expect(ms).toBeLessThan(most * (1 + CLOCKS));
}

describe('LLM-004', () => {
  it.each([
    ['a card', ''],
    ['an instance', 'mig=3+3,'],
  ])('finds how long steps and prompts take, by launches and by a graph: %s', async (_, card) => {
    // Nine kernels of 1.5 ms, and 0.23 MB of weights and some of the cache: 16 ms.
    const { result, record } = await undisturbedRecord((folder) =>
      latency(environmentUnder(null, `${card}dram_gbs=0.1,kernel_ns=1500000,${RECORDED}`, folder), {
        ...ALONE,
        aloneMs: 450,
      }),
    );
    expect(result).toMatchObject({
      status: 'ok',
      processes: 1,
      details: { launches: LAUNCHES_OF_STEP },
    });
    const [recorded] = recordedByProcess(record) as [Recorded];
    const [launches, graph] = rowsOf(result);
    expect(result.value).toBe(launches.itlP50Ms);
    expectMedian(launches.itlP50Ms, stepsIn(recorded), launches.steps);
    expectMedian(graph.itlP50Ms, stepsIn(recorded, 'graph'), graph.steps);
    expect(frontierOf(result).map(({ coTenants, mode }) => [coTenants, mode])).toEqual([
      [0, 'launches'],
      [0, 'graph'],
    ]);
    expect(result.details.decodeAttention).toMatchObject({ batch: 2, context: 64, percentOfCeiling: null });
    expect(result.details.checksum).toMatch(/^[0-9a-f]{14}$/);
  });

  it('finds the stops of a compute limit, which the median does not show', async () => {
    // Steps of about 8 ms; the limit lets them run for 120 ms, and the card idle for 280. A busy machine does not keep a
    // process from running for ten steps.
    const { result, record } = await undisturbedRecord((folder) =>
      latency(environmentUnder('share=30@400ms', `dram_gbs=0.2,kernel_ns=800000,${RECORDED}`, folder), {
        ...ALONE,
        aloneMs: STOPPED_MS,
      }),
    );
    expect(result).toMatchObject({ status: 'ok' });
    const [recorded] = recordedByProcess(record) as [Recorded];
    const paused = recorded.calls.filter(({ kernel }) => kernel === 'gvb_pause');
    const pauses = paused.map((call) => lasted(call) / 1e6);
    const rows = rowsOf(result);
    const leastMs = (STOP - 1) * Math.min(...rows.map(({ itlP50Ms }) => itlP50Ms)) * (1 - CLOCKS);
    const delayed = delayedByHost(recorded, paused, leastMs);
    // A pause may fall in a prompt, and two may follow one another.
    expect(sum(rows.map(({ stops }) => stops.count))).toBeLessThanOrEqual(pauses.length + delayed);
    for (const { stops, itlP50Ms } of rows) {
      expect(stops.count).toBeGreaterThan(1);
      expect(stops.longestMs).toBeGreaterThan(Math.min(...pauses) * (1 - CLOCKS));
      const lostMs = stops.count * (Math.min(...pauses) - itlP50Ms);
      expect(stops.lostPercent).toBeGreaterThan((100 * lostMs) / SPENT_MS);
      expect(stops.lostPercent).toBeLessThan(100);
    }
    expect(result.checks).toContainEqual(
      expect.objectContaining({ name: 'tokens came without stops', passed: 'not checked' }),
    );
  });

  it('finds the cost of co-tenants that take a known part of the card', async () => {
    const times = { aloneMs: 300, togetherMs: 700, coTenants: [1] };
    const { result, record } = await undisturbedRecord((folder) =>
      latency(environmentUnder(null, `mps=1,dram_gbs=0.1,kernel_ns=600000,${RECORDED}`, folder), times),
    );
    expect(result).toMatchObject({ status: 'ok' });
    const [alone, , beside] = frontierOf(result) as [FrontierRow, FrontierRow, FrontierRow];
    expect(beside).toMatchObject({ coTenants: 1, mode: 'launches' });
    const [first, second] = recordedByProcess(record).filter((process) => stepsIn(process).length > 0) as [
      Recorded,
      Recorded,
    ];
    const [own, others] = [stepsIn(first), stepsIn(second)];
    const [entersAt] = second.calls.map(({ entered }) => entered) as [number];
    expectMedian(
      alone.p50Ms as number,
      own.filter(({ ends }) => ends < entersAt),
      alone.steps,
    );
    const from = own.find(({ entered }) => entered > entersAt)?.entered as number;
    const both = [...own, ...others].filter(({ entered }) => entered > from - RELEASE_NS);
    expectMedian(beside.p50Ms as number, both, beside.steps);
    // Both ask for all of the DRAM's rate in all kernels but the last, and get half of it while both have work.
    const slower = middle(besideOthers(first, second)) / middle(kernelsOf(first, 0, entersAt).map(lasted));
    expect(slower).toBeGreaterThan(1.2);
    expect(slower).toBeLessThan(2.05);
    const to = Math.min(...[own, others].map((steps) => steps.at(-1)?.ends as number));
    const tokens = [first, second].flatMap(passes).filter(({ ends }) => ends >= from && ends <= to).length;
    expect(((beside.tokensPerSecond as number) * (to - from)) / 1e9 / tokens).toBeCloseTo(1, 0);
    expect(beside.p99Ms).toBeNull();
    expect(beside.reason).toMatch(/^a 99th percentile needs 299 steps/);
  });

  it('has the same checksum for the same seed and model, and another one otherwise', async () => {
    const times = { ...ALONE, aloneMs: 20 };
    const detailsOf = async (options: MeasureOptions) => {
      const { details } = await undisturbed(
        () => latency(environmentUnder(null), times, options),
        (result) => [result],
      );
      return details;
    };
    const model = { layers: 1, hidden: 128, heads: 2, kvHeads: 2, mlp: 64, vocabulary: 64 };
    const [first, again, seed, shape] = [
      await detailsOf({}),
      await detailsOf({}),
      await detailsOf({ seed: 2 }),
      await detailsOf({ model }),
    ];
    expect(again.checksum).toBe(first.checksum);
    expect(new Set([first, seed, shape].map(({ checksum }) => checksum)).size).toBe(3);
    expect(shape.model).toEqual(model);
    expect(unlikeConditions(tokenLatency, [first, seed])).toBeNull();
    expect(unlikeConditions(tokenLatency, [first, shape])).toMatch(
      /^workload is custom {.*} against custom {.*"layers":1/,
    );
  });
});

describe('the kernels of a decoder', () => {
  const details = async (settings: string) =>
    (
      await undisturbed(
        () => latency(environmentUnder(null, settings), { ...ALONE, aloneMs: 20 }),
        (result) => [result],
      )
    ).details;

  it('are fewer and overlap on sm_90 if the driver can capture that', async () => {
    const hopper = { variant: 'mma.sync sm_90', promptVariant: 'wgmma sm_90a', launches: LAUNCHES_OF_STEP };
    const overlapping = await details('cc=90');
    expect(overlapping).toMatchObject({ ...hopper, overlaps: true });
    for (const without of ['driver_version=12020', 'fail=cuLaunchKernelEx:801@1']) {
      const { checksum } = overlapping;
      expect(await details(`cc=90,${without}`)).toMatchObject({ ...hopper, overlaps: false, checksum });
    }
    const ampere = { variant: 'mma.sync sm_80', promptVariant: 'mma.sync sm_80', launches: 13, overlaps: false };
    expect(await details('cc=80')).toMatchObject(ampere);
  });
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });
  const under = (lazy: string) => environmentSystem({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });

  it.each([
    ['skips a kernel from the beginning', 'kernel=gvb_decoder_swiglu', /the logits of step 0 are not finite/],
    ['skips attention of prompts', 'kernel=gvb_attention_sm90_f16_d64', /the logits of step 0 are not finite/],
    ['skips attention of steps', 'kernel=gvb_decoder_attention_64', /logits differ from double precision/],
    ['never shows a token', 'kernel=gvb_decoder_publish', /the token of step 0 never came/],
    ['skips launches later on', 'cuLaunchKernelEx=600', /never came|are not finite|the device ran \d+/],
    ['skips graphs later on', 'cuGraphLaunch=5', /the token of step \d+ never came/],
    [
      'replays an old token in place of a graph',
      'tokens=replay',
      /blocks of matrix products and attention the device ran \d+/,
    ],
  ])('publishes nothing where it %s', async (_, lazy, reason) => {
    const result = await latency(under(lazy), ALONE);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });
});
