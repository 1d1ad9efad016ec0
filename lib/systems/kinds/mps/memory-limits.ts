/**
 * Memory limits by `nvidia-smi memory-limits` of driver R615, which keeps them in the kernel's controller dmem or, without one,
 * itself, and reserves soft ones in the cgroups above too. Source: the MPS documentation for R620 ("MPS v3 Memory Partitioning").
 */
import { readFileSync } from 'node:fs';
import { inWords } from '../../../config/size.js';
import { BenchError } from '../../../errors/bench-error.js';
import type { Finding } from '../../proof/proof-finding.js';
import { NotActive } from '../../proof/not-active.js';
import { inPath } from '../../input/in-path.js';
import { runCommand } from '../../process/command.js';
import { LEAVE_ALONE, type LimitSetter, type MemoryLimits } from './tenant-group.js';

const MIB = 2 ** 20;
/** NVIDIA's example sets 4000 MiB and reads 4096. */
const ROUNDING = 0.05;

/** The nvidia-smi of that PATH if it sets memory limits: an older one does not contain the command's name as text. */
export function smiWithLimits(path: string): string | null {
  const program = inPath('nvidia-smi', path);
  try {
    return program !== null && readFileSync(program).includes('memory-limits') ? program : null;
  } catch {
    return null;
  }
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
  const smi = async (folder: string, action: readonly string[]): Promise<string> => {
    // The command comes before all options.
    const argv = [program, 'memory-limits', ...action, '-n', folder, '-i', gpu];
    const { exit, how, output } = await runCommand(argv, { environment: { PATH: path }, cwd: '/' });
    if (exit !== 0) throw new BenchError('SYSTEM', `${argv.join(' ')} ${how}: ${output.trim() || 'no output'}`);
    return output;
  };
  const set = async (folder: string, soft: string, hard: string): Promise<void> => {
    await smi(folder, ['--set', '--soft-limit', soft, '--hard-limit', hard]);
  };
  return {
    async set(folder, { hard, soft = 0 }) {
      try {
        await set(folder, mib(soft), mib(hard));
      } catch (error) {
        if (error instanceof BenchError) throw new NotActive(error.message);
        throw error;
      }
    },
    async findings(folder, limits) {
      try {
        return findingsIn(await smi(folder, ['--get']), limits);
      } catch (error) {
        if (!(error instanceof BenchError)) throw error;
        return [{ proof: 'limits that the driver reports', passed: false, detail: error.message, advice: LEAVE_ALONE }];
      }
    },
    // A soft limit stays reserved in the cgroups above a group that is removed with it.
    async clear(folder, { soft }) {
      if (soft !== undefined) await set(folder, '0', 'max');
    },
  };
}
