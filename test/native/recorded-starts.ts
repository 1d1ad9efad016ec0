/** The steps of starts in fresh processes, from the simulated driver's record. */
import { durationOf, type Recorded, type RecordedCall } from './record.js';
import type { Truth } from './recovered.js';

/**
 * The loop's own cost between calls in a fresh process, in readings of the clock: pages, caches and branches that were
 * not used before. Seen: up to 11 us in a whole start on an idle machine, 36 us in a module load beside two busy loops.
 */
export const COLD_READINGS = 4_000;

/**
 * How many of the processes may be interrupted on a busy machine outside the recorded calls: potentially all, because
 * they begin with cold caches and have just slept in the driver.
 */
export const interruptedOf = (processes: number): number => Math.max(1, Math.floor(processes / 6));

export interface RecordedStart {
  recorded: Recorded;
  /** Duration of each step in ns. */
  stepsNs: { init: number; context: number; module: number; firstAlloc: number };
  totalNs: number;
  /** When cuInit was called, and when the first result was available. */
  initAt: number;
  resultAt: number;
  /** Time to create every context after the first, in ns. */
  recreatedNs: number[];
}

const KERNEL = 'gvb_mix';
const CONTEXT = { primary: 'cuDevicePrimaryCtxRetain', created: 'cuCtxCreate_v2' };

/** When the kernel of a loaded module is available: it is looked up by a separate call. */
export function loadedAt(recorded: Recorded, load: RecordedCall): number {
  const next = recorded.calls.find(({ entered, thread }) => thread === load.thread && entered > load.left);
  return next?.name === 'cuModuleGetFunction' ? next.left : load.left;
}

/** Null for a process that did not start as OH-004 and START-001 time it, with a context of the given kind. */
export function startOf(recorded: Recorded, kind: keyof typeof CONTEXT): RecordedStart | null {
  const first = (name: string): RecordedCall | undefined => recorded.named(name)[0];
  const launches = recorded.named('cuLaunchKernel').filter(({ kernel }) => kernel === KERNEL);
  const contexts = recorded.named(CONTEXT[kind]);
  const [init, context] = [first('cuInit'), contexts[0]];
  const module = first('cuModuleLoadDataEx') ?? first('cuModuleLoadData');
  const alloc = recorded.named('cuMemAlloc_v2').find(({ entered }) => entered > (module?.left ?? Infinity));
  const result = recorded.named('cuMemcpyDtoH_v2').find(({ entered }) => entered > (alloc?.left ?? Infinity));
  if (launches.length !== 2 || !init || !context || !module || !alloc || !result) return null;
  const device = recorded.named('cuDeviceGet').findLast(({ entered }) => entered < context.entered);
  // A primary context is entered by a separate call.
  const entering = recorded.named('cuCtxSetCurrent').find(({ entered }) => entered > context.left);
  const inContext = entering && entering.left < module.entered ? entering.left : context.left;
  const stepsNs = {
    init: durationOf(init),
    context: inContext - context.entered,
    module: loadedAt(recorded, module) - module.entered,
    firstAlloc: durationOf(alloc),
  };
  // Other, untimed calls precede the device's step and separate the steps of device, context and module.
  const deviceNs = device ? durationOf(device) : 0;
  const totalNs = stepsNs.init + deviceNs + stepsNs.context + (result.left - module.entered);
  const [initAt, resultAt] = [init.entered, result.left];
  return { recorded, stepsNs, totalNs, initAt, resultAt, recreatedNs: contexts.slice(1).map(durationOf) };
}

/** `unitNs`: unit of the estimate. */
export function truthOfStarts(
  starts: readonly RecordedStart[],
  valuesOf: (start: RecordedStart) => number | number[],
  unitNs: number,
): Truth {
  const { recorded } = starts[0] as RecordedStart;
  const values = starts.flatMap(valuesOf);
  const moreNs = COLD_READINGS * recorded.readingNs;
  return recorded.truthOfSameCalls(values, { moreNs, unitNs }, interruptedOf(values.length));
}
