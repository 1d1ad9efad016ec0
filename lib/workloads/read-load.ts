/** The load of a workload, and how the GPU is read meanwhile. */
import type { Values } from '../config/values.js';
import { parseDuration } from '../config/duration.js';
import { LOAD_KEYS, readLoad } from '../load/load-config.js';
import type { LoadPlan } from '../load/load-plan.js';
import { INTERVAL_LIMITS } from '../monitor/options.js';
import { DEFAULTS, type Monitoring } from './workload-type.js';

/** Null without one. */
export function loadOf(values: Values): LoadPlan | null {
  if (!values.has('load')) return null;
  if (!values.has('ready'))
    throw values.error(
      'load',
      `Expected load of ${values.owner} together with ready but received it alone: requests are sent from when the program is ready.`,
    );
  if (Object.hasOwn(values.map('matrix') ?? {}, 'request'))
    throw values.error(
      'matrix',
      `Expected ${values.named('matrix')} to have no parameter 'request' beside a load: there {request} is the number of the request.`,
    );
  return readLoad(values.nested('load', LOAD_KEYS));
}

export function monitoringOf(values: Values): Monitoring {
  if (values.raw('monitor') === 'false') return { ...DEFAULTS.monitor, csv: false };
  const nested = values.nested('monitor', ['interval', 'csv']);
  const interval = nested.text('interval');
  const rules = { what: nested.named('interval'), ...INTERVAL_LIMITS };
  return {
    intervalMs:
      interval === undefined
        ? DEFAULTS.monitor.intervalMs
        : nested.within('interval', () => parseDuration(interval, rules)),
    csv: (nested.choice('csv', ['true', 'false']) ?? 'true') === 'true',
  };
}
