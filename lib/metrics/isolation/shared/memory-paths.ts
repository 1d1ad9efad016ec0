/** How much one way to allocate was granted under a limit, checked from outside if possible. */
import * as v from 'valibot';
import { choice, count, text } from '../../core/details.js';
import type { MemoryFill, MemoryPath } from '../../../native/addon-types.js';
import { OUT_OF_MEMORY } from '../../../native/errors.js';
import { WorkerEnded } from '../../../workers/worker.js';
import { rowState } from '../../core/row-state.js';
import { GIB, MIB } from '../../core/units.js';
import { formatBytes } from '../../../results/text/format-bytes.js';
import { lossOf, type MemoryTenant } from './memory-tenant.js';

/** Up to this much above the limit is rounding. */
export const SLACK = 1.01;
const NOT_SUPPORTED = 801;
/** How much freed memory a driver may keep, e.g. for code that it loaded meanwhile. */
export const KEPT_BYTES = 64 * MIB;
/** Further tolerance between NVML and the sum of the grants, relative to the limit. */
export const AGREEMENT = 0.02;

export const pathRow = v.strictObject({
  path: text('The way of allocating'),
  outcome: choice(
    ['enforced', 'limited per process', 'leaks', 'wrong error', 'unsupported'],
    'What the limit did; limited per process: several processes of a tenant, each within the limit that the layer sets for each',
  ),
  grantedBytes: v.nullable(count('What successful calls granted (bytes); null if it was not tried')),
  limitBytes: count('The limit (bytes)'),
  usedBytes: v.nullable(
    count(
      "Held in the end, including the context (bytes): by the coordinator's NVML, else as granted; null if neither is known",
    ),
  ),
  beforeBytes: v.nullable(count("Held before, by the coordinator's NVML (bytes); null if it does not say")),
  truthBytes: v.nullable(
    count("Held when nothing more was granted, by the coordinator's NVML (bytes); null if it does not say"),
  ),
  code: v.optional(text('Code of the refusal')),
  reason: v.optional(text('What was observed, or why it was not tried')),
});

export type PathRow = v.InferOutput<typeof pathRow>;

export interface FilledPath {
  row: PathRow;
  fill: MemoryFill | null;
  /** Problems other than the limit; null if there were none. */
  noMemory: string | null;
  notReturned: string | null;
  notAgain: string | null;
  /** How its process ended; null if it did not. */
  died: string | null;
  /** How a first process ended, if the second did not. */
  diedOnce: string | null;
}

const empty = (path: string, limitBytes: number): PathRow => ({
  path,
  outcome: 'unsupported',
  grantedBytes: null,
  limitBytes,
  usedBytes: null,
  beforeBytes: null,
  truthBytes: null,
});

/** A path that could not be tried. */
export const untried = (path: string, limitBytes: number, reason: string): PathRow => ({
  ...empty(path, limitBytes),
  reason,
});

/** Wraps a row without further data. */
export const filledRow = (row: PathRow): FilledPath => ({
  row,
  fill: null,
  noMemory: null,
  notReturned: null,
  notAgain: null,
  died: null,
  diedOnce: null,
});

/** If a path crashes its process, or its context, the row records it. */
export async function orLost(path: string, limitBytes: number, fill: Promise<FilledPath>): Promise<FilledPath> {
  try {
    return await fill;
  } catch (error) {
    const message = lossOf(error);
    const died = error instanceof WorkerEnded ? message : null;
    return { ...filledRow(untried(path, limitBytes, message)), notReturned: `${path}: ${message}`, died };
  }
}

/** The same in a process of its own, and in another one if that died: a path that ends its process does so again. */
export async function orLostTwice(
  path: string,
  limitBytes: number,
  fill: () => Promise<FilledPath>,
): Promise<FilledPath> {
  const first = await orLost(path, limitBytes, fill());
  if (first.died === null) return first;
  const again = await orLost(path, limitBytes, fill());
  return { ...again, diedOnce: again.died === null ? `${path}: ${first.died}` : null };
}

/** Fills on one path, compares with NVML, and frees everything. Rejects if the process or its context is lost. */
export async function fillPath(tenant: MemoryTenant, path: MemoryPath): Promise<FilledPath> {
  const { limitBytes } = tenant;
  const before = await tenant.held();
  try {
    const fill = await fillBy(tenant, path);
    const truthBytes = await tenant.held();
    const { again, failures } = await tenant.release();
    const after = await tenant.held();
    const notReturned = returned(path, failures, before, after, limitBytes);
    const row = judged(path, { fill, before, truthBytes, limitBytes });
    const reason = [row.reason, notReturned?.slice(path.length + 2)].filter((text) => text != null).join('; ');
    return {
      ...filledRow({ ...row, ...(reason !== '' && { reason }) }),
      fill,
      noMemory: fill.noMemory && `${path}: ${fill.noMemory}`,
      notReturned,
      notAgain: again === null || again === 0 ? null : `${path}: code ${again} after the last block was freed`,
    };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    const reason = 'unsupported' in state ? state.unsupported : state.failed;
    return filledRow(untried(path, limitBytes, reason));
  }
}

