/** OH-005's headline: what interception adds to a call, averaged over a program's calls by its call profile. */
import { type CallProfile, callsOf, type Phase } from '../../results/call-profile.js';
import { weightedSum } from './weighted-sum.js';

/** A measured function; `differences` are hooked − bare in ns, one per sample. */
interface MeasuredFunction {
  name: string;
  overheadNs: number;
  ci95: [number, number] | null;
  differences: Float64Array;
}

export interface ProfileMean {
  /** ns per call. */
  value: number;
  ci95: [number, number] | null;
  /** The weighted average for each sample number. */
  samples: Float64Array;
  /** Share of the profile's calls. */
  measuredShare: number;
  /** Calls of the profile without a measurement, most frequent first. */
  unmeasured: string[];
}

/** Null if none of its calls was measured. */
export function profileMean(functions: readonly MeasuredFunction[], { phases }: CallProfile): ProfileMean | null {
  const [phase] = phases as [Phase, ...Phase[]];
  const byName = new Map(functions.map((row) => [row.name, row]));
  // A driver older than a variant of a function gives the program the previous variant.
  const rowOf = (call: string) => byName.get(call) ?? byName.get(call.replace(/_v\d+$/, ''));
  const calls = Object.entries(phase.calls).sort(([, a], [, b]) => b - a);
  const weighed = calls.flatMap(([call, count]) => {
    const row = rowOf(call);
    return row ? [{ row, count }] : [];
  });
  const measured = weighed.reduce((sum, { count }) => sum + count, 0);
  if (measured === 0) return null;
  const parts = weighed.map(({ row, count }) => ({ row, weight: count / measured }));
  const length = Math.min(...parts.map(({ row }) => row.differences.length));
  return {
    ...weightedSum(parts.map(({ row, weight }) => ({ ...row, weight }))),
    samples: Float64Array.from({ length }, (_, i) =>
      parts.reduce((sum, { row, weight }) => sum + weight * (row.differences[i] as number), 0),
    ),
    measuredShare: measured / callsOf(phase),
    unmeasured: calls.flatMap(([call]) => (rowOf(call) ? [] : [call])),
  };
}
