/** The limits of each tenant of a scene under a system, or why the system cannot have them. */
import { inWords, resolveSize, type Size } from '../../config/size.js';
import { UsageError } from '../../errors/usage-error.js';
import { FIRST_ID } from '../../metrics/tenants/scene.js';
import type { Limits, System, Tenant } from '../../systems/system.js';
import type { Scene } from './scene-type.js';
import type { SceneTenant } from '../workload-type.js';

/** Tenants in the order of the scene's, with their limits, or why there are none. */
type LimitedTenants = { tenants: Tenant[] } | { unsupported: string };

/**
 * Gives each tenant its limits. `cardBytes`: null where NVML does not say. Throws UsageError where a limit does not fit
 * the card.
 */
export function limitedTenants({ tenants }: Scene, system: System, cardBytes: number | null): LimitedTenants {
  const wanted = tenants.map((tenant) => wantedLimits(tenant, system, cardBytes));
  const all = wanted.map((limits, place): Tenant => ({ id: FIRST_ID + place, ...(limits && { limits }) }));
  const given = all.map((tenant) => system.limits(tenant));
  const short = wanted.findIndex((limits, place) => limits !== null && !holds(limits, given[place] as Limits));
  if (short >= 0)
    return {
      unsupported: `${system.name} cannot give ${tenants[short]?.name} limits of its own: all tenants have those of the system`,
    };
  const different = given.findIndex((limits) => !holds(limits, given[0] as Limits));
  if (different < 0 || system.limitsCoexist) return { tenants: all };
  const text = (place: number) => `${tenants[place]?.name} ${limitsText(given[place] as Limits)}`;
  return {
    unsupported: `tenants of ${system.name} cannot have different limits at the same time (${text(0)}, ${text(different)}): give them the same`,
  };
}

/** Keeps the wanted limits of those kinds that the system has; null if there are none. */
function wantedLimits(
  { name, limits: { memory, smPercent } }: SceneTenant,
  { capabilities: { memLimit, computeLimit } }: System,
  cardBytes: number | null,
): Partial<Limits> | null {
  const limits: Partial<Limits> = {
    ...(memory && memLimit !== 'none' && { memoryBytes: bytesOf(memory, cardBytes, `memory of ${name}`) }),
    ...(smPercent !== undefined && computeLimit !== 'none' && { smPercent }),
  };
  return Object.keys(limits).length > 0 ? limits : null;
}

function bytesOf(size: Size, cardBytes: number | null, what: string): number {
  if (cardBytes !== null) return resolveSize(size, cardBytes, what);
  if ('bytes' in size) return size.bytes;
  throw new UsageError(`Expected ${what} to be a size such as 10GiB: NVML does not say of how much a part would be.`);
}

const holds = (wanted: Partial<Limits>, { memoryBytes, smPercent }: Limits): boolean =>
  (wanted.memoryBytes === undefined || wanted.memoryBytes === memoryBytes) &&
  (wanted.smPercent === undefined || wanted.smPercent === smPercent);

function limitsText({ memoryBytes, smPercent }: Limits): string {
  const parts = [memoryBytes === null ? [] : [inWords(memoryBytes)], smPercent === null ? [] : [`${smPercent} % SM`]];
  return parts.flat().join(', ') || 'without limits';
}
