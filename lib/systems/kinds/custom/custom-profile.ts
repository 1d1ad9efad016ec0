/** A user's description of a layer, once it is checked. */
import type { Size } from '../../../config/size.js';
import type { Capabilities } from '../../system.js';

export type Command = readonly string[];

/** A proof that the layer is active. */
export type Step =
  | { step: 'symbolOwner'; symbol: string; matches: RegExp }
  | { step: 'symbolExported'; symbol: string }
  | { step: 'env'; name: string; value: string }
  | { step: 'smCount'; least: number; most: number }
  | { step: 'totalMemory'; least: Size; most: Size }
  | { step: 'allocationCanary'; size: Size }
  | { step: 'command'; argv: Command; exit: number; matches: RegExp | null };

export interface CustomProfile {
  env: Record<string, string>;
  unsetEnv: readonly string[];
  prefix: readonly string[];
  stateFiles: readonly string[];
  setup: readonly Command[];
  perTenantSetup: readonly Command[];
  betweenLimits: readonly Command[];
  teardown: readonly Command[];
  memory: Size | undefined;
  sm: number | undefined;
  verify: readonly Step[];
  /** Whether the named libraries must be seen to intercept. */
  interposes: boolean;
  capabilities: Capabilities;
}
