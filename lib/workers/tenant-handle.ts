/** One tenant of a scene, whatever it runs. */
import type { Ending } from './launcher.js';

export type Role = 'victim' | 'aggressor' | 'bystander';

/** The interface of every tenant, worker or program. */
export interface TenantHandle {
  readonly role: Role;
  /** Never rejects. */
  readonly exit: Promise<Ending>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}
