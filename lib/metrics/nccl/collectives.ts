/** Bursts of a collective on all ranks: how long each operation takes on the slowest one, with every result verified. */
import type { Collective, CollectivesRequest, CollectiveTimes } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import type { Check } from '../../results/document.js';
import { askSession } from '../../workers/session-task.js';
import type { MeasureContext } from '../core/metric.js';
import { MIB } from '../core/units.js';
import { memoryLimit } from './gpu-workers.js';
import type { Ranks } from './ranks.js';

const TASK_MS = 120_000;
export const JOIN_MS = 60_000;
/** Tolerance between the device's clock and the host's. */
const CLOCKS = 1.02;
/** Alignment of results on the device, in bytes. */
const ALIGNMENT = 512;
const MOST_RESULTS = 256 * MIB;

type Burst = Omit<CollectivesRequest, 'ranks' | 'rank' | 'seed'>;

export interface Bursts {
  burst: Burst;
  /** Time of an operation on the slowest rank, for each burst. */
  operationNs: Float64Array;
  /** The device's time relative to the host's, at most. */
  deviceShare: number;
  words: number;
  wrong: number;
}

/** Counted as in nccl-tests: what a link of each rank carries, relative to the bytes of a result. */
const BUS_FACTOR: Readonly<Record<Collective, (ranks: number) => number>> = {
  ncclAllReduce: (ranks) => (2 * (ranks - 1)) / ranks,
  ncclAllGather: (ranks) => (ranks - 1) / ranks,
  ncclBroadcast: () => 1,
};

/** Bytes a nanosecond are GB/s. */
export const busGbs = (collective: Collective, bytes: number, ranks: number, ns: number): number =>
  (bytes * BUS_FACTOR[collective](ranks)) / ns;

/** Bytes that the results of a burst may take on each rank: a quarter of what the process may use. */
export const roomForResults = async (ranks: Ranks): Promise<number> =>
  Math.min(MOST_RESULTS, (await memoryLimit(ranks)) / 4);

/** How many results of that size have room beside each other. */
export const operationsOf = (bytes: number, room: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(room / Math.max(bytes, ALIGNMENT))));

function answered(times: CollectiveTimes): CollectiveTimes {
  if (times.failure !== null) throw new BenchError('WORKER', `${times.failure}.`);
  return times;
}

/** All ranks must have joined. */
export async function runBursts({ workers }: Ranks, burst: Burst, seed: number): Promise<Bursts> {
  const all = await Promise.all(
    workers.map(async (worker, rank) => {
      const request = { ...burst, ranks: workers.length, rank, seed };
      return answered(await askSession(worker, { name: 'collectives', request, deadlineMs: TASK_MS }));
    }),
  );
  const ofBurst = (i: number) => all.map(({ hostNs }) => hostNs[i] ?? NaN);
  const shares = all.flatMap(({ hostNs, deviceNs }) => deviceNs.map((ns, i) => ns / (hostNs[i] ?? NaN)));
  return {
    burst,
    operationNs: Float64Array.from({ length: burst.bursts }, (_, i) => Math.max(...ofBurst(i)) / burst.operations),
    deviceShare: Math.max(...shares),
    words: all.reduce((sum, { words }) => sum + words, 0),
    wrong: all.reduce((sum, { wrong }) => sum + wrong, 0),
  };
}

export function resultsCheck(all: readonly Bursts[], ranks: number): Check {
  const total = (count: (bursts: Bursts) => number) => all.reduce((sum, bursts) => sum + count(bursts), 0);
  const [words, wrong] = [total((bursts) => bursts.words), total((bursts) => bursts.wrong)];
  const worst = all.find((bursts) => bursts.wrong > 0)?.burst;
  const where = worst ? `, first in results of ${worst.bytes} bytes` : '';
  return {
    name: 'every rank has every result',
    passed: words > 0 && wrong === 0,
    detail: `${wrong} of ${words} words on ${ranks} ranks are not what ${all[0]?.burst.collective ?? 'a collective'} must leave there${where}`,
  };
}

/** A layer that returns early from a synchronisation would make the host's time too short. */
export function waitedCheck(all: readonly Bursts[]): Check {
  const longest = Math.max(...all.map(({ deviceShare }) => deviceShare));
  return {
    name: 'the host waited for the device',
    passed: longest <= CLOCKS,
    detail: `bursts took at most ${longest.toFixed(2)} times as long on the device as on the host`,
  };
}

/** A simulated card computes on the host. */
export const isSimulated = ({ simulatedDriver }: MeasureContext): boolean => simulatedDriver !== null;
