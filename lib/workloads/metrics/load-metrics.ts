/** The metrics of a load, each described once, in the order of reports. */
import type { LoadResult } from '../../load/load-result.js';
import type { Direction } from '../../metrics/core/metric.js';
import type { Delta } from '../../stats/rule/effect.js';
import { percentileFloors, summarise } from '../../stats/summary.js';
import type { Workload } from '../workload-type.js';
import type { Reading } from './reading.js';

type Samples = (result: LoadResult) => readonly number[];

interface LoadMetric {
  name: string;
  unit: string;
  direction: Direction;
  question: string;
  delta: Delta;
  /** Whether only endpoints that generate tokens have it. */
  isOfTokens?: true;
  /** Its number in a load whose requests all succeeded. */
  of: (result: LoadResult) => Reading;
  /** The samples whose median it is. */
  samples?: Samples;
  /** Why that median has no interval. */
  noInterval?: string;
}

type Time = Pick<LoadMetric, 'name' | 'question' | 'isOfTokens' | 'noInterval'>;

const OF_TOKENS = { isOfTokens: true } as const;
const NO_TOKENS = 'no answer had tokens';
const NO_GAPS = 'no answer had two chunks with tokens';
const NO_ANSWER = 'no request was answered';

/** δ of times is 5 %, because the host's scheduler decides. */
const median = (time: Time, samples: Samples, missing: string): LoadMetric => ({
  ...time,
  unit: 'ms',
  direction: 'lower',
  delta: { relative: 0.05 },
  of: (result) => {
    const value = summarise(samples(result))?.p50;
    return value === undefined ? { missing, status: 'unsupported' } : { value };
  },
  samples,
});

/** δ of the tails of times is 10 %. */
const p99 = (time: Time, samples: Samples, what: string): LoadMetric => ({
  ...time,
  unit: 'ms',
  direction: 'lower',
  delta: { relative: 0.1 },
  of: (result) => {
    const each = samples(result);
    const value = summarise(each)?.p99 ?? null;
    if (value !== null) return { value };
    return {
      missing: `a p99 takes at least ${percentileFloors.p99} ${what} in a run, and there were ${each.length}`,
      status: 'unsupported',
    };
  },
});

/** δ of rates is 2 %, like that of a program's own numbers. */
const rate = (of: LoadMetric['of']): Pick<LoadMetric, 'direction' | 'delta' | 'of'> => ({
  direction: 'higher',
  delta: { relative: 0.02 },
  of,
});

/** Replaces a number that counts tokens by the reason to doubt their count. */
const undoubted =
  (of: LoadMetric['of']): LoadMetric['of'] =>
  (result) =>
    result.tokensDoubt === null ? of(result) : { missing: result.tokensDoubt, status: 'invalid' };

const ttftMs: Samples = (result) => result.ttftMs;
const itlMs: Samples = (result) => result.itlMs;
const latencyMs: Samples = (result) => result.latencyMs;

const perToken = median(
  {
    name: 'time per output token',
    question: 'How long does a request take for each token after the first?',
    ...OF_TOKENS,
  },
  (result) => result.tpotMs,
  NO_GAPS,
);

const table = {
  ttft: median(
    { name: 'time to first token', question: 'How long does a request wait for its first token?', ...OF_TOKENS },
    ttftMs,
    NO_TOKENS,
  ),
  'ttft-p99': p99(
    {
      name: 'time to first token, p99',
      question: 'How long do the slowest of 100 requests wait for their first token?',
      ...OF_TOKENS,
    },
    ttftMs,
    'requests',
  ),
  itl: median(
    {
      name: 'inter-token latency',
      question: 'How much time passes between two chunks of tokens?',
      ...OF_TOKENS,
      noInterval: 'the pauses within an answer depend on each other; time per output token has an interval',
    },
    itlMs,
    NO_GAPS,
  ),
  'itl-p99': p99(
    {
      name: 'inter-token latency, p99',
      question: 'How long are the longest of 100 pauses between two chunks?',
      ...OF_TOKENS,
    },
    itlMs,
    'intervals between chunks',
  ),
  tpot: { ...perToken, of: undoubted(perToken.of) },
  latency: median(
    {
      name: 'request latency',
      question: 'How long does a request take, from when it was due to the end of its answer?',
    },
    latencyMs,
    NO_ANSWER,
  ),
  'latency-p99': p99(
    { name: 'request latency, p99', question: 'How long do the slowest of 100 requests take?' },
    latencyMs,
    'requests',
  ),
  'tokens-per-second': {
    name: 'token throughput',
    unit: 'tokens/s',
    question: 'How many tokens does the server generate per second, over all requests?',
    ...OF_TOKENS,
    ...rate(undoubted(({ tokensPerSecond: value }) => (value === null ? { missing: NO_TOKENS } : { value }))),
  },
  'requests-per-second': {
    name: 'request throughput',
    unit: 'requests/s',
    question: 'How many requests does the server answer per second?',
    ...rate(({ achievedPerSecond: value }) => ({ value })),
  },
  errors: {
    name: 'failed requests',
    unit: '%',
    direction: 'lower',
    delta: { absolute: 1 },
    question: 'What share of the requests fails?',
    of: ({ requests, succeeded }) => ({ value: (100 * (requests - succeeded)) / requests }),
  },
} satisfies Record<string, LoadMetric>;

export type LoadKey = keyof typeof table;
export const loadMetrics: Readonly<Record<LoadKey, LoadMetric>> = table;
export const loadKeys = Object.keys(table) as LoadKey[];

/** One value for each metric of a load. */
export const ofLoad = <Value>(valueOf: (key: LoadKey) => Value): Record<LoadKey, Value> =>
  Object.fromEntries(loadKeys.map((key) => [key, valueOf(key)])) as Record<LoadKey, Value>;

/** The metrics of a workload's load, in the order of reports; an endpoint without tokens has fewer. */
export function loadKeysOf({ load }: Pick<Workload, 'load'>): LoadKey[] {
  if (load === null) return [];
  return load.api === 'http' ? loadKeys.filter((key) => !loadMetrics[key].isOfTokens) : loadKeys;
}
