/** CKPT-001, 002, 003 and 005 recover what the simulated driver took for each call, and publish no number of what it did not do. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ceilingGbs, SLACK } from '../../../lib/metrics/pcie/link.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { median } from '../../../lib/stats/median.js';
import { slope } from '../../../lib/stats/slope.js';
import { command, emptyFolder, parseDocument, start, workersOf } from '../../cli/command.js';
import { durationOf, type Recorded, type RecordedCall, recordedByProcess } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';

const IDS = ['CKPT-001', 'CKPT-002', 'CKPT-003', 'CKPT-005'];
const MIB = 2 ** 20;
const CONTEXT_MIB = 16;
const CALLS = ['Lock', 'Checkpoint', 'Restore', 'Unlock'].map((call) => `cuCheckpointProcess${call}`);
const MS = 1e6;
/** A controller that wakes for a call has nothing of it in its caches (seen: 160 readings). */
const AWOKEN_READINGS = 800;
/** What CUDA events and the graph of a target may take beside what it holds. */
const OWN_MIB = 1;

/** Times of moving that are large beside what a preempted thread loses. */
const CARD = Object.entries({
  ...{ init_ms: 0, context_ms: 0, context_mib: CONTEXT_MIB, memory_mib: 112 },
  ...{ checkpoint_lock_us: 3_000, checkpoint_fixed_us: 30_000, checkpoint_us_per_mib: 2_000 },
  ...{ restore_fixed_us: 20_000, restore_us_per_mib: 1_000, unlock_us: 2_000 },
})
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

const args = (ids: readonly string[], iterations: number) => [
  ...['run', ...ids, '--simulate', '--seed', '1'],
  ...['--iterations', String(iterations), '--json', '-'],
];

async function measuredOn(ids: readonly string[], sim: string, iterations = 1): Promise<MetricResult[]> {
  const { stdout } = await command(args(ids, iterations), {}, `${CARD},${sim}`);
  return parseDocument(stdout).metrics;
}

interface SizeRow {
  bytes: number;
  targets: number;
  seconds: number;
  againSeconds: number;
}

