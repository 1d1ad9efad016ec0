/** OH-007 recovers the cost of live blocks: none on the bare simulated GPU, the interposer's under it. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { at, type Cell, theilSen, theilSenCi95 } from '../../../lib/stats/theil-sen.js';
import { trimmed } from '../../../lib/stats/trimmed-mean.js';
import { measure, measureRecorded, type Settings } from '../../native/child.js';
import { durationOf, type Recorded, type RecordedCall } from '../../native/record.js';
import { type Estimate, expectRecovered, type Truth } from '../../native/recovered.js';
import { undisturbed } from '../../undisturbed.js';

const sim = { init_ms: 1, context_ms: 1, alloc_us: 5, free_us: 3 };
const BLOCK_BYTES = 64 * 1024;
const ON_LINE = [256, 1_024, 4_096];
const HEADLINE_LIVE = 1_024;
const QUERIES = 16;

interface Fit {
  call: string;
  valueNs: number;
  slopeNsPerBlock: number;
  slopeCi95: [number, number];
  residualCv: number;
}

interface Tracked {
  result: MetricResult;
  recorded: Recorded;
}

async function tracked(
  environment: NodeJS.ProcessEnv = {},
  options: object = {},
  unresolved: (tracked: Tracked) => { id: string; reason: string }[] = () => [],
): Promise<Tracked> {
  return undisturbed(
    async () => {
      const { results, recorded } = await measureRecorded([['measureMemoryTracking', options]], { sim, environment });
      return { result: results[0] as MetricResult, recorded: recorded.joined() };
    },
    ({ result }) => [result],
    unresolved,
  );
}

/**
 * Measures again while the result's own interval shows that visits differ by more than the calls: other programs slowed
 * the loop of a visit, which is not recorded. The deviation of the estimate has no influence.
 */
async function resolved(environment?: NodeJS.ProcessEnv, options?: object) {
  const lineOfPairs = ({ recorded }: Tracked) => recordedLine(recorded, 'pair', { ownCalls: 2 });
  const found = await tracked(environment, options, (one) => {
    const [low, high] = lineOf(one.result).ci95 as [number, number];
    if ((high - low) / 2 <= lineOfPairs(one).slope.resolution) return [];
    return [{ id: 'OH-007', reason: `visits differ: slope ${low} to ${high} ns a block` }];
  });
  return { ...found, line: lineOfPairs(found) };
}

const callsOf = ({ details }: MetricResult) => details.calls as Fit[];
const slopeOf = (fit: Pick<Fit, 'slopeNsPerBlock' | 'slopeCi95'>): Estimate => ({
  value: fit.slopeNsPerBlock,
  ci95: fit.slopeCi95,
});
const lineOf = ({ details }: MetricResult) => slopeOf(details as unknown as Fit);

interface RecordedPair {
  live: number;
  pair: number;
  cuMemAlloc: number;
  cuMemFree: number;
  cuPointerGetAttribute: number;
}

/**
 * Allocations followed by a free, with the queries between them, by number of live blocks before: one list per visit.
 */
function recordedVisits({ calls }: Recorded): RecordedPair[][] {
  const visits: RecordedPair[][] = [];
  let live = 0;
  let allocated: RecordedCall | null = null;
  let queries: RecordedCall[] = [];
  for (const call of calls) {
    const ofBlock = call.bytes === BLOCK_BYTES;
    if (call.name === 'cuPointerGetAttribute') queries.push(call);
    if (call.name === 'cuMemFree_v2' && ofBlock) {
      live--;
      if (allocated && queries.length === QUERIES) {
        const [cuMemAlloc, cuMemFree] = [durationOf(allocated), durationOf(call)];
        const looked = (queries.at(-1) as RecordedCall).left - (queries[0] as RecordedCall).entered;
        const cuPointerGetAttribute = looked / QUERIES;
        const pair = { live, pair: cuMemAlloc + cuMemFree, cuMemAlloc, cuMemFree, cuPointerGetAttribute };
        visits.at(-1)?.push(pair);
      }
      allocated = null;
    }
    if (call.name === 'cuMemAlloc_v2' && ofBlock) {
      // Every live set is rebuilt.
      if (live === 0) visits.push([]);
      live++;
      allocated = call;
      queries = [];
    }
  }
  return visits;
}

type Part = Exclude<keyof RecordedPair, 'live'>;

/** The line through the means of the visits' medians, fitted as OH-007 fits its own. */
function recordedLine(recorded: Recorded, part: Part, { ownCalls = 1 } = {}): { level: Truth; slope: Truth } {
  const visits = recordedVisits(recorded);
  const cells = ON_LINE.map((x): Cell => {
    const ofCell = visits.filter(([first]) => first?.live === x);
    return { x, values: ofCell.map((visit) => median(visit.map((pair) => pair[part])).value) };
  });
  const line = theilSen(cells.map(({ x, values }) => ({ x, y: trimmed(values) })));
  const intervals = theilSenCi95(cells, HEADLINE_LIVE, 1);
  if (!intervals) throw new Error('The record has no intervals.');
  const half = ([low, high]: readonly [number, number]) => (high - low) / 2;
  const ownNs = 2 * ownCalls * recorded.readingNs;
  const truth = (value: number, tolerance: number, halfWidth: number) => ({
    truth: value,
    tolerance,
    resolution: tolerance + 2 * halfWidth,
  });
  return {
    level: truth(at(line, HEADLINE_LIVE) + ownNs, 2 * ownNs, half(intervals.at)),
    // Between the first and the last cell the loop's own cost changes by less than itself.
    slope: truth(line.slope, ownNs / (4_096 - 256), half(intervals.slope)),
  };
}

describe('OH-007', () => {
  it('recovers the durations of pairs, and no slope, without a layer', async () => {
    const { result, line } = await resolved();
    expect(result.status).toBe('ok');
    expectRecovered([
      ['level', result, line.level],
      ['slope', lineOf(result), line.slope],
    ]);
    const cells = result.details.cells as { live: number; count: number }[];
    expect(cells.map(({ live, count }) => [live, count])).toEqual([0, 256, 1_024, 4_096].map((live) => [live, 200]));
  });

  it('recovers the cost per live block, in the calls that have it', async () => {
    const environment = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'perlive=5ns' };
    const { result, recorded, line } = await resolved(environment, { tier: 'standard' });
    const names = ['cuMemAlloc', 'cuMemFree', 'cuPointerGetAttribute'] as const;
    const lines = names.map((name) => recordedLine(recorded, name));
    expectRecovered([
      ['level', result, line.level],
      ['slope', lineOf(result), line.slope],
      ...callsOf(result).map((fit, i) => [fit.call, slopeOf(fit), lines[i]?.slope as Truth] as const),
    ]);
    expect(callsOf(result).map(({ call }) => call)).toEqual(names);
    // The record contains at least the configured delay.
    expect(lines.map(({ slope }) => slope.truth > 4.8)).toEqual([false, true, true]);
    expect((result.details.cells as unknown[]).length).toBe(5);
  });

  it('measures pairs if cuPointerGetAttribute fails, and reports it', async () => {
    const settings: Settings = { ...sim, fail: 'cuPointerGetAttribute:801@1' };
    const [result] = await undisturbed(
      () => measure([['measureMemoryTracking', { iterations: 20 }]], { sim: settings }),
      (results) => results,
    );
    expect(result?.status).toBe('ok');
    expect(callsOf(result as MetricResult)[2]).toEqual({
      call: 'cuPointerGetAttribute',
      failed: expect.stringMatching(/^cuPointerGetAttribute returned CUDA_ERROR_NOT_SUPPORTED/),
    });
  });
});
