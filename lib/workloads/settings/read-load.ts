/** The load of a workload, and how the GPU is read meanwhile. */
import type { Place } from '../../config/setting-place.js';
import { loadPlan } from '../../load/load-config.js';
import type { LoadPlan } from '../../load/load-plan.js';
import type { GivenProgram, GivenWorkload } from './workload-schema.js';
import { DEFAULTS, type Monitoring } from '../workload-type.js';

/** Reads the load of a program; null without one. */
export function loadOf({ load, ready }: GivenProgram, place: Place): LoadPlan | null {
  if (load === undefined) return null;
  if (ready === undefined)
    throw place.error(
      'load',
      `Expected load of ${place.owner} together with ready but received it alone: requests are sent from when the program is ready.`,
    );
  if (place.inside('matrix').has('request'))
    throw place.error(
      'matrix',
      `Expected ${place.named('matrix')} to have no parameter 'request' beside a load: there {request} is the number of the request.`,
    );
  return loadPlan(load, place.inside('load'));
}

export function monitoringOf({ monitor }: GivenWorkload): Monitoring {
  if (monitor === false) return { ...DEFAULTS.monitor, csv: false };
  return { intervalMs: monitor.interval, csv: monitor.csv };
}
