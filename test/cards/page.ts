/** Writes docs/cards.md from what the tests of cards expect. */
import { CARDS, ON_CARDS, WITHOUT_LIMITS } from './expected.js';

const row = (cells: readonly (number | string)[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly (number | string)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

const settings = (sim: string): string => `\`${sim}\``;

const cards = table(
  [
    'GPU',
    '`GVB_SIM`',
    'Compute capability',
    'Multiprocessors',
    'Memory, MiB',
    'Threads each',
    'Shared memory of a block, KiB',
  ],
  CARDS.map(({ sim, product, computeCapability, multiprocessors, memoryMib, threads, sharedKib }) => [
    product,
    settings(sim),
    computeCapability,
    multiprocessors,
    memoryMib,
    threads,
    sharedKib,
  ]),
);

/** Metrics with the same reason share a row. */
function byReason(reasons: Readonly<Record<string, string>>): [string, string][] {
  const rows = new Map<string, string[]>();
  for (const [id, reason] of Object.entries(reasons)) rows.set(reason, [...(rows.get(reason) ?? []), id]);
  return [...rows].map(([reason, ids]) => [ids.join(', '), reason.replace(/[:. ]+$/, '')]);
}

const onCards = Object.entries(ON_CARDS).flatMap(([sim, reasons]) =>
  byReason(reasons).map(([ids, reason]) => [settings(sim), ids, reason]),
);

export const page = `# Cards

The simulated GPU can be one of these cards, with their figures, limits and MIG profiles
(\`GVB_SIM=card=l4 npx gpu-virt-bench run --simulate\`). A test measures every metric on every one of them: it has a number, or
it is \`unsupported\` with the reason below. This page is written from what they expect. It says nothing of a real card's speed.

${cards}

## Unsupported on every single GPU without a layer

${table(['Metrics', 'Reason'], byReason(WITHOUT_LIMITS))}

## Unsupported on some cards

${table(['`GVB_SIM`', 'Metrics', 'Reason'], onCards)}

LLM-008 has no row of FP8 below compute capability 8.9, or with a driver older than 550 (CUDA 12.4) where it is 8.9, 10.0 or
higher: the row then says so, and the other formats have numbers.

## Drivers that do not compile a kernel

A metric, or a row of one, whose kernel the driver cannot compile is \`unsupported\` and says what to do. Others are measured.

| Code | Why | What to do |
| --- | --- | --- |
| 222 | the PTX is newer than the driver | install the driver that the reason names |
| 221 | the library that compiles PTX, libnvidia-ptxjitcompiler.so.1, is missing | give the container the capability \`compute\`, or install the library |
| 223 | CUDA_DISABLE_PTX_JIT is set | unset it |
| 209, 218 | the GPU is older than the kernel | use a GPU of that compute capability |
`;
