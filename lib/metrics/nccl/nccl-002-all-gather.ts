/** NCCL-002: how fast all ranks get what each of them has a part of. */
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
export const allGatherBy =
  (plan?: BandwidthPlan): MetricDefinition<CollectiveDetails>['measure'] =>
  (context) =>
    measureCollectiveBandwidth(context, 'ncclAllGather', plan ? { plan } : {});

export const allGatherBandwidth: MetricDefinition<CollectiveDetails> = {
  id: 'NCCL-002',
  name: 'AllGather Bandwidth',
  category: 'nccl',
  unit: 'GB/s',
  direction: 'higher',
  question: 'How fast are sharded weights gathered?',
  estimator: 'bytes × (n − 1) / n by the time of ncclAllGather of 256 MiB, slowest rank, median over bursts',
  delta: { relative: 0.02 },
  comparedAt: sameExchange,
  impossible: beyondLinks,
  needs: ['two GPUs', 'NCCL'],
  functionName: 'measureAllGather',
  where: 'fresh-processes',
  details: collectiveDetails,
  seconds: { quick: 10, standard: 10, thorough: 15 },
  measure: allGatherBy(),
};

/**
 * NCCL-002, GB/s: median bus bandwidth (as nccl-tests count it) of ncclAllGather on all visible GPUs, with one process
 * per GPU; afterwards each has 256 MiB, or a quarter of the memory that the process may use. Every rank's part in every
 * result on every rank is verified. No rate may exceed what the links carry (`details.ceilingGbs`). NCCL is found where
 * LD_LIBRARY_PATH names its folder; NVLink multicast is off. `iterations` is the number of operations; `resolution` does
 * not apply.
 */
export const measureAllGather = measureFunction(allGatherBandwidth);
