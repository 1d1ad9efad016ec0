/** The device sessions of a worker: they share one context, and a tenant holds one of them. */
import type { DeviceTarget } from '../native/addon-types.js';
import { native } from '../native/errors.js';
import { loadAddon } from '../native/load.js';
import type { Session } from '../native/session.js';

const kept = new Map<string, Promise<void>>();

/** Creating a context costs as much as measuring. */
export function keepContext({ simulatedDriver, device, path }: DeviceTarget): Promise<void> {
  const key = JSON.stringify([simulatedDriver, device, path]);
  const keeping = kept.get(key) ?? native(loadAddon().keepContext({ simulatedDriver, device, path }));
  kept.set(key, keeping);
  return keeping;
}

export async function inSession<T>(target: DeviceTarget, use: (session: Session) => Promise<T>): Promise<T> {
  const { Session } = await import('../native/session.js');
  await keepContext(target);
  const session = await Session.open(target, new AbortController().signal);
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Separates the device from the rest of a request. */
export function splitTarget<T extends DeviceTarget>({ simulatedDriver, device, path, ...request }: T) {
  return { target: { simulatedDriver, device, path } satisfies DeviceTarget, request };
}

let held: Promise<Session> | null = null;

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
