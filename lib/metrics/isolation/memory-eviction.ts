/**
 * Soft memory limits on a full card: two tenants, of which one asks for memory that the other holds. Within its soft
 * limit a tenant has its memory whatever others do; above it, it may lose it.
 */
import * as v from 'valibot';
import { choice, count, flag, quantity, text } from '../core/details.js';
import type { MemoryFill, MemoryPath } from '../../native/addon-types.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { WorkerEnded } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { GIB, MIB } from '../core/units.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { enterMemoryTenant, firstBlock, GRANULARITY, lossOf, type MemoryTenant } from './shared/memory-tenant.js';

const PATH: MemoryPath = 'cuMemAlloc_v2';
/** How much of a limit is left unused, because a driver may count more than was asked for. */
const MARGIN = 64 * MIB;
/** Assumed of a context where NVML does not say what it holds. */
const CONTEXT = GIB;

const SITUATIONS = ['more than its soft limit', 'less than its soft limit'] as const;
type Situation = (typeof SITUATIONS)[number];

const ends = choice(
  ['kept', 'evicted', 'killed', 'content lost'],
  'What happened to the first tenant and its memory; evicted: its calls fail; content lost: they do not',
);

const common = {
  firstHolds: choice(
    [...SITUATIONS],
    'What one tenant holds when a second one asks: for all of its own soft limit, else for all of memory',
  ),
  softBytes: count('The soft limit of each (bytes)'),
};

const row = v.strictObject({
  ...common,
  firstBytes: count('Held by the first tenant (bytes)'),
  freeBytes: v.nullable(count("Free on the card before, by the coordinator's NVML (bytes); null if it does not say")),
  askedBytes: count('What the second tenant asked for (bytes)'),
  grantedBytes: count('What it was granted (bytes)'),
  refusal: v.optional(text('What it was told where that was less')),
  tookMs: quantity('ms', 'Time until it had that memory, or knew that there was no more'),
  outcome: ends,
  told: v.nullable(text('What the first tenant was told of its loss; null if nothing')),
  passed: flag('Whether both soft limits held, and a loss was told'),
});

/** Schema of a row; without numbers where there was no pressure. */
export const evictionRow = v.union([row, v.strictObject({ ...common, notMeasured: text('Why there are no numbers') })]);

type Row = v.InferOutput<typeof row>;
export type EvictionRow = v.InferOutput<typeof evictionRow>;

async function endOf(first: MemoryTenant): Promise<Pick<Row, 'outcome' | 'told'>> {
  try {
    const { noMemory } = await first.fill(PATH, { mostBytes: 0 });
    if (noMemory === null) return { outcome: 'kept', told: null };
    const [failure] = (await first.release()).failures;
    return failure ? { outcome: 'evicted', told: failure.name } : { outcome: 'content lost', told: null };
  } catch (error) {
    return { told: lossOf(error), outcome: error instanceof WorkerEnded ? 'killed' : 'evicted' };
  }
}

/** What a tenant may still take within a limit. */
async function leftOf(tenant: MemoryTenant, limitBytes: number): Promise<number> {
  const left = limitBytes - ((await tenant.held()) ?? CONTEXT) - MARGIN;
  return Math.max(0, Math.floor(left / GRANULARITY) * GRANULARITY);
}

/** Until the driver refuses: there is pressure only on a full card. */
const ask = (tenant: MemoryTenant, mostBytes: number, firstBytes: number): Promise<MemoryFill> =>
  tenant.fill(PATH, { mostBytes, firstBytes, smallestBytes: GRANULARITY, spareBytes: 0 });

type Answer = Pick<MemoryFill, 'grantedBytes' | 'tookNs' | 'noMemory'> & { refusal: string | undefined };

/** An end of the tenant is its answer too. */
async function askUnderPressure(...args: Parameters<typeof ask>): Promise<Answer> {
  try {
    const { refusals, ...fill } = await ask(...args);
    return { ...fill, refusal: refusals[0]?.name };
  } catch (error) {
    return { grantedBytes: 0, tookNs: 0, noMemory: null, refusal: lossOf(error) };
  }
}

