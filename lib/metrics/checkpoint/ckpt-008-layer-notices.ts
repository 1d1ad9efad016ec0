/** CKPT-008: whether a layer notices that a process was checkpointed, and that it was restored. */
import * as v from 'valibot';
import { BenchError } from '../../errors/bench-error.js';
import type { MemoryFill, MemoryFillRequest, TenantMemory } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import type { Worker } from '../../workers/worker.js';
import { choice, count, flag, rows, text } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { MIB } from '../core/units.js';
import { separable } from '../tenants/tenants.js';
import { FIRST_ID } from '../tenants/scene.js';
import { noHostRoom } from './held-targets.js';
import { allHold, deadlineFor, inStudy, type TargetStudy } from './target-study.js';

/** What the target holds, and what another process asks for, of what both may take: together more than that. */
const HELD_PART = 0.6;
/** A request counts as granted from this part of it on: contexts count too. */
const GRANTED_PART = 0.8;
const GRANULE = 8 * MIB;

const QUESTIONS = ['others see the memory', 'the tenant is not charged', 'the limit holds after the restore'] as const;

const details = v.strictObject({
  limitBytes: count("The tenant's memory limit (bytes)"),
  heldBytes: count('Held by the process that was checkpointed (bytes)'),
  rows: rows(
    v.strictObject({
      question: choice(QUESTIONS, 'What a layer that notices does'),
      holds: flag('Whether it did'),
      seen: text('What was seen'),
    }),
    'A row per question',
  ),
});

export type LayerNoticesDetails = v.InferOutput<typeof details>;
type Row = LayerNoticesDetails['rows'][number];

interface Seen {
  /** What the target held. */
  bytes: number;
  /** What a process of another tenant was told is free; null: tenants cannot be told apart. */
  freeOfOther: { before: number; held: number; checkpointed: number } | null;
  /** Granted to another process of the tenant, of `heldBytes`. */
  besideRunning: number;
  besideCheckpointed: number;
  /** Granted to the restored process, of `heldBytes`. */
  restored: number;
  intact: boolean;
}

const limits = (bytes: number) => ({ deadlineMs: deadlineFor(bytes) });

/** Takes so many bytes, as far as they are granted, and gives them back. */
async function granted(worker: Worker, bytes: number): Promise<number> {
  const request: MemoryFillRequest = {
    path: 'cuMemAlloc_v2',
    mostBytes: bytes,
    firstBytes: GRANULE,
    smallestBytes: GRANULE / 4,
    mostBlocks: 65_536,
    spareBytes: 0,
  };
  const { grantedBytes } = (await worker.request('fillMemory', request, limits(bytes))) as MemoryFill;
  await worker.request('releaseMemory', {}, limits(bytes));
  return grantedBytes;
}

async function freeOf(worker: Worker | null): Promise<number> {
  if (worker === null) return NaN;
  return ((await worker.request('tenantMemory', {}, limits(0))) as TenantMemory).freeBytes;
}

/** Rejects if the limit, or the host, has too little room. `room`: what a process may take beside the contexts of all. */
function heldBytes(context: MeasureContext, limitBytes: number, room: number): number {
  const bytes = Math.floor((HELD_PART * room) / GRANULE) * GRANULE;
  if (bytes < GRANULE)
    throw new BenchError('FUNCTION_MISSING', `a limit of ${formatBytes(limitBytes)} has no room beside its contexts`);
  const short = noHostRoom(context, bytes, 'the target');
  if (short !== null) throw new BenchError('FUNCTION_MISSING', short);
  return bytes;
}

const look = (context: MeasureContext, limitBytes: number): Promise<Seen> =>
  inStudy(context, async (study: TargetStudy, scene) => {
    const other = separable(context.system) ? (await scene.enter({ id: FIRST_ID + 1 })).worker : null;
    const beside = (await scene.enter({ id: FIRST_ID })).worker;
    const target = await study.hold(0);
    try {
      const bytes = heldBytes(context, limitBytes, await granted(beside, limitBytes));
      const before = await freeOf(other);
      await study.holdInstead(target, bytes);
      const held = await freeOf(other);
      const besideRunning = await granted(beside, bytes);
      await study.call('lock', target, bytes);
      await study.call('checkpoint', target, bytes);
      const checkpointed = await freeOf(other);
      // Freed before the restore, which must find room.
      const besideCheckpointed = await granted(beside, bytes);
      await study.call('restore', target, bytes);
      await study.call('unlock', target, bytes);
      const intact = allHold(await study.verify(target, bytes));
      const restored = await granted(target, bytes);
      const freeOfOther = other === null ? null : { before, held, checkpointed };
      return { bytes, freeOfOther, besideRunning, besideCheckpointed, restored, intact };
    } finally {
      await target.kill();
    }
  });

