/** The metrics that are measured of every program, each described once, in the order of reports. */
import type { Direction, Measured } from '../../metrics/core/metric.js';
import { median } from '../../stats/median.js';
import { type CheckpointTurn, readTurns } from '../checkpoint/checkpoint-turn.js';
import type { MeasuredRun } from '../program/measured-run.js';
import type { Workload } from '../workload-type.js';
import type { Kind } from './metric-kind.js';
import type { Reading } from './reading.js';
import { meanParts, meanReasons } from './throttling.js';

interface ProgramMetric extends Kind {
  direction: Direction;
  /** What it is, for the table in docs/exec.md. */
  about: string;
  /** Whether a workload has it; all have it if this is missing. */
  isOf?: (workload: Workload) => boolean;
  /** Whether a run without the number is no failure of the program. */
  isOptional?: true;
  /** In a scene: `compared` with the victim alone, measured only `beside` the others, or `none`. */
  inScene: 'compared' | 'beside' | 'none';
}

const known = (value: number | null | undefined, missing: string): Reading =>
  value === null || value === undefined ? { missing } : { value };

/** Nobody counts what a program used that a daemon started, or that a restore made anew. */
const NOT_BELOW = 'its processes were not below the client of its container runtime, so what they used is not known';

/** `counter` of NVML, or integrated `power`. */
const sourcesOf = (runs: readonly MeasuredRun[]): string[] => [
  ...new Set(runs.flatMap(({ gpu: { seen } }) => ('by' in seen.energy ? [seen.energy.by] : []))),
];

const isCheckpointed = ({ checkpoint }: Workload): boolean => checkpoint !== undefined;
const IN_COMMAND =
  'podman checkpoints and restores a container by one command each, which does not say how long this part took';
const NOT_LISTED = 'NVML listed no process of the program with memory';

/** The median over a run's checkpoints. */
const ofTurns = (of: (turn: CheckpointTurn) => number | null, without = 'it was not checkpointed') => ({
  delta: { relative: 0.05 },
  isOf: isCheckpointed,
  inScene: 'none' as const,
  of: (run: MeasuredRun) => readTurns(run, of, without, (values) => median(values).value),
});

/**
 * δ as for the metrics of this tool: 2 %, and 5 % where the host's scheduler decides. In a scene times are compared, because
 * the other metrics hardly depend on neighbours, or not by a ratio.
 */
