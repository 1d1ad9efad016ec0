/** Tenants that stream memory at the same time: the rate of each, and the rate of an unlimited tenant alone. */
import type { StreamKind, StreamWindow, StreamWindowRequest } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import type { Scene } from '../../workers/scene.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../metric.js';
import { referenceOf, withoutLimits } from '../isolation/tenant-load.js';
import { NS_PER_MS } from '../units.js';

export const STREAM_KINDS: readonly StreamKind[] = ['read', 'write', 'copy'];

/** Length of the bins from which confidence intervals are resampled. */
export const BIN_MS = 100;
const GRACE_MS = 120_000;
/** Duration of a rehearsal, which loads the kernels and creates and fills buffers of the measured size. */
const REHEARSAL_MS = 1;
/**
 * Lead time before a release, as a multiple of the usual one: workers create and fill their buffers again for each
 * window.
 */
const LEADS = 5;
const SLACK = 1.05;
const LEAST_OF_CEILING = 0.6;

/**
 * What one tenant moved from the start of its first kernel to the end of its last one; times are in ns from a common
 * origin.
 */
export interface Streamed {
  gbPerSecond: number;
  fromNs: number;
  toNs: number;
  kernels: readonly { fromNs: number; toNs: number }[];
  movedBytes: number;
}

const request = (kind: StreamKind, windowMs: number, blocks = 0): Omit<StreamWindowRequest, 'startAtNs'> => ({
  kind,
  bytes: 0,
  blocks,
  windowNs: windowMs * NS_PER_MS,
});

function streamed(window: StreamWindow, baseMs: number): Streamed {
  const offset = (window.originMs - baseMs) * NS_PER_MS;
  const kernels = window.fromNs.map((from, i) => ({
    fromNs: from + offset,
    toNs: (window.toNs[i] as number) + offset,
  }));
  const [fromNs, toNs] = [kernels[0]?.fromNs ?? 0, kernels.at(-1)?.toNs ?? 0];
  const { movedBytes } = window;
  return { gbPerSecond: (kernels.length * movedBytes) / (toNs - fromNs), fromNs, toNs, kernels, movedBytes };
}

/** The windows must be from one card, so that they share a clock. */
export function streamedAll(windows: readonly StreamWindow[]): Streamed[] {
  const baseMs = Math.min(...windows.map(({ originMs }) => originMs));
  return windows.map((window) => streamed(window, baseMs));
}

/** Bytes moved between two times; a kernel that was running at either time counts in part. */
export const bytesBetween = ({ kernels, movedBytes }: Streamed, fromNs: number, toNs: number): number =>
  kernels.reduce((sum, kernel) => {
    const inside = Math.min(kernel.toNs, toNs) - Math.max(kernel.fromNs, fromNs);
    return inside > 0 ? sum + (movedBytes * inside) / (kernel.toNs - kernel.fromNs) : sum;
  }, 0);

/** The rates during the time in which all tenants streamed. */
export interface Together {
  spanMs: number;
  /** GB/s of each tenant. */
  rates: number[];
  /** GB/s in each bin of that time, by tenant. */
  binned: number[][];
}

/** Null if there is no such time. */
export function togetherIn(all: readonly Streamed[], binMs: number): Together | null {
  const fromNs = Math.max(...all.map((each) => each.fromNs));
  const toNs = Math.min(...all.map((each) => each.toNs));
  if (!(toNs > fromNs)) return null;
  const binNs = binMs * NS_PER_MS;
  const bins = Array.from({ length: Math.floor((toNs - fromNs) / binNs) }, (_, bin) => fromNs + bin * binNs);
  return {
    spanMs: (toNs - fromNs) / NS_PER_MS,
    rates: all.map((each) => bytesBetween(each, fromNs, toNs) / (toNs - fromNs)),
    binned: all.map((each) => bins.map((begin) => bytesBetween(each, begin, begin + binNs) / binNs)),
  };
}

export interface Alone {
  gbPerSecond: number;
  bufferBytes: number;
  multiprocessors: number;
  /** Peak memory bandwidth from memory clock and bus width; 0: unknown. */
  ceilingGbs: number;
}

/** The rate of an unlimited tenant alone; measured once per round. */
export const alone = (context: MeasureContext, kind: StreamKind, windowMs: number): Promise<Alone> =>
  context.once.get(`memory stream alone: ${kind}, ${windowMs} ms`, () =>
    withoutLimits(context, referenceOf(context.system, { smPercent: 50 }), async (worker) => {
      const ask = (ms: number) => {
        const { method, params } = sessionTaskOf('streamWindow', request(kind, ms));
        return worker.ask(method, { ...params, startAtNs: 0 }, ms + GRACE_MS) as Promise<StreamWindow>;
      };
      await ask(REHEARSAL_MS);
      const window = await ask(windowMs);
      const { bytes: bufferBytes, multiprocessors, dramCeilingGbs: ceilingGbs } = window;
      return { gbPerSecond: streamed(window, window.originMs).gbPerSecond, bufferBytes, multiprocessors, ceilingGbs };
    }),
  );

export function aloneCheck(kind: StreamKind, { gbPerSecond, ceilingGbs }: Alone): Check {
  const part = gbPerSecond / ceilingGbs;
  return {
    name: `${kind} alone: ${100 * LEAST_OF_CEILING} to ${100 * SLACK} % of what the memory can move`,
    passed: ceilingGbs === 0 ? 'not checked' : part >= LEAST_OF_CEILING && part <= SLACK,
    detail:
      ceilingGbs === 0
        ? 'the driver does not report the clock and width of the memory'
        : `${gbPerSecond.toPrecision(4)} of ${ceilingGbs.toPrecision(4)} GB/s`,
  };
}

export interface Part {
  worker: WorkerTenant;
  windowMs: number;
  /** Number of blocks; 0: two per multiprocessor. */
  blocks?: number;
}

/** Runs all parts at the same time. Rejects with the first failure. */
export async function stream(scene: Scene, kind: StreamKind, parts: readonly Part[]): Promise<Streamed[]> {
  const tasks = parts.map(
    ({ worker, windowMs, blocks }) => [worker, sessionTaskOf('streamWindow', request(kind, windowMs, blocks))] as const,
  );
  const longest = Math.max(...parts.map(({ windowMs }) => windowMs));
  const { outcomes } = await scene.release<StreamWindow>(new Map(tasks), longest + GRACE_MS, LEADS);
  return streamedAll(
    outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    }),
  );
}

/** Loads the kernels, so that loading does not shorten the first window. */
export async function rehearse(workers: readonly WorkerTenant[]): Promise<void> {
  const own = { ...request('read', REHEARSAL_MS), startAtNs: 0 };
  await Promise.all(
    workers.map((worker) => askSession(worker, { name: 'streamWindow', request: own, deadlineMs: GRACE_MS })),
  );
}
