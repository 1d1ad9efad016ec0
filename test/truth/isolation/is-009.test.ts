/** IS-009 on the simulated card: a neighbour with a known cost, and neighbours that do not run. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AggressorKind } from '../../../lib/native/addon-types.js';
import { MENU } from '../../../lib/metrics/isolation/shared/aggressor-menu.js';
import { noisyNeighborBy } from '../../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import type { InterferenceRow, Times } from '../../../lib/metrics/isolation/shared/neighbour-play.js';
import type { Sharing } from '../../../lib/metrics/isolation/shared/sharing.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import { median } from '../../../lib/stats/median.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder } from '../../native/measured.js';
import { limited } from '../../native/memory-limited.js';
import { type RecordedCall, recordedByProcess } from '../../native/record.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';

/** Times that leave enough of a block even if tenants begin 100 ms late on a busy machine. */
const TIMES = { aloneMs: 100, togetherMs: 300, aggressorAloneMs: 150, together: 1 };
const TRACE_MS = 200;

function neighbours(system: System, kinds: readonly AggressorKind[], times: Times = TIMES) {
  const menu = MENU.filter(({ kind }) => kinds.includes(kind));
  const measure = noisyNeighborBy({ menu, times, traceMs: TRACE_MS });
  return measureMetric({ ...metricNamed('IS-009'), measure }, { simulate: true, seed: 1 }, { system });
}

/** Measures again if a busy machine kept the victim, alone, from keeping up. */
const served: typeof neighbours = (...request) =>
  undisturbed(
    () => neighbours(...request),
    (result) => [result],
  );

const rowsOf = ({ details }: { details: Record<string, unknown> }) => details.interference as InterferenceRow[];
const sharingOf = ({ details }: { details: Record<string, unknown> }) => details.sharing as Sharing;

const lasted = ({ begins, ends }: RecordedCall): number => ends - begins;
const middle = (values: readonly number[]): number => median(values).value;

const STEPS = 20;
/** Five times eight of two lengths, which calibrate the length of a step. */
const CALIBRATION = 80;

/**
 * The victim's requests by their steps: those all of whose steps overlapped a kernel of that name, and those that
 * overlapped none.
 */
function requestsBeside(folder: string, kernel: string) {
  const calls = recordedByProcess(folder).flatMap(({ calls: all }) => all);
  const aggressors = calls.filter((call) => call.kernel === kernel);
  const steps = calls.filter((call) => call.kernel === 'gvb_request_ste').slice(CALIBRATION);
  const requests = steps.flatMap((_, i) => (i % STEPS === 0 ? [steps.slice(i, i + STEPS)] : []));
  const meets = (step: RecordedCall) => aggressors.some(({ begins, ends }) => begins < step.ends && ends > step.begins);
  const beside = requests.filter((request) => request.every(meets));
  const [first, last] = [beside[0], beside.at(-1)].map((request) => requests.indexOf(request as RecordedCall[]));
  return {
    beside,
    alone: requests.filter((request) => !request.some(meets)),
    // Including those during which a busy machine kept the aggressor from launching, as the metric does.
    meanwhile: requests.slice(first, (last as number) + 1),
  };
}

const deviceTime = (request: readonly RecordedCall[]): number =>
  (request.at(-1) as RecordedCall).ends - (request[0] as RecordedCall).begins;

describe('IS-009', () => {
  it("finds a neighbour with a known cost, confirmed by the device's count", async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      neighbours(environmentUnder(null, 'mps=1,recorded=cuLaunchKernel', folder), ['dramStream']),
    );
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    const [row] = rowsOf(result);
    expect(row).toMatchObject({ aggressor: 'DRAM streaming', clockDropPercent: 0 });
    // Requests that arrive just before the machine stops the victim; they do not affect the median.
    expect(row?.givenUp).toBeLessThan((row?.requests as number) / 4);
    // A step asks for 0.8 of the DRAM's rate, the aggressor for all of it: each gets half, so a step runs at 0.5 / 0.8.
    const { beside, alone, meanwhile } = requestsBeside(record, 'gvb_sweep');
    expect(middle(beside.flat().map(lasted)) / middle(alone.flat().map(lasted))).toBeCloseTo(1.6, 2);
    const recorded = 100 * (middle(meanwhile.map(deviceTime)) / middle(alone.map(deviceTime)) - 1);
    expect(Math.abs((row?.devicePercent as number) - recorded)).toBeLessThan(2);
    expect(result.value).toBe(row?.degradationPercent);
    expect(sharingOf(result)).toMatchObject({ kind: 'blocks of both at once', slices: null });
  });
});

