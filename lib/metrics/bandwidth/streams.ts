/** Tenants that stream memory at the same time: the rate of each, and the rate of an unlimited tenant alone. */
import type { StreamKind, StreamWindow, StreamWindowRequest } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { FEWEST_FOR_INTERVAL, median } from '../../stats/median.js';
import type { Scene } from '../../workers/scene.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { Task, WorkerTenant } from '../../workers/worker-tenant.js';
import type { System } from '../../systems/system.js';
import type { MeasureContext } from '../core/metric.js';
import { referenceOf, withoutLimits } from '../isolation/tenant-load.js';
import { NS_PER_MS } from '../core/units.js';
import { gpusOf } from '../tenants/tenants.js';

export const STREAM_KINDS: readonly StreamKind[] = ['read', 'write', 'copy'];

/** Length of the bins from which confidence intervals are estimated. */
export const BIN_MS = 100;
export const GRACE_MS = 120_000;
/** Loads the kernels, and makes and fills buffers of the size that is measured. */
const REHEARSAL_MS = 1;
/** Lead time before a release, as a multiple of the usual one: buffers are made and filled again for each window. */
export const LEADS = 5;
const SLACK = 1.05;
const LEAST_OF_CEILING = 0.6;
/** The number that an interval needs. */
const ALONE_WINDOWS = FEWEST_FOR_INTERVAL;
const ALONE_RANGE = 0.05;

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
  /** Peak bandwidth of its card's memory. 0: unknown. */
  ceilingGbs: number;
}

/** `bytes`, 0: eight times the L2 cache; `blocks`, 0: two a multiprocessor. */
type Streaming = Pick<StreamWindowRequest, 'kind'> &
  Partial<Pick<StreamWindowRequest, 'bytes' | 'blocks'>> & { windowMs: number };

const request = ({ kind, windowMs, bytes = 0, blocks = 0 }: Streaming): Omit<StreamWindowRequest, 'startAtNs'> => ({
  kind,
  bytes,
  blocks,
  windowNs: windowMs * NS_PER_MS,
});

export const streamTask = (streaming: Streaming): Task => sessionTaskOf('streamWindow', request(streaming));

function streamed(window: StreamWindow, baseMs: number): Streamed {
  const offset = (window.originMs - baseMs) * NS_PER_MS;
  const kernels = window.fromNs.map((from, i) => ({
    fromNs: from + offset,
    toNs: (window.toNs[i] as number) + offset,
  }));
  const [fromNs, toNs] = [kernels[0]?.fromNs ?? 0, kernels.at(-1)?.toNs ?? 0];
  const { movedBytes, dramCeilingGbs: ceilingGbs } = window;
  const gbPerSecond = (kernels.length * movedBytes) / (toNs - fromNs);
  return { gbPerSecond, fromNs, toNs, kernels, movedBytes, ceilingGbs };
}

/** The windows must be from one card, so that they share a clock. */
function streamedAll(windows: readonly StreamWindow[]): Streamed[] {
  const baseMs = Math.min(...windows.map(({ originMs }) => originMs));
  return windows.map((window) => streamed(window, baseMs));
}

/** Bytes moved between two times; a kernel that was running at either time counts in part. */
export const bytesBetween = ({ kernels, movedBytes }: Streamed, fromNs: number, toNs: number): number =>
  kernels.reduce((sum, kernel) => {
    const inside = Math.min(kernel.toNs, toNs) - Math.max(kernel.fromNs, fromNs);
    return inside > 0 ? sum + (movedBytes * inside) / (kernel.toNs - kernel.fromNs) : sum;
  }, 0);

/** The rates during the time in which all tenants streamed; of whole bins, so that they are the bins' means. */
export interface Together {
  spanMs: number;
  /** GB/s of each tenant. */
  rates: number[];
  /** GB/s in each bin of that time, by tenant. */
  binned: number[][];
  ceilingGbs: number;
}

/** Null if there is no such time. */
export function togetherIn(all: readonly Streamed[], binMs: number): Together | null {
  const fromNs = Math.max(...all.map((each) => each.fromNs));
  const toNs = Math.min(...all.map((each) => each.toNs));
  if (!(toNs > fromNs)) return null;
  const binNs = binMs * NS_PER_MS;
  const bins = Array.from({ length: Math.floor((toNs - fromNs) / binNs) }, (_, bin) => fromNs + bin * binNs);
  const untilNs = bins.length > 0 ? fromNs + bins.length * binNs : toNs;
  return {
    spanMs: (untilNs - fromNs) / NS_PER_MS,
    rates: all.map((each) => bytesBetween(each, fromNs, untilNs) / (untilNs - fromNs)),
    binned: all.map((each) => bins.map((begin) => bytesBetween(each, begin, begin + binNs) / binNs)),
    ceilingGbs: all[0]?.ceilingGbs ?? 0,
  };
}

/** Mean rate over the drawn bins. */
export const meanOf = (bins: readonly number[], draw: readonly number[]): number =>
  draw.reduce((sum, bin) => sum + (bins[bin] as number), 0) / draw.length;

