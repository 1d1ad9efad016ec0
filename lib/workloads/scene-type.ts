/** A scene: programs and built-in aggressors that share the GPU, each as a tenant of its own. */
import type { Size } from '../config/size.js';
import type { AggressorKind } from '../native/addon-types.js';
import type { Workload } from './workload-type.js';

/** Instead of those of the system, where it has such limits. */
export interface TenantLimits {
  memory?: Size;
  smPercent?: number;
}

interface Named {
  /** As its ids, logs and results name it. */
  name: string;
  limits: TenantLimits;
}

/** What is measured: alone, and beside the others. */
export interface Victim extends Named {
  role: 'victim';
  program: Workload;
}

/** A program of the user that runs beside the victims. */
export interface ProgramAggressor extends Named {
  role: 'aggressor';
  program: Workload;
}

/** An item of the fixed menu, whose work is counted on the device. */
export interface BuiltInAggressor extends Named {
  role: 'aggressor';
  task: AggressorKind;
}

export type SceneTenant = Victim | ProgramAggressor | BuiltInAggressor;

/** A workload with tenants. */
export type Scene = Workload & { tenants: readonly SceneTenant[] };

export const isScene = (workload: Workload): workload is Scene => workload.tenants !== undefined;

export const victimsOf = ({ tenants }: Pick<Scene, 'tenants'>): Victim[] =>
  tenants.filter((tenant): tenant is Victim => tenant.role === 'victim');

/** Programs of the user; a workload without tenants is one itself. */
export const programsIn = (workload: Workload): Workload[] =>
  isScene(workload) ? workload.tenants.flatMap((tenant) => ('program' in tenant ? [tenant.program] : [])) : [workload];
