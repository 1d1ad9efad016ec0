/** Workloads for `execWorkloads`, as a program gives them. */
import { type RawMap, rawOf } from './config/raw.js';
import type { WorkloadSettings } from './settings-types.js';
import type { WorkloadSource } from './workloads/workload-type.js';

/** Throws TypeError for what YAML could not hold either. */
export const sourceFrom = (settings: WorkloadSettings): WorkloadSource => ({
  settings: rawOf(settings, 'a workload') as RawMap,
  folder: process.cwd(),
});
