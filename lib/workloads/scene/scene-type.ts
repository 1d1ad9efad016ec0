/** A scene: programs and built-in aggressors that share the GPU, each as a tenant of its own. */
import type { SceneTenant, Victim, Workload } from '../workload-type.js';

/** A workload with tenants. */
export type Scene = Workload & { tenants: readonly SceneTenant[] };

export const isScene = (workload: Workload): workload is Scene => workload.tenants !== undefined;

export const victimsOf = ({ tenants }: Pick<Scene, 'tenants'>): Victim[] =>
  tenants.filter((tenant): tenant is Victim => tenant.role === 'victim');

/** Programs of the user in a workload, which is itself the only one if it has no tenants. */
export const programsIn = (workload: Workload): Workload[] =>
  isScene(workload) ? workload.tenants.flatMap((tenant) => ('program' in tenant ? [tenant.program] : [])) : [workload];
