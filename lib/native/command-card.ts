/**
 * The simulated card of this command: its processes share it, and no other command's do. Read by
 * native/sim/card/own_region.cpp, unless GVB_SIM names a region.
 */
import { randomUUID } from 'node:crypto';

const COMMAND_CARD = 'GVB_SIM_COMMAND';

/** Called where the environment of this process is given to others, and before the driver is loaded into this one. */
export function nameCommandCard(): void {
  process.env[COMMAND_CARD] ??= randomUUID();
}

/** A command that was started by another one's process has a card of its own. */
export function beginCommandCard(): void {
  process.env[COMMAND_CARD] = randomUUID();
}