/** Small blocks are used only near the limit, because filling with them takes long. */
async function fillBy(tenant: MemoryTenant, path: MemoryPath): Promise<MemoryFill> {
  const { limitBytes } = tenant;
  if (path === 'pinned host memory')
    return tenant.fill(path, { mostBytes: Math.min(256 * MIB, Math.floor(limitBytes / 4)) });
  if (path !== 'many small blocks') return tenant.fill(path);
  const near = Math.min(GIB, Math.floor(limitBytes / 2));
  const base = await tenant.fill('cuMemAlloc_v2', { mostBytes: limitBytes - near, smallestBytes: 2 * MIB });
  const small = await tenant.fill(path, { mostBytes: near + Math.ceil(limitBytes / 10), mostBlocks: 640 });
  return {
    ...small,
    grantedBytes: base.grantedBytes + small.grantedBytes,
    blocks: base.blocks + small.blocks,
    noMemory: base.noMemory ?? small.noMemory,
  };
}

interface Seen {
  fill: MemoryFill;
  before: number | null;
  truthBytes: number | null;
  limitBytes: number;
}

export function judged(path: string, { fill, before, truthBytes, limitBytes }: Seen): PathRow {
  const { grantedBytes, refusals } = fill;
  const host = path === 'pinned host memory';
  const usedBytes = truthBytes ?? (host ? null : grantedBytes + (before ?? 0));
  const row = { ...empty(path, limitBytes), grantedBytes, usedBytes, beforeBytes: before, truthBytes };
  const [wrong] = refusals.filter(({ code }) => code !== OUT_OF_MEMORY);
  const code = wrong ?? refusals[0];
  const refused = { ...row, ...(code && { code: code.name }) };
  if (host) return judgedHost(refused, wrong?.name);
  if (grantedBytes === 0 && wrong?.code === NOT_SUPPORTED)
    return { ...refused, reason: `${wrong.call} answered ${wrong.name}` };
  if (usedBytes !== null && usedBytes > limitBytes * SLACK)
    return { ...refused, outcome: 'leaks', ...disagreement(row) };
  if (wrong)
    return { ...refused, outcome: 'wrong error', reason: `${wrong.call} answered ${wrong.name} (${wrong.code})` };
  if (fill.end === 'spare') return { ...row, reason: 'the card has too little free memory to reach the limit' };
  if (fill.end === 'blocks') return { ...row, reason: `${fill.blocks} blocks did not reach the limit` };
  // Granted beyond the limit, although by NVML the card does not hold it.
  if (fill.end === 'enough') return { ...row, outcome: 'leaks', ...disagreement(row) };
  return { ...refused, outcome: 'enforced', ...disagreement(row) };
}

/** A limit on the card's memory does not apply to it: it only must not use any of that memory. */
function judgedHost(row: PathRow, wrong: string | undefined): PathRow {
  const { beforeBytes, truthBytes, grantedBytes, limitBytes } = row;
  if (beforeBytes === null || truthBytes === null)
    return { ...row, reason: 'NVML does not report how much of the card it uses' };
  const grown = truthBytes - beforeBytes;
  const reason = `${formatBytes(grantedBytes ?? 0)} of the host, ${formatBytes(Math.max(0, grown))} of the card`;
  if (truthBytes > limitBytes * SLACK) return { ...row, outcome: 'leaks', reason };
  return { ...row, outcome: wrong === undefined ? 'enforced' : 'wrong error', reason };
}

/** If the card holds another amount than was granted. */
function disagreement({ grantedBytes, beforeBytes, truthBytes, limitBytes }: PathRow): { reason?: string } {
  if (beforeBytes === null || truthBytes === null) return { reason: 'not checked from outside' };
  const grown = truthBytes - beforeBytes;
  const difference = grown - (grantedBytes ?? 0);
  if (Math.abs(difference) <= AGREEMENT * limitBytes + KEPT_BYTES) return {};
  return { reason: `${formatBytes(grantedBytes ?? 0)} granted, by NVML the process holds ${formatBytes(grown)} more` };
}

function returned(
  path: string,
  failures: readonly { call: string; name: string }[],
  before: number | null,
  after: number | null,
  limitBytes: number,
): string | null {
  const [failure] = failures;
  if (failure) return `${path}: ${failure.call} answered ${failure.name} to a free`;
  if (before === null || after === null) return null;
  const kept = after - before;
  return kept > Math.max(KEPT_BYTES, 0.01 * limitBytes)
    ? `${path}: ${formatBytes(kept)} are still held after the frees`
    : null;
}

/** The row's entry in `violations`; null if it shows none. */
export function violationOf({
  path,
  outcome,
  grantedBytes,
  usedBytes,
  limitBytes,
  truthBytes,
}: PathRow): string | null {
  if (outcome !== 'leaks') return null;
  const seen = truthBytes === null ? 'with its context that is' : 'NVML shows';
  return `${path}: ${formatBytes(grantedBytes ?? 0)} granted under a limit of ${formatBytes(limitBytes)}; ${seen} ${formatBytes(usedBytes ?? 0)}`;
}
