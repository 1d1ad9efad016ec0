/** The pairs of OH-002, OH-003 and OH-007, from the record of a process that measured them last. */
import { median } from '../../lib/stats/median.js';
import { durationOf, interruptedNs, LOOP_READINGS, type Recorded, type RecordedCall } from './record.js';
import type { Truth } from './recovered.js';

/** A row of `details.pairs`. */
export interface PairRow {
  name: 'cuMemAlloc_v2' | 'cuMemFree_v2';
  call: string;
  bytes: number;
  live: number;
  owner: string;
  intercepted: boolean;
  overheadNs: number;
  ci95: [number, number];
  hookedNs: number;
  bareNs: number;
  pairs: number;
}

/** An allocation and the free that follows; each hook is joined with the driver's call that follows. */
interface Turn {
  cuMemAlloc_v2: RecordedCall;
  cuMemFree_v2: RecordedCall;
  /** Whether either of the two went through the interposer. */
  hooked: boolean;
}

const VISITS = 10;
const WARMUP = 2;
const samplesOf = ({ pairs }: PairRow): number => pairs + VISITS * WARMUP;

/** The last allocations of that size in the process: those that stay live, and those of the turns. */
export const allocationsInPairs = (row: PairRow): number => 2 * row.live + 4 * samplesOf(row);

/** The counted samples, of four turns each. */
export function recordedSamples(recorded: Recorded, row: PairRow): Turn[][] {
  const direct = new Set(recorded.calls.filter(({ hook }) => !hook).map(({ entered }) => entered));
  const isDirect = ({ entered }: RecordedCall) => direct.has(entered);
  const calls = recorded
    .joined()
    .calls.filter(({ name, bytes }) => /^cuMem(Alloc|Free)_v2$/.test(name) && bytes === row.bytes);
  // Live blocks are freed at the end.
  const [count, cleanUp] = [samplesOf(row), 2 * row.live];
  const inTurns = calls.slice(calls.length - cleanUp - 8 * count, calls.length - cleanUp);
  const turns = Array.from({ length: 4 * count }, (_, i): Turn => {
    const [allocation, free] = inTurns.slice(2 * i, 2 * i + 2) as [RecordedCall, RecordedCall];
    if (allocation.name !== 'cuMemAlloc_v2' || free.name !== 'cuMemFree_v2') throw new Error(`Turn ${i} is none.`);
    return { cuMemAlloc_v2: allocation, cuMemFree_v2: free, hooked: !isDirect(allocation) || !isDirect(free) };
  });
  const samples = Array.from({ length: count }, (_, i) => turns.slice(4 * i, 4 * i + 4));
  return samples.filter((_, i) => i % (count / VISITS) >= WARMUP);
}

type Took = (turn: Turn) => number;
export const tookOf =
  (name: PairRow['name']): Took =>
  (turn) =>
    durationOf(turn[name]);

/** Hooked minus bare, one per sample. */
export function recordedDifferences(samples: readonly Turn[][], took: Took): number[] {
  const mean = (turns: readonly Turn[]) => turns.reduce((sum, turn) => sum + took(turn), 0) / turns.length;
  return samples.map(
    (turns) => mean(turns.filter(({ hooked }) => hooked)) - mean(turns.filter(({ hooked }) => !hooked)),
  );
}

/** The expected median of the pairs: that of the very same calls. */
export function truthOfPairs(differences: readonly number[], readingNs: number): Truth {
  const { value, ci95 } = median(differences);
  if (!ci95) throw new Error(`${differences.length} samples have no interval.`);
  const tolerance = LOOP_READINGS * readingNs + interruptedNs(differences);
  return { truth: value, tolerance, resolution: tolerance + (ci95[1] - ci95[0]) / 2, sameCalls: true };
}
