import { loadAddon } from '../native/load.js';
import type { AttackRequest } from '../native/attack-request.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

const LOOK_MS = 10;

/** Keeps one shared resource busy until it is asked to end (end-attack.ts); progress is that the first operation is over. */
export const attack: Handler = async (params, progress) => {
  const { kind, quotaBytes, mostNs } = params as AttackRequest;
  const session = await heldSession();
  const addon = loadAddon();
  const startAtNs = addon.now();
  // A worker makes one attack: there are none of an earlier one.
  const look = setInterval(() => {
    if (addon.attackOperations() === 0) return;
    clearInterval(look);
    progress('at work');
  }, LOOK_MS);
  try {
    return { startAtNs, ...(await session.ask('aggressor', { kind, startAtNs, windowNs: mostNs, quotaBytes })) };
  } finally {
    clearInterval(look);
  }
};
