/** Bits of nvmlDeviceGetCurrentClocksEventReasons (NVML API reference, group NvmlClocksEventReasons). */

interface EventReason {
  bit: number;
  name: string;
  /** The card was throttled; idleness and a user's own settings do not count. */
  isSlowdown: boolean;
}

const IDLE: EventReason = { bit: 0x01, name: 'idle', isSlowdown: false };

const REASONS: readonly EventReason[] = [
  IDLE,
  { bit: 0x02, name: 'application clocks', isSlowdown: false },
  { bit: 0x04, name: 'power cap', isSlowdown: true },
  { bit: 0x08, name: 'hardware slowdown', isSlowdown: true },
  { bit: 0x10, name: 'sync boost', isSlowdown: false },
  { bit: 0x20, name: 'thermal slowdown (software)', isSlowdown: true },
  { bit: 0x40, name: 'thermal slowdown (hardware)', isSlowdown: true },
  { bit: 0x80, name: 'power brake', isSlowdown: true },
  { bit: 0x100, name: 'display clock setting', isSlowdown: false },
];

const has = (mask: number, { bit }: EventReason): boolean => Math.floor(mask / bit) % 2 === 1;

/** Names of the slowdowns in any of the masks. */
export const slowdowns = (masks: readonly number[]): string[] =>
  REASONS.filter((reason) => reason.isSlowdown && masks.some((mask) => has(mask, reason))).map(({ name }) => name);

/** Selects the names that are slowdowns. */
export const slowdownsAmong = (names: Iterable<string>): string[] => {
  const seen = new Set(names);
  return REASONS.filter(({ name, isSlowdown }) => isSlowdown && seen.has(name)).map(({ name }) => name);
};

export const isIdle = (mask: number): boolean => has(mask, IDLE);

/** Names of all reasons in a mask; reasons of newer drivers appear as bits. */
export function eventReasons(mask: number): string[] {
  const known = REASONS.filter((reason) => has(mask, reason));
  const rest = known.reduce((left, { bit }) => left - bit, mask);
  return [...known.map(({ name }) => name), ...(rest > 0 ? [`0x${rest.toString(16)}`] : [])];
}
