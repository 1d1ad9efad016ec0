/** Results of every isolation metric whose details have a chart or a table, as the metrics write them. */
import type { ComparisonDocument, MetricResult, OkResult, RunDocument } from '../../../lib/results/document.js';
import { result, runDocument } from '../run/fixtures.js';

const GIB = 2 ** 30;

/** How a system of the fixture behaves. */
interface Behaviour {
  name: string;
  /** How much `cuMemAllocManaged` gets beyond the memory limit. */
  leak: number;
  /** How much of the compute limit it achieves. */
  share: number;
  /** The cost of a neighbour in per cent. */
  loss: number;
}

export const behaviours: readonly Behaviour[] = [
  { name: 'hami-core', leak: 1.9, share: 1.8, loss: 40 },
  { name: 'vgpu-manager', leak: 1, share: 1.1, loss: 30 },
  { name: 'mps', leak: 1, share: 1, loss: 12 },
];

/** Deterministic, around 0. */
const ripple = (i: number): number => 4 * Math.sin(i * 1.7) + 2 * Math.sin(i * 0.3);

const bins = (percent: number, count = 60): number[] =>
  Array.from({ length: count }, (_, i) => Math.max(0, percent * (1 + 0.8 * Math.exp(-i / 6)) + ripple(i)));

const ofIsolation = (id: string, name: string, details: Record<string, unknown>): OkResult =>
  result(id, { name, category: 'isolation', unit: '%', value: 3, ci95: [2, 4], details });

const memoryPaths = ({ leak }: Behaviour) => ({
  paths: [
    { path: 'cuMemAlloc', outcome: 'enforced', grantedBytes: 19.5 * GIB, limitBytes: 20 * GIB, code: '2' },
    leak > 1
      ? { path: 'cuMemAllocManaged', outcome: 'leaks', grantedBytes: leak * 20 * GIB, limitBytes: 20 * GIB }
      : { path: 'cuMemAllocManaged', outcome: 'enforced', grantedBytes: 19 * GIB, limitBytes: 20 * GIB },
    { path: 'cuMemCreate', outcome: 'wrong error', grantedBytes: 20 * GIB, limitBytes: 20 * GIB, code: '1' },
    {
      ...{ path: 'cuMemAllocFromPoolAsync', outcome: 'unsupported', grantedBytes: null, limitBytes: 20 * GIB },
      reason: 'no memory pools',
    },
  ],
});

const shapes = ['one big kernel + sync', 'back-to-back', 'stream of small kernels'];

function computeLimit({ share }: Behaviour) {
  const rows = [30, 70].flatMap((smPercent) =>
    shapes.map((shape, i) => ({ smPercent, shape, kernelMs: [7.5, 1, 0.1][i], achieved: smPercent * share ** i })),
  );
  return {
    limits: rows.map(({ achieved, ...row }) => ({
      ...row,
      achievedPercent: Math.min(100, achieved),
      mechanism: { name: 'token bucket', evidence: 'idle gaps of 10 ms' },
    })),
    shares: rows.map(({ smPercent, shape, achieved }) => ({
      ...{ name: shape, limitPercent: smPercent, binMs: 100 },
      percent: bins(Math.min(100, achieved), 200),
    })),
  };
}

const tenants = ({ share }: Behaviour) => ({
  shares: [20, 30, 50].map((limitPercent, i) => ({
    name: `tenant ${i + 1}`,
    limitPercent,
    binMs: 100,
    percent: bins(limitPercent * share),
  })),
});

const launchPaths = ({ share }: Behaviour) => ({
  paths: [
    { path: 'cuLaunchKernel', outcome: 'throttled', achievedPercent: 30 * share, limitPercent: 30 },
    { path: 'cuGraphLaunch', outcome: 'not throttled', achievedPercent: 99, limitPercent: 30 },
    {
      ...{ path: 'cuLaunchCooperativeKernel', outcome: 'unsupported', achievedPercent: null, limitPercent: 30 },
      reason: 'the device has no cooperative launch',
    },
  ],
});

const surfaces = ({ leak }: Behaviour) => ({
  surfaces: ['global memory, cuMemAlloc', 'shared memory', 'registers'].flatMap((surface, i) =>
    ['process exit', 'SIGKILL'].map((transition, t) => ({
      surface,
      transition,
      control: i === 2 && t === 1 ? 'failed' : 'passed',
      outcome: i === 1 && leak > 1 ? 'leaks' : i === 2 && t === 0 ? 'unexplained' : 'clean',
      bytes: i === 1 && leak > 1 ? 49152 : i === 2 ? 16 : 0,
    })),
  ),
});