describe('a card whose driver moves memory as it says', () => {
  const TARGETS = 2;
  const results = new Map<string, MetricResult>();
  let controller: Recorded;
  let busy: Recorded;
  let works: RecordedCall[];

  beforeAll(async () => {
    const folder = emptyFolder();
    const recorded = [...CALLS, 'cuLaunchKernel', 'cuLaunchKernelEx'].join('+');
    for (const result of await measuredOn(IDS, `record=${folder},recorded=${recorded}`, TARGETS))
      results.set(result.id, result);
    const processes = recordedByProcess(folder);
    const made = (name: string) => (one: Recorded) => one.named(name).length > 0;
    // Guardians restore and unlock nothing; the locks of busy targets are another controller's.
    controller = processes.find(made('cuCheckpointProcessRestore')) ?? expect.fail('no controller');
    busy =
      processes.find((one) => one !== controller && made('cuCheckpointProcessUnlock')(one)) ??
      expect.fail('no controller of busy targets');
    const locked = busy.named('cuCheckpointProcessLock');
    works = locked.map(
      ({ entered }) =>
        processes
          .flatMap(({ calls }) => calls.filter(({ ends, begins }) => begins < entered && ends > entered))
          .sort((a, b) => b.ends - a.ends)[0] ?? expect.fail('no work'),
    );
  });

  const resultOf = (id: string) => results.get(id) ?? expect.fail(`no ${id}`);
  const called = (name: string) => controller.named(`cuCheckpointProcess${name}`);
  const sizesOf = (id: string) => resultOf(id).details.sizes as SizeRow[];

  it('has four numbers', () => {
    expect([...results.values()].map(({ status, reason }) => ({ status, reason }))).toEqual(
      IDS.map(() => ({ status: 'ok', reason: undefined })),
    );
  });

  it('CKPT-001 is the median of the recorded locks of idle targets', () => {
    const locks = called('Lock');
    expect(resultOf('CKPT-001').details).toMatchObject({ locks: locks.length });
    const truth = controller.truthOfSameCalls(locks.map(durationOf), { unitNs: MS, readings: AWOKEN_READINGS });
    expectRecovered([['a lock', resultOf('CKPT-001'), truth]]);
  });

  it('CKPT-001 says of busy targets what remained of their work, and that the lock waited for it', () => {
    const rows = resultOf('CKPT-001').details.busy as { lockMs: number; remainingMs: number; extraMs: number }[];
    const locks = busy.named('cuCheckpointProcessLock');
    expect(locks).toHaveLength(rows.length + 1);
    for (const [i, { lockMs, remainingMs, extraMs }] of rows.entries()) {
      const lock = locks[i] as RecordedCall;
      expect(lockMs * MS).toBeGreaterThanOrEqual(durationOf(lock));
      expect(extraMs).toBeCloseTo(lockMs - remainingMs, 9);
      // The work began after its submission, which is when the metric's estimate begins.
      expect(remainingMs * MS).toBeLessThanOrEqual((works[i]?.ends ?? 0) - lock.entered + MS);
      expect(lock.left).toBeGreaterThanOrEqual(works[i]?.ends ?? Infinity);
    }
    const { timeout } = resultOf('CKPT-001').details as {
      timeout: { timeoutMs: number; lockMs: number; code: number };
    };
    expect(timeout.code).toBe(600);
    const late = locks.at(-1) as RecordedCall;
    expect(timeout.lockMs * MS).toBeGreaterThanOrEqual(durationOf(late));
    expect(late.left).toBeLessThan(works.at(-1)?.ends ?? 0);
  });

  it.each([
    ['CKPT-002', 'Checkpoint'],
    ['CKPT-003', 'Restore'],
  ])('%s has the recorded times by size, and their rate', (id, name) => {
    const calls = called(name);
    const rows = sizesOf(id);
    expect(rows.map(({ bytes }) => bytes / MIB)).toEqual([0, 16, 64, 80]);
    const ofRow = ({ bytes }: SizeRow) =>
      calls.filter((call) => call.bytes >= bytes && call.bytes < bytes + OWN_MIB * MIB);
    for (const row of rows) {
      expect(ofRow(row)).toHaveLength(2 * TARGETS);
      for (const [turn, seconds] of [row.seconds, row.againSeconds].entries()) {
        const recorded = ofRow(row)
          .filter((_, i) => i % 2 === turn)
          .map(durationOf);
        const { value } = median(recorded);
        expect(seconds * 1e9).toBeGreaterThanOrEqual(value);
        expectRecovered([
          [
            `${row.bytes} bytes`,
            { value: seconds * 1e9, ci95: null },
            { truth: value, tolerance: MS, resolution: Infinity },
          ],
        ]);
      }
    }
    const { value } = resultOf(id);
    const line = slope(
      rows.flatMap((row) => ofRow(row).map((call) => [row.bytes / 1e9, durationOf(call) / 1e9] as const)),
    );
    const truth = 1 / (line?.value ?? NaN);
    expectRecovered([['the rate', { value, ci95: null }, { truth, tolerance: 0.02 * truth, resolution: truth }]]);
  });

  it('CKPT-005 gives back all that a target had, its context included', () => {
    expect(resultOf('CKPT-005').value).toBeCloseTo(100, 6);
    const rows = resultOf('CKPT-005').details.sizes as { bytes: number; processMiB: number; staysMiB: number }[];
    for (const { bytes, processMiB, staysMiB } of rows) {
      const heldMib = bytes / MIB + CONTEXT_MIB;
      expect(processMiB).toBeGreaterThanOrEqual(heldMib);
      expect(processMiB).toBeLessThan(heldMib + OWN_MIB);
      expect(staysMiB).toBeCloseTo(0, 6);
    }
  });
});

