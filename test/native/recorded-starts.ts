/** The steps of starts in fresh processes, as the simulated driver recorded them. */
import { durationOf, type Recorded, type RecordedCall } from './record.js';
import type { Truth } from './recovered.js';

/**
 * The loop's own cost between calls in a fresh process, in readings of the clock: pages, caches and branches that were not
 * used before. Seen: up to 11 us in a whole start on an idle machine, 36 us in a module load beside two busy loops.
 */
export const COLD_READINGS = 4_000;

export interface RecordedStart {
  recorded: Recorded;
  /** By step, in ns. */
  stepsNs: { init: number; context: number; module: number; firstAlloc: number };
  totalNs: number;
  /** When cuInit was called, and when the first result was there. */
  initAt: number;
  resultAt: number;
  /** Of every context after the first. */
  recreatedNs: number[];
}

const KERNEL = 'gvb_mix';
const CONTEXT = { primary: 'cuDevicePrimaryCtxRetain', created: 'cuCtxCreate_v2' };

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
  const stepsNs = {
    init: durationOf(init),
    context: durationOf(context),
    module: durationOf(module),
    firstAlloc: durationOf(alloc),
  };
  // Between context and module the process looks at its open files, off the clock.
  const totalNs = stepsNs.init + stepsNs.context + (result.left - module.entered);
  const [initAt, resultAt] = [init.entered, result.left];
  return { recorded, stepsNs, totalNs, initAt, resultAt, recreatedNs: contexts.slice(1).map(durationOf) };
}

/** `unitNs`: of the estimate. */
export function truthOfStarts(
  starts: readonly RecordedStart[],
  valuesOf: (start: RecordedStart) => number | number[],
  unitNs: number,
): Truth {
  const { recorded } = starts[0] as RecordedStart;
  const values = starts.flatMap(valuesOf);
  const moreNs = COLD_READINGS * recorded.readingNs;
  return recorded.truthOfSameCalls(values, { moreNs, unitNs });
}
