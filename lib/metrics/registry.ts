/** Every metric, in id order. A new one is its own file and one line here. */
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
import { coldStart } from './start-up/start-001-cold-start.js';
import { driverInitialisation } from './start-up/start-002-driver-initialisation.js';
import { primaryContext } from './start-up/start-003-primary-context.js';
import { moduleLoad } from './start-up/start-004-module-load.js';
import { gpuDiscovery } from './start-up/start-005-gpu-discovery.js';
import { concurrentStarts } from './start-up/start-006-concurrent-starts.js';

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
  coldStart,
  driverInitialisation,
  primaryContext,
  moduleLoad,
  gpuDiscovery,
  concurrentStarts,
];

/** By id, whatever its case. */
export const findMetric = (id: string): MetricDefinition | undefined =>
  metrics.find((metric) => metric.id === id.toUpperCase());