describe('a driver that does not do what it says', () => {
  const saidOf = (results: readonly MetricResult[]) =>
    results.map(({ id, status, reason }) => [id, status, reason ?? null] as const);

  it('has no number where the memory stays on the card', async () => {
    const reason = 'A checkpoint reported success, but NVML still lists the process, with ';
    for (const result of await measuredOn(IDS, 'checkpoint_keeps=1'))
      expect(result).toMatchObject({ status: 'invalid', value: null, reason: expect.stringContaining(reason) });
  });

  it('has no rate where contents came back changed', async () => {
    const changed = expect.stringMatching(/^contents, addresses, .*: checksums of a target of \d+ MiB/);
    expect(saidOf(await measuredOn(['CKPT-002', 'CKPT-003'], 'checkpoint_corrupts=1'))).toEqual(
      ['CKPT-002', 'CKPT-003'].map((id) => [id, 'invalid', changed]),
    );
  });

  /** The most that the check allows. */
  const LINK_GBS = SLACK * (ceilingGbs({ generation: 1, width: 1 }) ?? 0);

  it('has no rate above that of the link', async () => {
    const beyond = expect.stringMatching(
      /^no faster than the link: .* GB\/s, but PCIe generation 1, 1 lanes carries 0\.3/,
    );
    const results = await measuredOn(['CKPT-002', 'CKPT-003'], 'pcie_gen=1,pcie_width=1');
    expect(results.map(({ id }) => id)).toEqual(['CKPT-002', 'CKPT-003']);
    for (const result of results) {
      // A machine that gives memory to a process more slowly than this link has nothing beyond it.
      if (result.status === 'ok') expect(result.value).toBeLessThanOrEqual(LINK_GBS);
      else expect(saidOf([result])).toEqual([[result.id, 'invalid', beyond]]);
    }
  });

  it('says that a lock killed the target', async () => {
    const killed =
      'lock of a process returned CUDA_ERROR_UNKNOWN (999): the process was killed by SIGSEGV in this call.';
    expect(saidOf(await measuredOn(IDS, 'checkpoint_kills=1'))).toEqual(IDS.map((id) => [id, 'invalid', killed]));
  });

  it('says that a restore is refused, as for ever after one into a full card', async () => {
    const refused = 'restore of a process returned CUDA_ERROR_OPERATING_SYSTEM (304).';
    expect(saidOf(await measuredOn(['CKPT-003'], 'fail=cuCheckpointProcessRestore:304@1'))).toEqual([
      ['CKPT-003', 'invalid', refused],
    ]);
  });

  it.each([
    ['may not control others', 'fail=cuCheckpointProcessLock:800@1', /NOT_PERMITTED \(800\): this process may not/],
    ['checkpoints no such process', 'fail=cuCheckpointProcessCheckpoint:801@1', /\(801\): the driver does not/],
    [
      'is too old',
      'driver=565',
      /^cuCheckpointProcessGetState is not offered by this driver .* \(branch 570\) or later\.$/,
    ],
  ])('is unsupported where it %s', async (_, sim, reason) => {
    expect(saidOf(await measuredOn(['CKPT-003'], sim))).toEqual([
      ['CKPT-003', 'unsupported', expect.stringMatching(reason)],
    ]);
  });
});

/** CKPT-008 needs a limit, without which it ends before. */
const WITHOUT_LIMIT = [1, 2, 3, 4, 5, 6, 7, 9].map((number) => `CKPT-00${number}`);

it.each([...CALLS, 'cuCheckpointProcessGetState'])('no target starts on a driver without %s', async (name) => {
  const record = emptyFolder();
  const sim = `${CARD},hide=${name},record=${record},recorded=cuMemAlloc_v2+cuGraphLaunch`;
  const { done, mark } = start(args(WITHOUT_LIMIT, 1), {}, sim);
  const results = parseDocument((await done).stdout).metrics;
  const reason = expect.stringMatching(new RegExp(`^${name} is not offered by this driver`));
  expect(results.map(({ id, status, reason: said }) => [id, status, said])).toEqual(
    WITHOUT_LIMIT.map((id) => [id, 'unsupported', reason]),
  );
  expect(recordedByProcess(record)).toEqual([]);
  expect(workersOf(mark)).toEqual([]);
});

it('a lock that never returns ends with the time of its metric, and leaves no process', async () => {
  const { done, mark } = start([...args(['CKPT-001'], 1), '--timeout', '3'], {}, `${CARD},checkpoint_hangs=1`);
  const { stdout } = await done;
  expect(parseDocument(stdout).metrics).toMatchObject([
    { status: 'failed', reason: expect.stringMatching(/^Timed out after 3 s/) },
  ]);
  expect(workersOf(mark)).toEqual([]);
});
