/** The metrics of a load, as results describe them. */
import type { Direction } from '../../metrics/core/metric.js';
import type { Delta } from '../../stats/rule/effect.js';
import type { LoadKey, Workload } from '../workload-type.js';

interface LoadMetric {
  name: string;
  unit: string;
  direction: Direction;
  question: string;
  delta: Delta;
}

const time = (name: string, question: string, relative = 0.05): LoadMetric => ({
  name,
  question,
  unit: 'ms',
  direction: 'lower',
  delta: { relative },
});

/** δ of times is 5 %, because the host's scheduler decides; of their tails 10 %; of rates 2 %, as of a program's own. */
export const loadMetrics: Readonly<Record<LoadKey, LoadMetric>> = {
  ttft: time('time to first token', 'How long does a request wait for its first token?'),
  'ttft-p99': time(
    'time to first token, p99',
    'How long do the slowest of 100 requests wait for their first token?',
    0.1,
  ),
  itl: time('inter-token latency', 'How much time passes between two chunks of tokens?'),
  'itl-p99': time('inter-token latency, p99', 'How long are the longest of 100 pauses between two chunks?', 0.1),
  tpot: time('time per output token', 'How long does a request take for each token after the first?'),
  latency: time('request latency', 'How long does a request take, from when it was due to the end of its answer?'),
  'latency-p99': time('request latency, p99', 'How long do the slowest of 100 requests take?', 0.1),
  'tokens-per-second': {
    name: 'token throughput',
    unit: 'tokens/s',
    direction: 'higher',
    delta: { relative: 0.02 },
    question: 'How many tokens does the server generate per second, over all requests?',
  },
  'requests-per-second': {
    name: 'request throughput',
    unit: 'requests/s',
    direction: 'higher',
    delta: { relative: 0.02 },
    question: 'How many requests does the server answer per second?',
  },
  errors: {
    name: 'failed requests',
    unit: '%',
    direction: 'lower',
    delta: { absolute: 1 },
    question: 'What share of the requests fails?',
  },
};

const OF_TOKENS: readonly LoadKey[] = ['ttft', 'ttft-p99', 'itl', 'itl-p99', 'tpot', 'tokens-per-second'];

/** Those that a workload has; of an endpoint without tokens fewer. */
export function loadKeysOf({ load }: Pick<Workload, 'load'>): LoadKey[] {
  const keys = Object.keys(loadMetrics) as LoadKey[];
  if (load === null) return [];
  return load.api === 'http' ? keys.filter((key) => !OF_TOKENS.includes(key)) : keys;
}
