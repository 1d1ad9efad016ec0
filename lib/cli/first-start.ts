/** Makes the second start without LD_PRELOAD (restart.ts) end when the first one ends. */
import type { NativeAddon } from '../native/addon-types.js';
import { FIRST_START } from '../systems/environment.js';

/**
 * Restarted without LD_PRELOAD, this process leads its own process group, which nothing else would end: it dies with
 * the first start. The first start may have been killed before this is arranged, and is then no longer the parent.
 */
export function dieWithFirstStart(addon: Pick<NativeAddon, 'dieWithParent'>): void {
  const first = process.env[FIRST_START];
  if (first === undefined) return;
  addon.dieWithParent();
  if (process.ppid !== Number(first)) process.kill(process.pid, 'SIGKILL');
}
