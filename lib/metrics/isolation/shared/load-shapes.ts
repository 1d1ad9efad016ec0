/** The shapes of load for testing compute limits: limiters treat them differently. */
import type { LoadRequest } from '../../../native/addon-types.js';

type Launching = Pick<
  LoadRequest,
  'call' | 'nodes' | 'blocksPerMultiprocessor' | 'blocks' | 'threadsPerBlock' | 'kernelNs' | 'inFlight'
>;

export interface Shape {
  name: string;
  request: Launching;
  /** Whether a kernel is as long as the load. */
  lasts?: boolean;
}

const MS = 1_000_000;

/** Kernels of 1 ms that fill the tenant's visible multiprocessors with one wave of blocks, several in flight. */
const FULL: Launching = {
  call: 'cuLaunchKernel',
  nodes: 1,
  blocksPerMultiprocessor: 0,
  blocks: 0,
  threadsPerBlock: 0,
  kernelNs: MS,
  inFlight: 8,
};

const shape = (name: string, request: Partial<Launching> = {}): Shape => ({ name, request: { ...FULL, ...request } });

export const BACK_TO_BACK = shape('kernels back to back');
/**
 * 20 blocks per multiprocessor, of which one or two run at a time. Limiters that count blocks grant a process millions
 * of them before they act, and oscillate for seconds afterwards.
 */
export const MANY_WAVES = shape('kernels of many waves', { blocksPerMultiprocessor: 20 });
const MANY_BLOCKS = shape('many small blocks', { blocksPerMultiprocessor: 1_000 });
const GRAPH = shape('graph of 1 kernel', { call: 'cuGraphLaunch' });
const LONG_GRAPH = shape('graph of 100 kernels', {
  call: 'cuGraphLaunch',
  nodes: 100,
  kernelNs: MS / 10,
  inFlight: 2,
});
const COOPERATIVE = shape('cooperative kernels', { call: 'cuLaunchCooperativeKernel' });
export const SHAPES: readonly Shape[] = [
  shape('one kernel, then a wait', { inFlight: 1 }),
  shape('small kernels', { blocksPerMultiprocessor: 1, threadsPerBlock: 256, kernelNs: MS / 20, inFlight: 32 }),
  MANY_WAVES,
  MANY_BLOCKS,
  GRAPH,
  LONG_GRAPH,
  COOPERATIVE,
];

/** Like BACK_TO_BACK, with another length. */
export const ofLength = (kernelMs: number): Shape =>
  shape(`kernels of ${kernelMs} ms`, { kernelNs: kernelMs * MS, inFlight: kernelMs >= 100 ? 2 : 8 });

/** One shape per launch path, named as in the table of IS-012. */
export const LAUNCH_PATHS: readonly Shape[] = [
  BACK_TO_BACK,
  shape('cuLaunchKernelEx', { call: 'cuLaunchKernelEx' }),
  COOPERATIVE,
  GRAPH,
  LONG_GRAPH,
  shape('cuLaunchKernel, per-thread default stream', { call: 'cuLaunchKernel_ptsz' }),
  shape('graph, per-thread default stream', { call: 'cuGraphLaunch_ptsz' }),
  { ...shape('one long kernel', { inFlight: 1 }), lasts: true },
  shape('one block, long kernels', { blocks: 1, kernelNs: 10 * MS }),
  MANY_BLOCKS,
];
