/** The metrics of a workload, be it one program or a scene of several. */
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { metricsOfScene } from '../scene/metrics-of-scene.js';
import { metricsOfWorkload } from './metrics-of-workload.js';
import type { ExecSettings } from '../round/round-of-runs.js';
import { isScene } from '../scene/scene-type.js';
import type { Workload } from '../workload-type.js';

/** Defines the metrics of a workload, in the order of reports. */
export const metricsOf = (workload: Workload, settings: ExecSettings): MetricDefinition[] =>
  isScene(workload) ? metricsOfScene(workload, settings) : metricsOfWorkload(workload, settings);