function othersRow({ freeOfOther, bytes }: Seen): Row {
  const question = QUESTIONS[0];
  if (freeOfOther === null)
    return { question, holds: false, seen: "tenants of the caller's environment share a state" };
  const { before, held, checkpointed } = freeOfOther;
  const said = `another tenant was told ${[before, held, checkpointed].map(formatBytes).join(', ')} free`;
  const isCounted = before - held > bytes / 2;
  return {
    question,
    holds: !isCounted || checkpointed - held > bytes / 2,
    seen: `${said}: before the target, beside it, and while it was checkpointed`,
  };
}

function rowsOf(seen: Seen): Row[] {
  const { bytes } = seen;
  const of = (part: number) => `${formatBytes(part)} of ${formatBytes(bytes)} granted`;
  const { besideRunning, besideCheckpointed, restored } = seen;
  return [
    othersRow(seen),
    {
      question: QUESTIONS[1],
      holds: besideCheckpointed >= GRANTED_PART * bytes,
      seen: `to another process of the tenant ${of(besideRunning)} beside the target, ${formatBytes(besideCheckpointed)} while it was checkpointed`,
    },
    {
      question: QUESTIONS[2],
      holds: restored < GRANTED_PART * bytes,
      seen: `to the restored process, which held as much, ${of(restored)}`,
    },
  ];
}

/** A limit that nobody holds would make the tenant look as if it was not charged. */
function heldCheck({ besideRunning, bytes }: Seen): Check {
  return {
    name: 'the limit holds before the checkpoint',
    passed: besideRunning < GRANTED_PART * bytes,
    detail: `${formatBytes(besideRunning)} of ${formatBytes(bytes)} granted beside as much`,
  };
}

function intactCheck({ intact }: Seen): Check {
  return {
    name: 'contents, addresses, graph, stream and event are as before',
    passed: intact,
    detail: intact ? 'after the restore' : 'not after the restore',
  };
}

export const layerNotices: MetricDefinition<LayerNoticesDetails> = {
  id: 'CKPT-008',
  name: 'Layer Notices Checkpoints',
  category: 'checkpoint',
  unit: 'rows',
  direction: 'higher',
  question: 'Does a memory limit follow a process that is checkpointed and restored?',
  estimator: 'rows that hold, of 3: others see the memory, the tenant is not charged, the limit holds afterwards',
  delta: { absolute: 0.5 },
  needs: ['checkpoints (driver 570)', 'a memory limit', 'fresh processes', 'host memory for what is moved'],
  functionName: 'measureLayerNotices',
  where: 'fresh-processes',
  details,
  seconds: { quick: 30, standard: 30, thorough: 30 },
  deadlineSeconds: 3_600,
  async measure(context) {
    const limitBytes = context.system.limits().memoryBytes;
    if (limitBytes === null) return unsupported('no memory limit is configured');
    const seen = await look(context, limitBytes);
    const answers = rowsOf(seen);
    const checks = [heldCheck(seen), intactCheck(seen)];
    return {
      ...invalidBy(checks),
      value: answers.filter(({ holds }) => holds).length,
      ci95: null,
      noInterval: 'a count of rows',
      processes: 1,
      headline: null,
      details: { limitBytes, heldBytes: seen.bytes, rows: answers },
      checks,
    };
  },
};

/**
 * CKPT-008, rows of 3: whether other tenants see the memory of a checkpointed process, its tenant is no longer charged,
 * and its limit holds after the restore. It needs a system that sets a memory limit; use `compareSystems`.
 */
export const measureLayerNotices = measureFunction(layerNotices);