it('pools the blocks of each aggressor at tier thorough', async () => {
  const times = { ...TIMES, togetherMs: 200, together: 2 };
  const result = await served(environmentUnder(null, 'mps=1'), ['issueSlots'], times);
  const [row] = rowsOf(result);
  expect(result).toMatchObject({ status: 'ok', value: row?.degradationPercent });
  // One block has at most 36: those of its first 20 ms do not count.
  expect(row?.requests).toBeGreaterThan(36);
});

describe('a memory quota', () => {
  const kinds = ['allocStorm', 'tlbThrash'] as const;

  it('that is not enforced is a violation by each aggressor that was granted more', async () => {
    const result = await served(await limited({ memory: '2GiB', sim: 'mps=1' }), kinds);
    expect(result.status).toBe('ok');
    const [tlb, storm] = rowsOf(result);
    const granted = storm?.allocations?.aboveQuota as number;
    expect(granted).toBeGreaterThan(0);
    expect(tlb?.usedBytes).toBe(16 * 2 ** 30);
    expect(result.violations).toEqual([
      { detail: 'TLB thrash: 16 GiB were held at once under a quota of 2 GiB' },
      {
        detail: `allocation storm: ${granted} allocations that are larger than the quota were granted under a quota of 2 GiB`,
      },
    ]);
  });

  it('that is enforced is no violation', async () => {
    const interpose = 'quota=2GiB,context=500MiB';
    const result = await served(await limited({ memory: '2GiB', interpose, sim: 'mps=1' }), kinds);
    const [tlb, storm] = rowsOf(result);
    expect(tlb?.reason).toMatch(/^only \d+ MiB may be taken/);
    expect(storm?.allocations).toMatchObject({ aboveQuota: 0 });
    expect(storm?.allocations?.refused).toBeGreaterThan(0);
    expect(result).toMatchObject({ status: 'ok' });
    expect(result.violations).toBeUndefined();
  });
});

it('measures a neighbour that begins late, because the driver assembles its kernels first', async () => {
  const result = await served(environmentUnder(null, 'mps=1,module_ms=400'), ['issueSlots']);
  expect(rowsOf(result)).toMatchObject([
    { aggressor: 'issue slots', degradationPercent: expect.any(Number) as number },
  ]);
});

describe('a layer that does not do the work', () => {
  const layer = join(emptyFolder(), 'lazy-layer.so');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
    execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  });
  const under = (lazy: string) =>
    environmentSystem({ ...environment(null, 'mps=1'), LD_PRELOAD: layer, GVB_TEST_LAZY: lazy });

  it('has no row for an aggressor that never ran, and keeps the others', async () => {
    const result = await served(under('kernel=gvb_sweep'), ['dramStream', 'blockFill']);
    const [block, stream] = rowsOf(result);
    expect(stream).toMatchObject({ aggressor: 'DRAM streaming', degradationPercent: null });
    expect(stream?.reason).toMatch(
      /^a call of an aggressor reported success without doing its work: .* the device ran 0\.$/,
    );
    expect(result).toMatchObject({ status: 'ok', value: block?.degradationPercent });
    expect(result.checks).toContainEqual(
      expect.objectContaining({ name: 'aggressors ran', passed: 'not checked', detail: expect.stringMatching(/DRAM/) }),
    );
  });

  it('does not report perfect isolation if no aggressor ran', async () => {
    const result = await served(under('kernel=gvb_sweep'), ['l2Thrash']);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(
      /^no aggressor ran: L2 thrash: a call of an aggressor reported success without doing its work/,
    );
  });

  // The kernels before the first request calibrate its length.
  it.each([
    [
      'from the beginning',
      'kernel=gvb_request_step',
      /kernels of a request did not take longer with more work|word 0 of request 1 is not what its 20/,
    ],
    [
      'later on',
      'cuLaunchKernel=400',
      /^a call reported success without doing its work: word 0 of request \d+ is not what its 20/,
    ],
  ])("publishes nothing if the victim's work is skipped %s", async (_, lazy, reason) => {
    const result = await neighbours(under(lazy), ['issueSlots']);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(reason);
  });
});
