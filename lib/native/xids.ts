/** Errors of a GPU (Xid events), reported by NVML. */
import type { Target, XidEvent } from './addon-types.js';
import { loadAddon } from './load.js';
import { native } from './errors.js';

/** No list if the errors could not be watched: an empty one means that there were none. */
export type Xids = { events: XidEvent[] } | { unsupported: string };

interface XidWatch {
  /** Events read since that time of the addon's `now`: NVML does not say when they happened, and keeps them until then. */
  since: (ns: number) => Promise<Xids>;
}

/** Watches the GPU until the process ends. */
export async function watchXids(target: Target, uuid: string): Promise<XidWatch> {
  const request = { ...target, uuid };
  const { unsupported } = await native(loadAddon().watchXids(request));
  if (unsupported !== null) return { since: () => Promise.resolve({ unsupported }) };
  return {
    since: async (ns) => {
      const seen = await native(loadAddon().seenXids(request));
      return { events: seen.filter(({ atNs }) => atNs >= ns) };
    },
  };
}
