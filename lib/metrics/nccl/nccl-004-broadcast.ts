/** NCCL-004: how fast one rank's data reaches all others. */
import { measureFunction } from '../core/measure-function.js';
import type { MetricDefinition } from '../core/metric.js';
import {
  type BandwidthPlan,
  type CollectiveDetails,
  collectiveDetails,
  measureCollectiveBandwidth,
  sameExchange,
} from './collective-bandwidth.js';
import { beyondLinks } from './link-ceilings.js';

/** With a given plan, for tests. */
export const broadcastBy =
  (plan?: BandwidthPlan): MetricDefinition<CollectiveDetails>['measure'] =>
  (context) =>
    measureCollectiveBandwidth(context, 'ncclBroadcast', {
      ...(plan && { plan }),
      roots: (ranks) => Array.from({ length: ranks }, (_, rank) => rank),
    });

export const broadcastBandwidth: MetricDefinition<CollectiveDetails> = {
  id: 'NCCL-004',
  name: 'Broadcast Bandwidth',
  category: 'nccl',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast is a model distributed to the GPUs of a node?',
  estimator: 'bytes by the time of ncclBroadcast of 256 MiB, slowest rank, median over roots and bursts',
  delta: { relative: 0.02 },
  comparedAt: sameExchange,
  impossible: beyondLinks,
  needs: ['two GPUs', 'NCCL'],
  functionName: 'measureBroadcast',
  where: 'fresh-processes',
  details: collectiveDetails,
  seconds: { quick: 10, standard: 10, thorough: 15 },
  measure: broadcastBy(),
};

/**
 * NCCL-004, GB/s: median rate of ncclBroadcast of 256 MiB (or a quarter of the memory that the process may use) on all
 * visible GPUs, with one process per GPU; every rank is the root in turn (`details.roots[]`), and every word on every
 * rank is verified. No rate may exceed what the links carry (`details.ceilingGbs`). NCCL is found where LD_LIBRARY_PATH
 * names its folder; NVLink multicast is off. `iterations` is the number of operations; `resolution` does not apply.
 */
export const measureBroadcast = measureFunction(broadcastBandwidth);