const victims = ['GEMM', 'copy', 'launch latency'];
const aggressors = ['compute', 'L2 sweep', 'DRAM', 'PCIe', 'launch storm', 'alloc storm'];

const interference = ({ loss }: Behaviour, round: number) => ({
  interference: victims.flatMap((victim, v) =>
    aggressors.map((aggressor, a) => ({
      victim,
      aggressor,
      ...(v === 1 && a === 3
        ? { degradationPercent: null, reason: 'the aggressor made no progress' }
        : { degradationPercent: Math.min(98, (loss * (1 + a)) / (1 + v)) + round - (a === 0 ? loss : 0) }),
    })),
  ),
});

const faults = ({ leak }: Behaviour) => ({
  faults: [
    ['out-of-bounds store', 'CUDA_ERROR_ILLEGAL_ADDRESS', [31]],
    ['misaligned access', 'CUDA_ERROR_MISALIGNED_ADDRESS', [13]],
    ['endless kernel, SIGKILL', 'none', []],
  ].map(([fault, expectedCode, xids], i) => ({
    fault,
    expectedCode,
    code: i === 2 ? null : expectedCode,
    victim: i === 1 && leak > 1 ? 'CUDA_ERROR_LAUNCH_FAILED' : 'unharmed',
    longestStallMs: i === 2 ? null : 12.5 * leak,
    newTenant: 'starts',
    xids: i === 2 ? null : xids,
    passed: !(i === 1 && leak > 1),
  })),
});

const probes = ({ leak }: Behaviour) => ({
  probes: [
    { probe: 'cuMemGetInfo(free = NULL)', issue: 'HAMi-core#333', outcome: leak > 1 ? 'crash SIGSEGV' : 'same' },
    { probe: 'cuMemCreate on the host', issue: 'HAMi-core#187', outcome: leak > 1 ? 'code 1 instead of 0' : 'same' },
    { probe: 'fork before cuInit', issue: 'HAMi#1055', outcome: 'same' },
  ].map((row) => ({ ...row, native: 'code 0' })),
});

export const isolationResults = (of: Behaviour, round = 0): OkResult[] => [
  ofIsolation('IS-001', 'Memory Limit Accuracy', memoryPaths(of)),
  ofIsolation('IS-003', 'Compute Limit Accuracy', computeLimit(of)),
  ofIsolation('IS-005', 'Memory Isolation', surfaces(of)),
  ofIsolation('IS-008', 'Fairness', tenants(of)),
  ofIsolation('IS-009', 'Noisy Neighbor', interference(of, round)),
  ofIsolation('IS-010', 'Fault Isolation', faults(of)),
  ofIsolation('IS-011', 'Memory Path Audit', memoryPaths(of)),
  ofIsolation('IS-012', 'Launch Path Audit', launchPaths(of)),
  { ...ofIsolation('COMPAT-001', 'Compatibility', probes(of)), category: 'compatibility' },
];

export const isolationRun = (of = behaviours[0] as Behaviour, round = 0): RunDocument =>
  runDocument({
    system: { name: of.name, kind: of.name, settings: {}, attestation: [] },
    metrics: isolationResults(of, round),
  });

/** `change` receives every result of every round. */
export function isolationComparison(
  rounds = 2,
  change: (result: OkResult, system: number, round: number) => MetricResult = (one) => one,
): ComparisonDocument {
  const systems = behaviours.map(({ name }) => name);
  return {
    schemaVersion: 3,
    kind: 'comparison',
    tool: { name: 'gpu-virt-bench', version: '0.0.0' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 60_000,
    completed: true,
    plan: {
      ...{ tier: 'standard', systems, rounds, seed: 1 },
      metrics: isolationRun().metrics.map(({ id }) => id),
      order: Array.from({ length: rounds }, () => [...systems]),
    },
    systems: behaviours.map((of, system) =>
      Array.from({ length: rounds }, (_, round) => {
        const run = isolationRun(of, round);
        return { ...run, metrics: isolationResults(of, round).map((one) => change(one, system, round)) };
      }),
    ),
    effects: [],
    pairs: [],
    computeLimits: [],
    violations: [
      { system: 'hami-core', metric: 'IS-011', detail: 'cuMemAllocManaged got 38 GiB under a limit of 20 GiB' },
    ],
    warnings: [],
  };
}
