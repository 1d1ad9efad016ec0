/** LLM-011 on the simulated card: the tokens of two tenants against the record, side by side and one after another. */
import { describe, expect, it } from 'vitest';
import { sharedTokenThroughputBy } from '../../../lib/metrics/llm/llm-011-shared-token-throughput.js';
import type { FrontierRow } from '../../../lib/metrics/llm/generation.js';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { System } from '../../../lib/systems/system.js';
import { metricNamed } from '../../metric-named.js';
import { environmentUnder } from '../../native/measured.js';
import { type Recorded, recordedByProcess } from '../../native/record.js';
import { undisturbed, undisturbedRecord } from '../../undisturbed.js';

const RECORDED = 'recorded=cuLaunchKernel+cuLaunchKernelEx+cuGraphLaunch';
const WORKLOAD = { batch: 2, prompt: 16, output: 12 };
const TIMES = { aloneMs: 300, togetherMs: 900 };

const throughput = (system: System) =>
  measureMetric(
    { ...metricNamed('LLM-011'), measure: sharedTokenThroughputBy(TIMES, WORKLOAD) },
    { simulate: true, seed: 1 },
    { system },
  );

const frontierOf = ({ details }: { details: Record<string, unknown> }) =>
  details.frontier as [FrontierRow, FrontierRow, FrontierRow, FrontierRow];

/** When tokens became visible. */
const shownIn = ({ calls }: Recorded): number[] =>
  calls.filter(({ kernel }) => kernel.startsWith('gvb_decoder_pub')).map(({ ends }) => ends);

/** Most tokens a second of all processes in any window of this length that begins with a token of the second. */
function mostPerSecond([first, second]: readonly [Recorded, Recorded], lengthNs: number): number {
  const own = shownIn(second);
  const all = [...shownIn(first), ...own];
  const counts = own
    .filter((from) => from + lengthNs <= (own.at(-1) as number))
    .map((from) => all.filter((ns) => ns >= from && ns < from + lengthNs).length);
  return (1e9 * Math.max(...counts)) / lengthNs;
}

describe('LLM-011', () => {
  it('counts the tokens of two tenants that share the memory', async () => {
    const { result, record } = await undisturbedRecord((folder) =>
      throughput(environmentUnder(null, `mps=1,dram_gbs=0.1,kernel_ns=600000,${RECORDED}`, folder)),
    );
    expect(result).toMatchObject({ status: 'ok', processes: 2 });
    const [alone, , together, byGraph] = frontierOf(result);
    expect([alone, together, byGraph].map(({ coTenants, mode }) => [coTenants, mode])).toEqual([
      [0, 'launches'],
      [1, 'launches'],
      [1, 'graph'],
    ]);
    expect(result.value).toBe(together.tokensPerSecond);
    expect(result.details.ofAlone).toBeCloseTo((result.value as number) / (alone.tokensPerSecond as number), 9);
    expect(2 * (together.leastTokensPerSecond as number)).toBeLessThanOrEqual(result.value as number);
    const both = recordedByProcess(record).filter((process) => shownIn(process).length > 0) as [Recorded, Recorded];
    // No window of the whole run showed more, for each sequence of the batch.
    const most = WORKLOAD.batch * mostPerSecond(both, 0.5e9 * (TIMES.togetherMs / 1e3));
    expect(result.value).toBeLessThan(1.05 * most);
    expect(result.value).toBeGreaterThan(0.5 * most);
    // A request waits at least as long as half of a step takes.
    expect(together.waitP50Ms).toBeGreaterThan(0.4 * (together.p50Ms as number));
    expect(together.waitP99Ms).toBeGreaterThan(together.waitP50Ms as number);
  });

  it('is lower by what a limit lets the card idle, and shows the pauses as waits', async () => {
    // A limit that lets both run for 120 of 400 ms.
    const card = 'mps=1,dram_gbs=0.2,kernel_ns=800000';
    const [free, limited] = await Promise.all(
      [null, 'share=30@400ms'].map((limit) =>
        undisturbed(
          () => throughput(environmentUnder(limit, card)),
          (result) => [result],
        ),
      ),
    );
    expect([free?.status, limited?.status]).toEqual(['ok', 'ok']);
    expect(limited?.value).toBeLessThan(0.7 * (free?.value as number));
    const [, , together] = frontierOf(limited as never);
    // The longest pauses are of 280 ms; 200 remain in more than one of a hundred moments.
    expect(together.waitP99Ms).toBeGreaterThan(150);
    expect(together.p50Ms).toBeLessThan(100);
  });
});