async function play(
  context: MeasureContext,
  firstHolds: Situation,
  { softBytes, limitBytes }: SoftLimits,
): Promise<EvictionRow> {
  const isAbove = firstHolds === 'more than its soft limit';
  const about = { firstHolds, softBytes };
  const played = inScene(context, async (scene) => {
    const enter = (id: number) => enterMemoryTenant(scene, context, limitBytes, { id });
    const [first, second] = [await enter(FIRST_ID), await enter(FIRST_ID + 1)];
    // One of them may not live until the end.
    await scene.proveOthers();
    const mine = await leftOf(first, isAbove ? limitBytes : softBytes);
    const { grantedBytes: held } = await ask(first, mine, firstBlock(limitBytes));
    const askedBytes = await leftOf(second, isAbove ? softBytes : limitBytes);
    const freeBytes = (await context.truth?.cardMemory())?.freeBytes ?? null;
    const reason = noPressure({ isAbove, held, softBytes, freeBytes, askedBytes });
    if (reason !== null) return { ...about, notMeasured: reason };
    const { grantedBytes, tookNs, refusal, noMemory } = await askUnderPressure(
      second,
      askedBytes,
      isAbove ? askedBytes : firstBlock(limitBytes),
    );
    const end = await endOf(first);
    const isGranted = grantedBytes >= askedBytes && noMemory === null;
    const told = noMemory ?? refusal;
    return {
      ...about,
      firstBytes: held,
      freeBytes,
      askedBytes,
      grantedBytes,
      ...(!isGranted && told !== undefined && { refusal: told }),
      tookMs: tookNs / 1e6,
      ...end,
      passed: isAbove ? isGranted && end.outcome !== 'content lost' : end.outcome === 'kept',
    };
  });
  return played.catch((error: unknown) => ({ ...about, notMeasured: lossOf(error) }));
}

interface SoftLimits {
  softBytes: number;
  limitBytes: number;
}

interface Pressure {
  isAbove: boolean;
  held: number;
  softBytes: number;
  freeBytes: number | null;
  askedBytes: number;
}

function noPressure({ isAbove, held, softBytes, freeBytes, askedBytes }: Pressure): string | null {
  if (isAbove && held <= softBytes)
    return `the first tenant was granted ${formatBytes(held)}, not more than its soft limit`;
  if (freeBytes === null || freeBytes < askedBytes) return null;
  return `the card has room for both: ${formatBytes(freeBytes)} are free for ${formatBytes(askedBytes)}; memory and soft have to exceed the card together`;
}

/** Undefined where the system's tenants have no soft limit. Metrics of a round share the rows. */
export async function evictionRows(context: MeasureContext): Promise<EvictionRow[] | undefined> {
  const { memoryBytes: limitBytes, softMemoryBytes: softBytes } = context.system.limits();
  if (softBytes === undefined || limitBytes === null) return undefined;
  const limits = { softBytes, limitBytes };
  return context.once.get('memory evictions', async () => {
    const rows: EvictionRow[] = [];
    for (const situation of SITUATIONS) {
      context.progress(`a full card, one tenant with ${situation}`, rows.length / SITUATIONS.length);
      const row = await play(context, situation, limits);
      // Something else may have ended a tenant once.
      rows.push(brokenSoftLimits(row).length === 0 ? row : await play(context, situation, limits));
    }
    return rows;
  });
}

/** The entry in `violations`; empty if the row shows none. */
export function brokenSoftLimits(row: EvictionRow): string[] {
  if ('notMeasured' in row || row.passed) return [];
  const { firstHolds, softBytes, firstBytes, askedBytes, grantedBytes, refusal, outcome } = row;
  const [soft, held] = [formatBytes(softBytes), formatBytes(firstBytes)];
  if (firstHolds === 'less than its soft limit')
    return [`soft limit: a tenant that held ${held} within ${soft} lost them to one above its own (${outcome})`];
  if (outcome === 'content lost') return [`soft limit: a tenant that held ${held} lost them without an error`];
  const got = `${formatBytes(grantedBytes)} of ${formatBytes(askedBytes)} within ${soft}`;
  return [`soft limit: a tenant got ${got} beside one that held ${held}${refusal === undefined ? '' : `: ${refusal}`}`];
}
