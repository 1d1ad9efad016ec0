/**
 * What MPS of driver R615 adds, asked of its programs: version numbers of driver, CUDA and programs differ. Sources: the
 * MPS documentation for R620, and NVIDIA's guide to limits per GPU.
 */
import { inPath } from '../../input/in-path.js';
import { runCommand } from '../../process/command.js';
import { whyNoDmem as whyNoneIn } from './dmem.js';

export const MPS_CONTROL = 'nvidia-cuda-mps-control';
/** Where systemd and container runtimes mount cgroup v2. */
export const CGROUPS = '/sys/fs/cgroup';

const HELP_MS = 10_000;

export interface MpsFeatures {
  /** Whether the control program has the commands of protocol 3; null: it is not in PATH. */
  protocol3: boolean | null;
  /** Whether nvidia-smi sets memory limits of cgroups; null: it is not in PATH. */
  memoryLimits: boolean | null;
  /** Why the kernel enforces no memory limits of cgroups; null: it does. */
  whyNoDmem: string | null;
}

/** The help of a program that may be older than what it is asked about; null: it is not in PATH; empty: it knows no such help. */
async function help(name: string, options: readonly string[], path: string): Promise<string | null> {
  const program = inPath(name, path);
  if (program === null) return null;
  // No daemon of others is asked.
  const environment = { PATH: path, CUDA_MPS_PIPE_DIRECTORY: '/nonexistent' };
  const { exit, output } = await runCommand([program, ...options, '-h'], { environment, cwd: '/', timeoutMs: HELP_MS });
  return exit === 0 ? output : '';
}

const names = (text: string | null, ...words: string[]): boolean | null =>
  text === null ? null : words.every((word) => new RegExp(`\\b${word}\\b`).test(text));

export async function mpsFeatures(path: string, cgroups = CGROUPS): Promise<MpsFeatures> {
  const [control, smi] = await Promise.all([
    help(MPS_CONTROL, ['-p', '3'], path),
    help('nvidia-smi', ['memory-limits'], path),
  ]);
  return {
    protocol3: names(control, 'server', 'namespace'),
    memoryLimits: names(smi, 'memory-limits'),
    whyNoDmem: whyNoneIn(cgroups),
  };
}

/** Those that are there, for the identity of a system; null: none. */
export function featureText({ protocol3, memoryLimits, whyNoDmem }: MpsFeatures): string | null {
  const found = [
    ...(protocol3 === true ? ['protocol 3'] : []),
    ...(memoryLimits === true ? ['nvidia-smi memory-limits'] : []),
    ...(whyNoDmem === null ? ['dmem'] : []),
  ];
  return found.length === 0 ? null : found.join(', ');
}
