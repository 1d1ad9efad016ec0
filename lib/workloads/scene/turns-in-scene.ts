/** Scenes under a system whose tenants take turns by checkpoint. */
import type { System } from '../../systems/system.js';
import type { Scene } from './scene-type.js';

/**
 * Why the scene cannot be measured there; null if it can. A program that ends by itself would end alive after a restore,
 * which has hung hosts (lib/checkpoint/end-target.ts).
 */
export function endsAlive({ tenants }: Scene, { name, turnMs }: System): string | null {
  if (turnMs === undefined) return null;
  const ending = tenants.find(
    (tenant) => 'program' in tenant && tenant.program.stopAfterSeconds === null && tenant.program.load === null,
  );
  return ending === undefined
    ? null
    : `${ending.name} may end by itself, and a process that ${name} has restored may not end alive: give it a load or stopAfter, so that it is checkpointed and then ended`;
}
