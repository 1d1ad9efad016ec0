/** The work of each load shape under compute limits, relative to its work without them. */
import { mean, standardDeviation } from 'simple-statistics';
import * as v from 'valibot';
import { count, described, quantity, rowOrReason, text } from '../../core/details.js';
import { limitPercent } from '../share-fields.js';
import type { Load } from '../../../native/addon-types.js';
import { BenchError } from '../../../errors/bench-error.js';
import type { MeasureContext } from '../../core/metric.js';
import type { LimitedWorker } from '../../core/other-limits.js';
import { type RowState, rowState } from '../../core/row-state.js';
import { BACK_TO_BACK, type Shape } from './load-shapes.js';
import { busyShare, idleShare, mechanismFields, mechanismOf } from './mechanism.js';
import { besideNvml, nvmlUtilization } from './nvml-utilization.js';
import { swingsFields, swingsOf } from './swings.js';
import {
  rateOf,
  rateSinceLaunch,
  type Reference,
  runLoad,
  sharesPercent,
  withLimits,
  withoutLimits,
} from '../tenant-load.js';

export const BIN_MS = 100;
/** More than this cannot happen under a limit: the run without the limit must have been slowed down. */
const MOST_PERCENT = 110;
const HELD_BACK = 0.5;

/** The reference run without the limit; under the limit, the time for a controller to settle and the measured time. */
export interface Windows {
  freeMs: number;
  dropMs: number;
  keepMs: number;
}

interface RowPlan {
  shapes: readonly Shape[];
  windowsOf: (shape: Shape) => Windows;
  limits: readonly number[];
  reference: Reference;
  /** Whether NVML's utilisation is published with each share. */
  besideNvml?: true;
  /** A further question to each worker, first without a limit and then under each. */
  beside?: (worker: LimitedWorker, smPercent: number | null) => Promise<void>;
}

type Free = Map<Shape, Load | RowState>;

/** Schema of a row, without its series. */
export const limitedRow = rowOrReason(
  { smPercent: limitPercent, shape: text('The shape of the load') },
  {
    kernelMs: quantity('ms', 'Length of a kernel'),
    achievedPercent: quantity('%', 'Work under the limit, of the work without it'),
    accuracyPercent: quantity('%', 'How close that is to the limit: 100 is exact'),
    multiprocessorsPercent: quantity('%', 'Multiprocessors used, of those used without a limit'),
    timePercent: quantity('%', 'Part of the time in which a kernel ran, relative to that without a limit'),
    mechanism: described(mechanismFields, 'How the limit works, as far as its kernels show'),
    oscillationCv: v.nullable(
      quantity('ratio', 'Coefficient of variation over windows of 1 s; null if there are fewer than three'),
    ),
    swings: described(v.nullable(swingsFields), 'How the share moves about the limit; null without a series'),
    kernels: count('Kernels that ran under the limit'),
    nvml: v.optional(described(nvmlUtilization, "NVML's utilisation over the same time, if it was read")),
  },
);

type AnyRow = v.InferOutput<typeof limitedRow>;

export type Row = Extract<AnyRow, { kernelMs: number }> & { series: number[] };
export type FailedRow = Pick<Row, 'smPercent' | 'shape'> & RowState;

async function attempt(shape: Shape, run: () => Promise<Load>): Promise<Load | RowState> {
  try {
    return await run();
  } catch (error) {
    const state = shape === BACK_TO_BACK ? null : rowState(error);
    if (!state) throw error;
    return state;
  }
}

async function freeLoads(context: MeasureContext, worker: LimitedWorker, plan: RowPlan): Promise<Free> {
  const { shapes, windowsOf } = plan;
  const loads: Free = new Map();
  for (const [i, shape] of shapes.entries()) {
    context.progress(`${shape.name} without a limit`, (0.2 * i) / shapes.length);
    const { freeMs } = windowsOf(shape);
    loads.set(shape, await attempt(shape, () => runLoad(worker, shape, { durationMs: freeMs, binMs: BIN_MS })));
  }
  return loads;
}

