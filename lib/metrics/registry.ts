/** Every metric, in the order of results/metric-order.ts. A new one is its own file, an import and an entry here. */
import type { MetricDefinition } from './metric.js';
import { kernelLaunchLatency } from './overhead/oh-001-kernel-launch-latency.js';
import { memoryAllocationLatency } from './overhead/oh-002-memory-allocation-latency.js';
import { memoryFreeLatency } from './overhead/oh-003-memory-free-latency.js';
import { contextCreationOverhead } from './overhead/oh-004-context-creation-overhead.js';
import { apiInterceptionOverhead } from './overhead/oh-005-api-interception-overhead.js';
import { lockContention } from './overhead/oh-006-lock-contention.js';
import { memoryTrackingOverhead } from './overhead/oh-007-memory-tracking.js';
import { rateLimiterOverhead } from './overhead/oh-008-rate-limiter.js';
import { monitoringCost } from './overhead/oh-009-monitoring-cost.js';
import { throughputDegradation } from './overhead/oh-010-throughput-degradation.js';
import { memoryLimitAccuracy } from './isolation/is-001-memory-limit-accuracy.js';
import { limitEnforcement } from './isolation/is-002-limit-enforcement.js';
import { smUtilizationAccuracy } from './isolation/is-003-sm-utilization-accuracy.js';
import { smLimitResponse } from './isolation/is-004-sm-limit-response.js';
import { memoryIsolation } from './isolation/is-005-memory-isolation.js';
import { computeIsolation } from './isolation/is-006-compute-isolation.js';
import { consistency } from './isolation/is-007-consistency.js';
import { fairness } from './isolation/is-008-fairness.js';
import { noisyNeighbor } from './isolation/is-009-noisy-neighbor.js';
import { faultIsolation } from './isolation/is-010-fault-isolation.js';
import { memoryCoverage } from './isolation/is-011-memory-coverage.js';
import { launchCoverage } from './isolation/is-012-launch-coverage.js';
import { reportingConsistency } from './isolation/is-013-reporting-consistency.js';
import { attention } from './llm/llm-001-attention.js';
import { kvCacheAllocation } from './llm/llm-002-kv-cache-allocation.js';
import { batchScaling } from './llm/llm-003-batch-scaling.js';
import { tokenLatency } from './llm/llm-004-token-latency.js';
import { memoryPool } from './llm/llm-005-memory-pool.js';
import { pipeline } from './llm/llm-006-pipeline.js';
import { largeAllocation } from './llm/llm-007-large-allocation.js';
import { mixedPrecision } from './llm/llm-008-mixed-precision.js';
import { dynamicBatching } from './llm/llm-009-dynamic-batching.js';
import { multiGpuScaling } from './llm/llm-010-multi-gpu-scaling.js';
import { contextSwitchLatency } from './scheduling/sched-001-context-switch-latency.js';
import { kernelLaunchOverhead } from './scheduling/sched-002-kernel-launch-overhead.js';
import { streamConcurrency } from './scheduling/sched-003-stream-concurrency.js';
import { preemptionLatency } from './scheduling/sched-004-preemption-latency.js';
import { errorDetectionLatency } from './error-recovery/err-001-error-detection-latency.js';
import { errorRecovery } from './error-recovery/err-002-error-recovery.js';
import { gracefulDegradation } from './error-recovery/err-003-graceful-degradation.js';
import { bandwidthIsolation } from './bandwidth/bw-001-bandwidth-isolation.js';
import { bandwidthFairness } from './bandwidth/bw-002-bandwidth-fairness.js';
import { busSaturation } from './bandwidth/bw-003-bus-saturation.js';
import { bandwidthInterference } from './bandwidth/bw-004-bandwidth-interference.js';
import { cacheHitRate } from './cache/cache-001-hit-rate.js';
import { cacheEviction } from './cache/cache-002-eviction.js';
import { cacheCollision } from './cache/cache-003-collision.js';
import { cacheContention } from './cache/cache-004-contention.js';
import { hostToDevice } from './pcie/pcie-001-host-to-device.js';
import { deviceToHost } from './pcie/pcie-002-device-to-host.js';
import { pcieContention } from './pcie/pcie-003-contention.js';
import { pinnedMemory } from './pcie/pcie-004-pinned-memory.js';
import { allReduceLatency } from './nccl/nccl-001-all-reduce.js';
import { allGatherBandwidth } from './nccl/nccl-002-all-gather.js';
import { peerBandwidth } from './nccl/nccl-003-peer-bandwidth.js';
import { broadcastBandwidth } from './nccl/nccl-004-broadcast.js';
import { fragmentationIndex } from './fragmentation/frag-001-fragmentation-index.js';
import { allocationDegradation } from './fragmentation/frag-002-allocation-degradation.js';
import { reclaimIntegrity } from './fragmentation/frag-003-reclaim.js';
import { coldStart } from './start-up/start-001-cold-start.js';
import { driverInitialisation } from './start-up/start-002-driver-initialisation.js';
import { primaryContext } from './start-up/start-003-primary-context.js';
import { moduleLoad } from './start-up/start-004-module-load.js';
import { gpuDiscovery } from './start-up/start-005-gpu-discovery.js';
import { concurrentStarts } from './start-up/start-006-concurrent-starts.js';
import { compatibility } from './compatibility/compat-001-compatibility.js';

export const metrics: readonly MetricDefinition[] = [
  kernelLaunchLatency,
  memoryAllocationLatency,
  memoryFreeLatency,
  contextCreationOverhead,
  apiInterceptionOverhead,
  lockContention,
  memoryTrackingOverhead,
  rateLimiterOverhead,
  monitoringCost,
  throughputDegradation,
  memoryLimitAccuracy,
  limitEnforcement,
  smUtilizationAccuracy,
  smLimitResponse,
  memoryIsolation,
  computeIsolation,
  consistency,
  fairness,
  noisyNeighbor,
  faultIsolation,
  memoryCoverage,
  launchCoverage,
  reportingConsistency,
  attention,
  kvCacheAllocation,
  batchScaling,
  tokenLatency,
  memoryPool,
  pipeline,
  largeAllocation,
  mixedPrecision,
  dynamicBatching,
  multiGpuScaling,
  contextSwitchLatency,
  kernelLaunchOverhead,
  streamConcurrency,
  preemptionLatency,
  errorDetectionLatency,
  errorRecovery,
  gracefulDegradation,
  bandwidthIsolation,
  bandwidthFairness,
  busSaturation,
  bandwidthInterference,
  cacheHitRate,
  cacheEviction,
  cacheCollision,
  cacheContention,
  hostToDevice,
  deviceToHost,
  pcieContention,
  pinnedMemory,
  allReduceLatency,
  allGatherBandwidth,
  peerBandwidth,
  broadcastBandwidth,
  fragmentationIndex,
  allocationDegradation,
  reclaimIntegrity,
  coldStart,
  driverInitialisation,
  primaryContext,
  moduleLoad,
  gpuDiscovery,
  concurrentStarts,
  compatibility,
];

/** Finds a metric by its id; not case-sensitive. */
export const findMetric = (id: string): MetricDefinition | undefined =>
  metrics.find((metric) => metric.id === id.toUpperCase());
