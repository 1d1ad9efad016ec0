/** LLM-002: pages per second compared with the recorded calls. */
import { expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { quantile } from '../../../lib/stats/quantile.js';
import { type Bracket, bracketOf, expectBetween, expectMedianBetween } from '../../native/brackets.js';
import { measureRecorded, type Settings } from '../../native/child.js';
import { durationOf, type Recorded, type RecordedCall } from '../../native/record.js';

const MIB = 2 ** 20;
/** Odd, so that times and rates have the same median. */
const ROUNDS = 9;
const BARE_ROUNDS = 2;
const NS_PER_S = 1e9;

interface Mode {
  mode: string;
  pagesPerSecond: number;
  ci95: [number, number] | null;
  pageP99Us: number;
  rounds: number;
  unsupported?: string;
}
const modesOf = ({ details }: MetricResult) => details.modes as [Mode, Mode];

const sim = { init_ms: 1, context_ms: 1 };

async function measured(settings: Settings = {}, interpose?: string, iterations = ROUNDS) {
  const environment = interpose ? { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose } : {};
  const { results, recorded } = await measureRecorded([['measureKvCacheAllocation', { iterations }]], {
    sim: { ...sim, ...settings },
    environment,
  });
  return { result: results[0] as MetricResult, recorded };
}

/** The first and the last call of a page. */
interface Page {
  first: RecordedCall;
  last: RecordedCall;
}

function pagesOf(recorded: Recorded, first: string, last: string): Page[] {
  const lasts = recorded.named(last);
  return recorded.named(first).map((call, i) => ({ first: call, last: lasts[i] as RecordedCall }));
}

/** The last rounds, each with its pages; earlier ones are trials and warm-up. */
const roundsOf = (pages: readonly Page[], size: number): Page[][] =>
  Array.from({ length: ROUNDS }, (_, i) => pages.slice(pages.length - (ROUNDS - i) * size).slice(0, size));

/** A page lasts until the clock is read after its last call, which starts the next one. */
const bracketsOf = (round: readonly Page[], { leastNs, mostNs }: Bracket): Bracket[] =>
  round.map(({ first, last }, i) => {
    const [before, behind] = [round[i - 1], round[i + 1]];
    const [begun, over] = [(round[0] as Page).first.entered, (round.at(-1) as Page).last.left];
    // Time around the round may count for its first page or for its last.
    const around = mostNs - leastNs;
    return {
      leastNs: last.left - first.entered,
      mostNs: (behind ? behind.first.entered : over + around) - (before ? before.last.left : begun - around),
    };
  });

const p99Of = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.99,
  );

function expectRounds(mode: Mode, rounds: readonly Page[][], recorded: Recorded): void {
  const size = rounds[0]?.length ?? 0;
  const spans = rounds.map((round) => bracketOf(recorded, (round[0] as Page).first, (round.at(-1) as Page).last));
  const ns = (rate: number) => (size * NS_PER_S) / rate;
  const ci95 = mode.ci95 && ([ns(mode.ci95[1]), ns(mode.ci95[0])] as const);
  expectMedianBetween({ value: ns(mode.pagesPerSecond), ci95 }, spans);
  const pages = rounds.flatMap((round, i) => bracketsOf(round, spans[i] as Bracket));
  expectBetween(1e3 * mode.pageP99Us, [
    p99Of(pages.map(({ leastNs }) => leastNs)),
    p99Of(pages.map(({ mostNs }) => mostNs)),
  ]);
}

it.each([
  ['quick calls', { vmm_us: 4, alloc_async_us: 1 }],
  ['slow calls', { vmm_us: 17, alloc_async_us: 9 }],
])('recovers the pages per second of %s', async (_, settings) => {
  const { result, recorded } = await measured({ ...settings, memory_mib: 980 });
  const pages = result.details.pages as number;
  // Half of what is left beside the context.
  expect(pages).toBe(Math.floor((result.details.limitBytes as number) / 2 / (2 * MIB)));
  expect(pages).toBeLessThan(128);
  const [virtual, pooled] = modesOf(result);
  expectRounds(virtual, roundsOf(pagesOf(recorded, 'cuMemCreate', 'cuMemSetAccess'), pages), recorded);
  expectRounds(pooled, roundsOf(pagesOf(recorded, 'cuMemAllocAsync', 'cuMemAllocAsync'), pages), recorded);
  expect(result).toMatchObject({ status: 'ok', value: virtual.pagesPerSecond, ci95: virtual.ci95 });
});

it('has 512 pages per round if the memory is large enough, at addresses reserved once', async () => {
  const { result, recorded } = await measured({ vmm_us: 0.1, alloc_async_us: 0.1 });
  expect(result.details).toMatchObject({ pages: 512, pageBytes: 2 * MIB });
  // One page as a trial, then a round, then those past the layer and the counted ones; a round before each is not timed.
  expect(recorded.named('cuMemAddressReserve')).toHaveLength(4);
  expect(recorded.named('cuMemCreate')).toHaveLength(2 + (2 + 1 + BARE_ROUNDS + 1 + ROUNDS) * 512);
});

it('recovers a delay of the interposer, as part of the page', async () => {
  const settings = { memory_mib: 980, vmm_us: 2 };
  const { result, recorded } = await measured(settings, 'cuMemCreate=+40us');
  const whole = recorded.joined();
  const pages = result.details.pages as number;
  const [virtual] = modesOf(result);
  expectRounds(virtual, roundsOf(pagesOf(whole, 'cuMemCreate', 'cuMemSetAccess'), pages), whole);
  // The delay is counted from before the record's first reading of the clock, so it includes an interrupt between the
  // two.
  const took = whole
    .named('cuMemCreate')
    .slice(-ROUNDS * pages)
    .map(durationOf);
  expect(took.filter((lasted) => lasted > 40_000).length).toBeGreaterThan(0.95 * took.length);
});

it('takes no more than half of a limit', async () => {
  const { result } = await measured({ vmm_us: 0.1 }, 'quota=300MiB');
  expect(result).toMatchObject({ status: 'ok', details: { limitBytes: 300 * MIB, pages: 75 } });
});
