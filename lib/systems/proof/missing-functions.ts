/** Functions of the driver and NVML that a process does not get, and what that costs. */
import type { Provenance } from '../../native/addon-types.js';
import { type FunctionCost, functionCosts } from '../../native/function-costs.js';
import { driverBranches, newerFunctions } from '../../native/function-names.js';
import type { ApplicationPath } from '../../results/document.js';

export interface MissingFunction {
  name: string;
  /** The oldest branch of drivers that has it; null if every driver of the table has it, so that it should be there. */
  sinceDriver: string | null;
  /** The paths on which a layer hides it; empty if the driver lacks it. */
  hiddenOn: (ApplicationPath | 'nvml')[];
  /** Whether nothing can be measured without it. */
  stops: boolean;
  /** Ids of the metrics that are unsupported without it. */
  metrics: string[];
  /** Ids of the metrics that lose rows or details without it. */
  partly: string[];
}

const branchOf = (version: number): string | null =>
  driverBranches.find(([, cudaVersion]) => cudaVersion >= version)?.[0] ?? null;

function missing(name: string, hiddenOn: MissingFunction['hiddenOn']): MissingFunction {
  const { stops = false, metrics = [], partly = [] } = functionCosts[name] ?? {};
  const version = newerFunctions[name];
  const sinceDriver = version === undefined ? null : branchOf(version);
  return { name, sinceDriver, hiddenOn, stops, metrics: [...metrics], partly: [...partly] };
}

/** `everything: …`, `IS-010, part of IS-005` or `no metric`. */
export function lostWithout({ stops = false, metrics = [], partly = [] }: FunctionCost): string {
  if (stops) return 'everything: no GPU can be found';
  const parts = [...metrics, ...(partly.length > 0 ? [`part of ${partly.join(', ')}`] : [])];
  return parts.length === 0 ? 'no metric' : parts.join(', ');
}

export function missingFunctions({ functions, nvml }: Provenance): MissingFunction[] {
  // A machine without NVML is a finding of its own.
  const hasNvml = nvml.some(({ owners }) => owners.bare !== null);
  return [
    ...functions.flatMap(({ name, owners: { bare, ...given } }) => {
      if (bare === null) return [missing(name, [])];
      const hiddenOn = (['runtime', 'dlsym', 'linked'] as const).filter((path) => given[path] === null);
      return hiddenOn.length === 0 ? [] : [missing(name, hiddenOn)];
    }),
    ...nvml.flatMap(({ name, owners }) => {
      if (hasNvml && owners.bare === null) return [missing(name, [])];
      return hasNvml && owners.dlsym === null ? [missing(name, ['nvml'])] : [];
    }),
  ];
}
