import type { ImportRequest, MemoryFillRequest, RefusalsRequest, NativeAddon } from '../native/addon-types.js';
import type { Handler } from '../workers/serve.js';
import { heldSession } from './on-device.js';

/** Functions of the addon about memory limits, with their requests. */
interface Asked {
  fillMemory: MemoryFillRequest;
  importMemory: ImportRequest;
  timeRefusals: RefusalsRequest;
  releaseMemory: undefined;
  exportMemory: undefined;
  reportedMemory: undefined;
}

export type MemoryAnswer<Name extends keyof Asked> = Awaited<ReturnType<NativeAddon[Name]>>;

/** Asks how much device memory a tenant is granted, holds and is told. */
export const memory: Handler = async (params) => {
  const session = await heldSession();
  const { ask, request } = params as { [Name in keyof Asked]: { ask: Name; request: Asked[Name] } }[keyof Asked];
  switch (ask) {
    case 'fillMemory':
      return session.ask(ask, request);
    case 'importMemory':
      return session.ask(ask, request);
    case 'timeRefusals':
      return session.ask(ask, request);
    default:
      return session.ask(ask);
  }
};