export interface Alone {
  /** Median of the windows, of which one may be disturbed. */
  gbPerSecond: number;
  /** GB/s in each window. */
  windows: readonly number[];
  bufferBytes: number;
  multiprocessors: number;
  /** Peak memory bandwidth from memory clock and bus width; 0: unknown. */
  ceilingGbs: number;
}

/** `windows`: with new buffers each, `ALONE_WINDOWS` of them. */
export function aloneIn(windows: readonly StreamWindow[]): Alone {
  const rates = windows.map((window) => streamed(window, window.originMs).gbPerSecond);
  const { bytes: bufferBytes, multiprocessors, dramCeilingGbs: ceilingGbs } = windows[0] as StreamWindow;
  return { gbPerSecond: median(rates).value, windows: rates, bufferBytes, multiprocessors, ceilingGbs };
}

/** The rate of an unlimited tenant alone; measured once per round, in several windows of this length. */
export const alone = (context: MeasureContext, kind: StreamKind, windowMs: number): Promise<Alone> =>
  context.once.get(`memory stream alone: ${kind}, ${windowMs} ms`, () =>
    withoutLimits(context, referenceOf(context.system, { smPercent: 50 }), async (worker) => {
      const ask = (ms: number) =>
        worker.ask('streamWindow', { ...request({ kind, windowMs: ms }), startAtNs: 0 }, ms + GRACE_MS);
      await ask(REHEARSAL_MS);
      const windows: StreamWindow[] = [];
      while (windows.length < ALONE_WINDOWS) windows.push(await ask(windowMs));
      return aloneIn(windows);
    }),
  );

export function aloneChecks(kind: StreamKind, { gbPerSecond, windows, ceilingGbs }: Alone): Check[] {
  const part = gbPerSecond / ceilingGbs;
  const off = windows.filter((rate) => Math.abs(rate / gbPerSecond - 1) > ALONE_RANGE);
  const steady = {
    name: `${kind} alone: at most one window differs by more than ${100 * ALONE_RANGE} % from the median`,
    passed: off.length <= 1,
    detail: `${windows.map((rate) => rate.toPrecision(4)).join(', ')} GB/s`,
  };
  const possible: Check = {
    name: `${kind} alone: ${100 * LEAST_OF_CEILING} to ${100 * SLACK} % of what the memory can move`,
    passed: ceilingGbs === 0 ? 'not checked' : part >= LEAST_OF_CEILING && part <= SLACK,
    detail:
      ceilingGbs === 0
        ? 'the driver does not report the clock and width of the memory'
        : `${gbPerSecond.toPrecision(4)} of ${ceilingGbs.toPrecision(4)} GB/s`,
  };
  return [possible, steady];
}

export interface Rate {
  name: string;
  gbs: number;
  tenants: number;
}

export const together = (name: string, rates: readonly number[]): Rate => ({
  name,
  gbs: rates.reduce((sum, rate) => sum + rate, 0),
  tenants: rates.length,
});

/** Checks tenants together: who is somewhere else than in the memory that the system gives is no neighbour. */
export function boundCheck(rates: readonly Rate[], ceilingGbs: number, system: System): Check {
  const name = 'no more than the memory can move';
  if (ceilingGbs === 0)
    return { name, passed: 'not checked', detail: 'the driver does not tell the clock and width of the memory' };
  // What is not a number is no rate either.
  const beyond = rates.find(({ gbs, tenants }) => !(gbs <= SLACK * ceilingGbs * gpusOf(system, tenants)));
  const most = `the memory moves ${ceilingGbs.toPrecision(4)} GB/s`;
  return {
    name,
    passed: beyond === undefined,
    detail: beyond ? `${beyond.name}: ${beyond.gbs.toPrecision(4)} GB/s, but ${most}` : most,
  };
}

interface Part extends Omit<Streaming, 'kind'> {
  worker: WorkerTenant;
}

/** Runs all parts at the same time. Rejects with the first failure. */
export async function stream(scene: Scene, kind: StreamKind, parts: readonly Part[]): Promise<Streamed[]> {
  const tasks = parts.map(({ worker, ...streaming }) => [worker, streamTask({ kind, ...streaming })] as const);
  const longest = Math.max(...parts.map(({ windowMs }) => windowMs));
  return streamedAll(await scene.releaseAll<StreamWindow>(new Map(tasks), longest + GRACE_MS, LEADS));
}

/** Loads kernels, which would else shorten the first window. Returns the window of the first worker. */
export async function rehearse(workers: readonly WorkerTenant[]): Promise<StreamWindow> {
  const own = { ...request({ kind: 'read', windowMs: REHEARSAL_MS }), startAtNs: 0 };
  const windows = await Promise.all(
    workers.map((worker) => askSession(worker, { name: 'streamWindow', request: own, deadlineMs: GRACE_MS })),
  );
  return windows[0] as StreamWindow;
}