async function limitedRows(
  context: MeasureContext,
  worker: LimitedWorker,
  free: Free,
  { smPercent, windowsOf, besideNvml: published }: RowPlan & { smPercent: number },
): Promise<(Row | FailedRow)[]> {
  const rows: (Row | FailedRow)[] = [];
  for (const [shape, reference] of free) {
    context.progress(`${shape.name} at ${smPercent} %`, 0.2 + (0.8 * rows.length) / free.size);
    const head = { smPercent, shape: shape.name };
    if (!('work' in reference)) {
      rows.push({ ...head, ...reference });
      continue;
    }
    const windows = windowsOf(shape);
    const durationMs = windows.dropMs + windows.keepMs;
    const rounds = shape.lasts ? Math.round((reference.rounds * durationMs) / windows.freeMs) : reference.rounds;
    const times = { durationMs, binMs: BIN_MS, rounds };
    const run = () => attempt(shape, () => runLoad(worker, shape, times));
    const watched = { truth: context.truth, pid: worker.pid, dropMs: windows.dropMs };
    const [limited, nvml] = published ? await besideNvml(watched, run) : [await run()];
    if (!('work' in limited)) {
      rows.push({ ...head, ...limited });
      continue;
    }
    const row = rowOf(shape, smPercent, { limited, reference, windows });
    const why = heldBack(row.achievedPercent, reference);
    rows.push(why === null ? { ...row, ...(nvml && { nvml }) } : { ...head, ...stateOf(shape, why) });
  }
  return rows;
}

/** Why there is no meaningful share; null if there is one. */
export function heldBack(achievedPercent: number, reference: Load): string | null {
  const idle = idleShare(reference);
  if (achievedPercent <= MOST_PERCENT || idle < HELD_BACK) return null;
  const seen = `no kernel ran for ${(100 * idle).toFixed(0)} % of the run without the limit`;
  return `${seen}, and the run under the limit did more (${achievedPercent.toFixed(0)} %): the run without it may be limited too`;
}

function stateOf(shape: Shape, why: string): RowState {
  if (shape === BACK_TO_BACK) throw new BenchError('INVALID_RESULT', `${shape.name}: ${why}`);
  return { failed: why };
}

interface Loads {
  limited: Load;
  reference: Load;
  windows: Windows;
}

function rowOf(shape: Shape, smPercent: number, { limited, reference, windows }: Loads): Row {
  const series = sharesPercent(limited, BIN_MS, rateOf(reference));
  const kept = series.slice(Math.round(windows.dropMs / BIN_MS));
  const achievedPercent = kept.length > 0 ? mean(kept) : (100 * rateSinceLaunch(limited)) / rateOf(reference);
  const { inFlight } = shape.request;
  return {
    smPercent,
    shape: shape.name,
    kernelMs: shape.request.kernelNs / 1e6,
    achievedPercent,
    accuracyPercent: accuracy(achievedPercent, smPercent),
    multiprocessorsPercent: (100 * limited.multiprocessorsUsed.length) / reference.multiprocessorsUsed.length,
    timePercent: (100 * busyShare(limited)) / busyShare(reference),
    mechanism: mechanismOf({ limited, reference, limitPercent: smPercent, achievedPercent, inFlight }),
    oscillationCv: oscillation(kept),
    swings: swingsOf(series, smPercent, BIN_MS),
    kernels: limited.kernels,
    series,
  };
}

const accuracy = (achieved: number, limit: number): number => 100 * (1 - Math.abs(achieved - limit) / limit);

function oscillation(percent: readonly number[]): number | null {
  const size = 1_000 / BIN_MS;
  const seconds = Array.from({ length: Math.floor(percent.length / size) }, (_, i) =>
    mean(percent.slice(i * size, (i + 1) * size)),
  );
  return seconds.length < 3 || mean(seconds) === 0 ? null : standardDeviation(seconds) / mean(seconds);
}

export const isMeasured = (row: Row | FailedRow): row is Row => 'achievedPercent' in row;

/** Returns the reason instead if the layer says of a worker that it cannot be measured. */
export async function measureRows(context: MeasureContext, plan: RowPlan): Promise<(Row | FailedRow)[] | string> {
  const { limits, reference, beside } = plan;
  const free = await withoutLimits(context, reference, async (worker) => {
    const loads = await freeLoads(context, worker, plan);
    await beside?.(worker, null);
    return loads;
  });
  const rows: (Row | FailedRow)[] = [];
  for (const smPercent of limits) {
    const refused = await withLimits(context, { smPercent }, async (worker) => {
      const why = worker.attestation.computeLimitUnsupported;
      if (why !== undefined) return why;
      rows.push(...(await limitedRows(context, worker, free, { ...plan, smPercent })));
      await beside?.(worker, smPercent);
      return null;
    });
    if (refused !== null) return refused;
  }
  return rows;
}
