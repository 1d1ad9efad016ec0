/**
 * Whether a median hides work that a layer does for many calls at once: most calls are then answered without the driver, and a
 * few pay for all. A driver alone has slow calls too, so its own time in the same process is the measure, not the spread.
 */
import { mean } from 'simple-statistics';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { rowState } from '../core/row-state.js';

const SERVED = 'every call is served by the driver';
const GROWN = 'allocations take memory of the GPU';

/** A layer adds to a call. It cannot hand the call to the driver and need less than a third of the driver's own time. */
const UNSERVED = 1 / 3;
/** Calls beyond this many medians, and half of the driver's own time, are those that pay. */
const PAYING = 10;
const FEWEST_PAYING = 3;

/** Samples of one call with the same arguments. */
export interface Samples {
  call: string;
  samplesNs: Float64Array;
  /** What the driver alone takes for it; null if that was not measured. */
  bareNs: number | null;
  /** The sums with the other calls timed in the same loop, which may pay for this one. */
  loopNs?: Float64Array;
}

/** Blocks of samples through the layer and past it, null where the driver's own functions cannot be called. */
export interface Measured<Block> {
  call: string;
  blocks: readonly Block[];
  bare: readonly (Block | null)[];
}

type SamplesOf<Block> = (block: Block) => ArrayLike<number>;

/** The samples of a call, or of another one timed with it (`part`). `loop`: the sums that these are parts of. */
export function servedBy<Block>(
  { call, blocks, bare }: Measured<Block>,
  of: SamplesOf<Block>,
  { part, loop = of }: { part?: string; loop?: SamplesOf<Block> } = {},
): Samples {
  const all = (from: readonly (Block | null)[], which: SamplesOf<Block>) =>
    Float64Array.from(from.flatMap((block) => (block === null ? [] : Array.from(which(block)))));
  // Memory that the driver freed and keeps is served faster than new memory: the fastest block is the measure.
  const bareMedians = bare
    .map((block) => all([block], of))
    .filter(({ length }) => length > 0)
    .map((own) => median(own).value);
  return {
    call: part === undefined ? call : `${call}, ${part}`,
    samplesNs: all(blocks, of),
    bareNs: bareMedians.length === 0 ? null : Math.min(...bareMedians),
    loopNs: all(blocks, loop),
  };
}

/** None of the calls may be answered without the driver while a few pay for all. */
export function bulkCheck(rows: readonly Samples[]): Check {
  const name = SERVED;
  const known = rows.flatMap(({ bareNs, ...row }) =>
    bareNs === null || row.samplesNs.length === 0 ? [] : [judged({ ...row, bareNs })],
  );
  const [first] = known;
  if (!first) return { name, passed: 'not checked', detail: 'the calls were not measured past the layer' };
  const hiding = known.filter((row) => row.hidden);
  const { call, middle, average, bareNs, hidden } = (hiding.length > 0 ? hiding : known).reduce(
    (least, each) => (each.share < least.share ? each : least),
    hiding[0] ?? first,
  );
  const detail = `${call}: median ${inUs(middle)}, mean ${inUs(average)}, the driver alone ${inUs(bareNs)}`;
  return { name, passed: !hidden, detail };
}

function judged({ call, samplesNs, bareNs, loopNs = samplesNs }: Samples & { bareNs: number }) {
  const middle = median(samplesNs).value;
  const average = mean([...samplesNs]);
  const paying = samplesNs.filter((ns) => ns > Math.max(PAYING * middle, bareNs / 2));
  const paid = paying.reduce((sum, ns) => sum + ns, 0) / samplesNs.length;
  const paidInLoop = mean([...loopNs]) - median(loopNs).value;
  const pays =
    average > bareNs / 2 ||
    (paying.length >= FEWEST_PAYING && paid > average / 2) ||
    paidInLoop > (bareNs - middle) / 2;
  return { call, middle, average, bareNs, share: middle / bareNs, hidden: middle < UNSERVED * bareNs && pays };
}

const inUs = (ns: number): string => `${(ns / 1_000).toPrecision(3)} us`;

/** Measures calls past the layer; null where the driver's own functions cannot be called. */
export async function pastLayer<T>(measure: () => Promise<T>): Promise<T | null> {
  try {
    return await measure();
  } catch (error) {
    if (!rowState(error)) throw error;
    return null;
  }
}

/** The driver's own time in the pairs of a function; null where they have none. */
export const bareOf = (pairs: unknown, called: string): number | null => {
  const rows = Array.isArray(pairs) ? (pairs as { name?: unknown; bareNs?: unknown }[]) : [];
  const row = rows.find(({ name }) => name === called);
  return typeof row?.bareNs === 'number' ? row.bareNs : null;
};

/** Device memory of a process before its live blocks and with them, by NVML. */
interface Seen {
  usedBefore: number | null;
  usedLive: number | null;
}

interface LiveMemory extends Seen {
  call: string;
  /** The size of all live blocks together. */
  bytes: number;
  /**
   * The same blocks past the layer, null if there were none. Where given, no more need be seen than the driver took for
   * those: its own pools keep memory.
   */
  alone?: Seen | null;
}

/** What NVML may count otherwise, by the page or the driver's own reserve. */
const LEAST_SEEN = 16 * 1024 ** 2;

const growthOf = ({ usedBefore, usedLive }: Seen): number | null =>
  usedBefore === null || usedLive === null ? null : usedLive - usedBefore;

const wantedOf = ({ bytes, alone }: LiveMemory): number =>
  alone === undefined ? bytes : Math.min(bytes, (alone && growthOf(alone)) ?? 0);

/** Blocks that were just allocated must show in NVML, at least by half: the rest may come from memory that was left over. */
export function grownCheck(blocks: readonly LiveMemory[]): Check {
  const name = GROWN;
  const seen = blocks.flatMap((each) => {
    const [asked, grown] = [wantedOf(each), growthOf(each)];
    return grown === null || asked < LEAST_SEEN ? [] : [{ call: each.call, asked, grown }];
  });
  const [first] = seen;
  if (!first)
    return { name, passed: 'not checked', detail: 'NVML does not list this process, or the blocks are too few to see' };
  const { call, asked, grown } = seen.reduce(
    (least, each) => (each.grown / each.asked < least.grown / least.asked ? each : least),
    first,
  );
  const amount = `${grown < 0 ? '-' : ''}${formatBytes(Math.abs(grown))}`;
  return {
    name,
    passed: grown >= asked / 2,
    detail: `${call}: the memory of this process grew by ${amount} for ${formatBytes(asked)}`,
  };
}

/** The fields of a result without a number if one of the checks failed. */
export function invalidIfHidden(checks: readonly Check[]): { status: 'invalid'; reason: string } | undefined {
  const reasons = checks.flatMap(({ name, passed, detail }) =>
    passed === false ? [`${REASONS[name] ?? name}: ${detail}`] : [],
  );
  return reasons.length === 0 ? undefined : { status: 'invalid', reason: reasons.join('; ') };
}

const REASONS: Readonly<Record<string, string>> = {
  [SERVED]: 'most calls are answered without the driver, and a few pay for all',
  [GROWN]: 'allocations are answered from memory that was taken before',
};
