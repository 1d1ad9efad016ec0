/**
 * Memory limits by `nvidia-smi memory-limits` of driver R615, which keeps them in the kernel's controller dmem or, without one,
 * itself, and reserves soft ones in the cgroups above too. Source: the MPS documentation for R620 ("MPS v3 Memory Partitioning").
 */
import { inWords } from '../../../config/size.js';
import type { Finding } from '../../proof/proof-finding.js';
import { NotActive } from '../../proof/not-active.js';
import { inPath } from '../../input/in-path.js';
import { runCommand } from '../../process/command.js';
import { knowsCommand } from './knows-command.js';
import { LEAVE_ALONE, type LimitSetter, type MemoryLimits } from './tenant-group.js';

const MIB = 2 ** 20;
/** NVIDIA's example sets 4000 MiB and reads 4096. */
const ROUNDING = 0.05;

/** The nvidia-smi of that PATH if it sets memory limits. */
export function smiWithLimits(path: string): string | null {
  const program = inPath('nvidia-smi', path);
  return program !== null && knowsCommand(program, 'memory-limits') ? program : null;
}

const mib = (bytes: number): string => `${Math.floor(bytes / MIB)}`;

/** `hard limit: 8192 MiB`, in bytes; infinite for `max`, null if there is none. */
function bytesOf(name: string, output: string): number | null {
  const text = new RegExp(String.raw`^\s*${name}\s*:\s*(\d+|max)\b`, 'im').exec(output)?.[1];
  if (text === undefined) return null;
  return text === 'max' ? Infinity : Number(text) * MIB;
}

const sizeText = (bytes: number | null): string =>
  bytes === null ? 'none' : bytes === Infinity ? 'max' : inWords(bytes);

function limitFinding(name: string, output: string, wanted: number): Finding {
  const seen = bytesOf(name, output);
  return {
    proof: `${name} that the driver reports`,
    passed: seen !== null && Math.abs(seen - wanted) <= ROUNDING * wanted,
    detail: `${sizeText(seen)}, ${inWords(wanted)} was set`,
    advice: LEAVE_ALONE,
  };
}

/** Whether the driver has these limits, and whether it counts the group's memory. */
function findingsIn(output: string, { hard, soft }: MemoryLimits): Finding[] {
  const used = bytesOf('current used', output);
  return [
    limitFinding('hard limit', output, hard),
    ...(soft === undefined ? [] : [limitFinding('soft limit', output, soft)]),
    {
      proof: "memory that the driver counts in the tenant's cgroup",
      // What a client has before its first allocation may be counted elsewhere.
      passed: used !== null && used > 0 ? true : null,
      detail: sizeText(used),
    },
  ];
}

/** `path`: the program's PATH; `gpu`: its UUID. */
export function driverLimits(program: string, path: string, gpu: string): LimitSetter {
  /** `failure`: what went wrong; null: nothing. */
  const smi = async (folder: string, ...action: string[]): Promise<{ output: string; failure: string | null }> => {
    // The command comes before all options.
    const argv = [program, 'memory-limits', ...action, '-n', folder, '-i', gpu];
    const { exit, how, output } = await runCommand(argv, { environment: { PATH: path }, cwd: '/' });
    const failure = exit === 0 ? null : `${argv.join(' ')} ${how}: ${output.trim() || 'no output'}`;
    return { output, failure };
  };
  const set = async (folder: string, soft: string, hard: string): Promise<string | null> =>
    (await smi(folder, '--set', '--soft-limit', soft, '--hard-limit', hard)).failure;
  return {
    async set(folder, { hard, soft = 0 }) {
      const failure = await set(folder, mib(soft), mib(hard));
      if (failure !== null) throw new NotActive(failure);
    },
    async findings(folder, limits) {
      const { output, failure } = await smi(folder, '--get');
      if (failure === null) return findingsIn(output, limits);
      return [{ proof: 'limits that the driver reports', passed: false, detail: failure, advice: LEAVE_ALONE }];
    },
    clear: (folder) => set(folder, '0', 'max'),
  };
}
