/** The device sessions of a worker: they share one context, and a tenant holds one of them. */
import type { DeviceTarget } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Session } from '../native/session.js';

const kept = new Map<string, Promise<void>>();
let held: Promise<Session> | null = null;

/** Creating a context costs as much as measuring. */
export function keepContext({ simulatedDriver, device, path }: DeviceTarget): Promise<void> {
  const key = JSON.stringify([simulatedDriver, device, path]);
  const keeping = kept.get(key) ?? native(loadAddon().keepContext({ simulatedDriver, device, path }));
  kept.set(key, keeping);
  return keeping;
}

/** Uses the session that a tenant holds; a worker that has not entered opens one on that device. */
export async function inSession<T>(
  target: DeviceTarget | undefined,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  if (held || !target) return use(await heldSession());
  const { Session } = await import('../native/session.js');
  await keepContext(target);
  const session = await Session.open(target, new AbortController().signal);
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** From here on a tenant takes part in requests to all tenants together. */
export async function holdSession(target: DeviceTarget): Promise<void> {
  const { Session } = await import('../native/session.js');
  held ??= Session.open(target, new AbortController().signal);
  await held;
}

export function heldSession(): Promise<Session> {
  if (!held) throw new Error('This worker was not asked to enter.');
  return held;
}
