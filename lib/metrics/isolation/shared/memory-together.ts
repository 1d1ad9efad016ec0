/** Whether the memory limit applies to two processes of one tenant together. */
import type { MemoryFill } from '../../../native/addon-types.js';
import type { MeasureContext } from '../../core/metric.js';
import { isOutOfMemory } from '../../core/row-state.js';
import { judged, type PathRow, SLACK, untried } from './memory-paths.js';
import type { MemoryTenant } from './memory-tenant.js';

export const TWO_PROCESSES = 'cuMemAlloc_v2, two processes';
export const IPC_IMPORT = 'IPC import';

type EnterSecond = () => Promise<MemoryTenant>;

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

/** Null: there was no room for another process, which also enforces a limit. */
async function second(enter: EnterSecond): Promise<MemoryTenant | null> {
  try {
    return await enter();
  } catch (error) {
    if (isOutOfMemory(error)) return null;
    throw error;
  }
}

const sum = (fills: readonly MemoryFill[]): MemoryFill => ({
  ...(fills.at(-1) as MemoryFill),
  grantedBytes: fills.reduce((total, { grantedBytes }) => total + grantedBytes, 0),
  blocks: fills.reduce((total, { blocks }) => total + blocks, 0),
  refusals: fills.flatMap(({ refusals }) => refusals),
  noMemory: fills.find(({ noMemory }) => noMemory !== null)?.noMemory ?? null,
});

/** Both fill by cuMemAlloc, one after the other, and hold the memory. */
export async function fillTogether(
  context: Pick<MeasureContext, 'system'>,
  first: MemoryTenant,
  enter: EnterSecond,
): Promise<PathRow> {
  const { limitBytes } = first;
  const other = await second(enter);
  const before = other ? plus(await first.held(), await other.held()) : await first.held();
  const fills = [await first.fill('cuMemAlloc_v2')];
  if (other) fills.push(await other.fill('cuMemAlloc_v2'));
  const truthBytes = other ? plus(await first.held(), await other.held()) : await first.held();
  await first.release();
  await other?.release();
  const row = judged(TWO_PROCESSES, { fill: sum(fills), before, truthBytes, limitBytes });
  return byProcess(context, row, fills.length);
}

/** If the layer's limit is one of each process, several processes together may hold as many limits, and no more. */
export function byProcess({ system }: Pick<MeasureContext, 'system'>, row: PathRow, processes: number): PathRow {
  if (row.outcome !== 'leaks' || system.capabilities.memLimit !== 'perProcess') return row;
  const { grantedBytes, usedBytes, limitBytes } = row;
  if (Math.max(grantedBytes ?? 0, usedBytes ?? 0) > processes * limitBytes * SLACK) return row;
  return { ...row, outcome: 'limited per process', reason: `each of ${processes} processes has a limit of its own` };
}

/**
 * One process fills memory by cuMemAlloc and exports all of it; the other opens it and fills whatever else it is
 * granted. The result is the memory that the second process can reach, because NVML may count shared memory for both.
 */
export async function fillByImport(
  context: Pick<MeasureContext, 'system'>,
  first: MemoryTenant,
  enter: EnterSecond,
): Promise<{ row: PathRow; noMemory: string | null }> {
  const { limitBytes } = first;
  const other = await second(enter);
  if (!other)
    return {
      row: untried(IPC_IMPORT, limitBytes, 'there was no room for a second process'),
      noMemory: null,
    };
  const before = await other.held();
  await first.fill('cuMemAlloc_v2', { smallestBytes: 2 ** 21 });
  const { handles } = await first.exported();
  const opened = await other.open(handles);
  const own = await other.fill('cuMemAlloc_v2', { smallestBytes: 2 ** 21 });
  const fill = { ...own, grantedBytes: own.grantedBytes + opened.grantedBytes };
  await other.release();
  await first.release();
  const row = judged(IPC_IMPORT, { fill, before, truthBytes: null, limitBytes });
  const noMemory = opened.noMemory ?? own.noMemory;
  const [refused] = opened.refusals;
  if (opened.grantedBytes === 0 && refused)
    return { row: { ...row, outcome: 'unsupported', reason: `${refused.call} answered ${refused.name}` }, noMemory };
  return { row: byProcess(context, row, 2), noMemory };
}
