/** Writes docs/drivers.md from the functions of the driver and NVML, and from what is lost without each of them. */
import { functionCosts } from '../../lib/native/function-costs.js';
import { driverBranches, functionNames, newerFunctions } from '../../lib/native/function-names.js';
import { lostWithout } from '../../lib/systems/proof/missing-functions.js';
import { cudaVersion } from '../../lib/results/text/cuda-version.js';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const lost = (name: string): string => lostWithout(functionCosts[name] ?? {});

/** Names with the same text share a row. */
function grouped(names: readonly string[], textOf: (name: string) => string): [string[], string][] {
  const rows = new Map<string, string[]>();
  for (const name of names) rows.set(textOf(name), [...(rows.get(textOf(name)) ?? []), name]);
  return [...rows].map(([text, its]) => [its, text]);
}

const branches = driverBranches.flatMap(([branch, version], i) => {
  const [, before = 0] = driverBranches[i - 1] ?? [];
  const brought = functionNames.filter((name) => {
    const since = newerFunctions[name] ?? 0;
    return since > before && since <= version;
  });
  const shown = [branch, cudaVersion(version)];
  if (i === 0) return [[...shown, 'every other function', '–']];
  if (brought.length === 0) return [[...shown, '–', '–']];
  return grouped(brought, lost).map(([names, text]) => [...shown, code(names), text]);
});

const withCost = functionNames.filter((name) => functionCosts[name] !== undefined);
const free = functionNames.filter((name) => functionCosts[name] === undefined);
const newer = Object.keys(newerFunctions).length;

export const page = `# Drivers

gpu-virt-bench calls ${functionNames.length} functions of the CUDA driver and of NVML; ${newer} of them are newer than driver 525. A driver may be
too old for a function, and a layer may hide one. Then only what needs it is lost: a metric, or a row of one, is \`unsupported\` and
names the function and what to do. \`gpu-virt-bench doctor\` lists the functions that are missing here, and what each costs.

A test hides each function from the metrics that call it, on two simulated GPUs, and compares what is lost with this page
(\`GVB_SIM=hide=NAME+NAME\` hides functions, \`GVB_SIM=driver=525\` those newer than that driver). Metrics that need a limit or a
native system beside it are not part of that test.

## What each driver brought

With an older driver, what is in the last column is lost. What else its compiler does not take is in [Cards](cards.md#drivers-that-do-not-compile-a-kernel).

${table(['Driver', 'CUDA', 'Functions', 'Lost without them'], branches)}

## Checkpoints

From driver 570 on, a process can move another's GPU memory to the host and back (\`cuCheckpointProcess…\`). \`doctor\` tries it: a
process of its own holds 1 MiB, is locked and checkpointed, and has to leave NVML's list. It is not restored, and then ends. Where
that fails, \`doctor\` says which call returned what. Known causes:

| Call and code | Cause |
| --- | --- |
| lock, 801 | the process is a client of MPS |
| checkpoint, 801 | managed memory; on arm64 a driver before 595 |
| checkpoint, 2 | a MIG instance, or too little memory on the host |
| any, 304 | there is no such process, or this one may not trace it (\`kernel.yama.ptrace_scope\`, SYS_PTRACE) |
| any, 800 | the same, or persistence mode is off |

Without \`GetState\`, \`Lock\`, \`Checkpoint\`, \`Restore\` or \`Unlock\` every CKPT metric, \`swap\` and checkpoints of \`exec\` are refused
before a process is locked: it could not go on, or end, without the others. Only \`exec\` needs \`GetRestoreThreadId\`.

## What is lost without a function

${table(
  ['Functions', 'Lost'],
  grouped(withCost, lost).map(([names, text]) => [code(names), text]),
)}

Without the other ${free.length} functions every metric has its number. Some are only needed to tidy up, others give readings of the GPU's state:
\`monitor\` says which of its columns stay empty, and results which of their checks were not made.
`;