const table = {
  wall: {
    name: 'wall time',
    unit: 's',
    direction: 'lower',
    question: 'How long does the program run, from just before its fork to its end?',
    about: "from just before the program's fork to the end of its first process; a program that is stopped has none",
    delta: { relative: 0.02 },
    isOf: ({ stopAfterSeconds }) => stopAfterSeconds === null,
    inScene: 'compared',
    of: ({ wallSeconds }) => known(wallSeconds, 'it was stopped'),
  },
  ready: {
    name: 'time to ready',
    unit: 's',
    direction: 'lower',
    question: 'How long does the program take until it can serve?',
    about: 'until the program can serve (`ready`)',
    delta: { relative: 0.05 },
    isOf: ({ ready }) => ready !== null,
    inScene: 'compared',
    of: ({ readySeconds }) => known(readySeconds, 'it never was ready'),
  },
  'checkpoint-lock': {
    name: 'lock time',
    unit: 's',
    direction: 'lower',
    question: 'How long does the driver take to stop the GPU work of all its processes for a checkpoint?',
    about: 'time of the lock calls of a checkpoint, over all its processes',
    ...ofTurns(({ lockSeconds }) => lockSeconds, IN_COMMAND),
  },
  'checkpoint-time': {
    name: 'checkpoint time',
    unit: 's',
    direction: 'lower',
    question: 'How long does the driver take to move the GPU state of all its processes to the host?',
    about: 'time of the checkpoint calls, over all its processes; in a container, of `podman container checkpoint`',
    ...ofTurns(({ checkpointSeconds }) => checkpointSeconds),
  },
  'checkpoint-freed': {
    name: 'GPU memory given back by a checkpoint',
    unit: 'bytes',
    direction: 'higher',
    question: 'How much memory of the GPU has the program less while it is checkpointed?',
    about: "memory of its processes in NVML's list before a checkpoint, less that in it",
    ...ofTurns(({ freedBytes }) => freedBytes, NOT_LISTED),
  },
  'restore-time': {
    name: 'restore time',
    unit: 's',
    direction: 'lower',
    question: 'How long does the driver take to move the GPU state of all its processes back?',
    about: 'time of the restore calls, over all its processes; in a container, of `podman container restore`',
    ...ofTurns(({ restoreSeconds }) => restoreSeconds),
  },
  'restore-unlock': {
    name: 'unlock time',
    unit: 's',
    direction: 'lower',
    question: 'How long does the driver take to let all its processes go on after a restore?',
    about: 'time of the unlock calls after a restore, over all its processes',
    ...ofTurns(({ unlockSeconds }) => unlockSeconds, IN_COMMAND),
  },
  'restore-answer': {
    name: 'first answer after a restore',
    unit: 's',
    direction: 'lower',
    question: 'How long after the begin of a restore does the program answer again?',
    about: 'from the begin of a restore to the first answer (`checkpoint.answer`)',
    ...ofTurns(({ answerSeconds }) => answerSeconds),
    isOf: ({ checkpoint }) => (checkpoint?.answer ?? null) !== null,
  },
  cpu: {
    name: 'CPU time',
    unit: 's',
    direction: 'lower',
    question: 'How much processor time do all its processes use together, in user and kernel mode?',
    about: 'user and kernel time of all its processes together, also of daemons that it started',
    delta: { relative: 0.05 },
    isOptional: true,
    inScene: 'beside',
    of: ({ used }) => known(used && (used.cpuUserUs + used.cpuSystemUs) / 1e6, NOT_BELOW),
  },
  'host-memory': {
    name: 'peak host memory',
    unit: 'bytes',
    direction: 'lower',
    question: 'How much memory of the host do its processes hold at one time?',
    about:
      'the larger of two: the peak of its largest process, as the kernel counts it, and the largest sum of resident memory over all its processes, read every 100 ms. Pages that processes share count in each of them',
    delta: { relative: 0.02 },
    isOptional: true,
    inScene: 'beside',
    of: ({ used, watched }) => known(used && Math.max(used.largestProcessBytes, watched.residentBytes ?? 0), NOT_BELOW),
  },
  'gpu-memory': {
    name: 'peak GPU memory',
    unit: 'bytes',
    direction: 'lower',
    question: 'How much memory of the GPU do its processes hold at one time?',
    about: "the largest sum over its processes in NVML's list, in the samples of the monitor",
    delta: { relative: 0.02 },
    isOptional: true,
    inScene: 'beside',
    // A client of MPS that has just come is listed with 0 bytes.
    of: ({ gpu }) => known(gpu.seen.programBytes || null, NOT_LISTED),
  },
  energy: {
    name: 'energy of the GPU',
    unit: 'J',
    direction: 'lower',
    question: 'How much energy does the whole GPU use while the program runs?',
    about:
      "energy of the whole GPU during the run, if it takes at least 2 s: from NVML's energy counter, or from the power if there is no counter (`details.by`)",
    delta: { relative: 0.05 },
    isOptional: true,
    // NVML gives the power of the whole GPU, which is that of all tenants together.
    inScene: 'none',
    of: ({ gpu: { seen } }) => ('joules' in seen.energy ? { value: seen.energy.joules } : seen.energy),
    details: (runs) => ({ by: sourcesOf(runs) }),
  },
  'gpu-throttled': {
    name: 'throttled time of the GPU',
    unit: '%',
    direction: 'lower',
    question: 'For how much of the run does the GPU lower its clocks for heat or power?',
    about:
      'part of the run in which NVML named a reason to lower the clocks (power cap, thermal or hardware slowdown, power brake), if the run takes at least 2 s. `details.reasons` has it by reason, `details.parts` power, temperature, clock and throttling in each tenth of the run: a GPU that heats up shows it in the later ones',
    delta: { absolute: 5 },
    isOptional: true,
    inScene: 'none',
    of: ({ gpu: { seen } }) =>
      'percent' in seen.throttling ? { value: seen.throttling.percent } : { missing: seen.throttling.missing },
    details: (runs): Measured['details'] => {
      const all = runs.map(({ gpu }) => gpu.seen.throttling);
      return { reasons: meanReasons(all), parts: meanParts(all) };
    },
  },
} satisfies Record<string, ProgramMetric>;

type ProgramKey = keyof typeof table;
export const programMetrics: Readonly<Record<ProgramKey, ProgramMetric>> = table;
export const programKeys = Object.keys(table) as ProgramKey[];

/** Those that a workload has. */
export const programKeysOf = (workload: Workload): ProgramKey[] =>
  programKeys.filter((key) => programMetrics[key].isOf?.(workload) ?? true);
