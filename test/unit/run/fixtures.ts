import {
  type GpuInfo,
  type HostInfo,
  type MetricResult,
  type OkResult,
  type ResultWithoutNumber,
  type RunDocument,
  SCHEMA_VERSION,
} from '../../../lib/results/document.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import type { ClockReading, GpuState, Inspection, NativeDevice, Provenance } from '../../../lib/native/addon-types.js';
import type { Description } from '../../../lib/workers/description.js';

export function metric(id: string, category = 'overhead', seconds = { quick: 1, standard: 10, thorough: 100 }) {
  return {
    id,
    name: `Name of ${id}`,
    category,
    unit: 'us',
    direction: 'lower',
    question: 'How long?',
    estimator: 'median',
    delta: { relative: 0.05 },
    needs: [],
    functionName: 'measureNothing',
    where: 'process',
    seconds,
    measure: () => Promise.reject(new Error('never called')),
  } as MetricDefinition;
}

/** A result with a number, or without one and for a reason if the change has another status. */
export function result(id: string, change?: Partial<OkResult>): OkResult;
export function result(id: string, change?: Partial<MetricResult>): MetricResult;
export function result(id: string, change: Partial<MetricResult> = {}): MetricResult {
  const isOk = (change.status ?? 'ok') === 'ok';
  const found = {
    id,
    name: `Name of ${id}`,
    category: 'overhead',
    unit: 'us',
    direction: 'lower',
    status: 'ok',
    ...(!isOk && { reason: 'why' }),
    value: isOk ? 3.45678 : null,
    estimator: 'median',
    ci95: isOk ? [3.1, 3.2] : null,
    ciScope: 'within-process',
    processes: 1,
    stats: null,
    details: {},
    checks: [],
    ...change,
  };
  return found as MetricResult;
}

/** The same result without its number. */
export const without = (
  { blocks: _blocks, samples: _samples, ...kept }: OkResult,
  status: ResultWithoutNumber['status'],
  reason: string,
  details = kept.details,
): ResultWithoutNumber => ({ ...kept, status, reason, value: null, ci95: null, stats: null, details });

export function device(index: number, change: Partial<NativeDevice> = {}): NativeDevice {
  return {
    index,
    uuid: `GPU-${index}aaaaaaa-0000-0000-0000-000000000000`,
    name: 'NVIDIA Test',
    memoryBytes: 2 ** 34,
    visibleMemoryBytes: 2 ** 34,
    computeCapability: '9.0',
    multiprocessors: 132,
    maxSmClockMhz: 1980,
    powerLimitW: 700,
    vbios: '96.00.00.00.01',
    pciBusId: null,
    migMode: 'disabled',
    persistenceMode: true,
    computeMode: 'default',
    mpsClient: false,
    ...change,
  };
}

export function inspection(change: Partial<Inspection> = {}): Inspection {
  return {
    simulated: false,
    libcuda: CUDA,
    libnvidiaMl: '/usr/lib/libnvidia-ml.so.1',
    driverVersion: '580.1',
    cudaVersion: 13000,
    cuda: null,
    nvml: null,
    devices: [device(0)],
    clock: clock(),
    ...change,
  };
}

/** The system's own clock, read over a second, on a machine whose cycle counter cannot be used. */
export function clock(change: Partial<ClockReading> = {}): ClockReading {
  const second = { libraryNs: 1e9, systemNs: 1e9, counterNs: null, bracketNs: 500 };
  return {
    functions: ['clock_gettime', 'gettimeofday'].map((name) => ({ name, owner: '/lib/libc.so.6', own: true })),
    rates: ['CLOCK_MONOTONIC_RAW', 'CLOCK_MONOTONIC'].map((name) => ({ clock: name, ...second })),
    counterUnused: 'it does not keep time',
    agreed: null,
    vdso: null,
    ...change,
  };
}

export const host: HostInfo = {
  platform: 'linux',
  arch: 'x64',
  kernel: '6',
  cpu: 'x',
  cores: 2,
  usableCores: 2,
  memoryBytes: 1,
  node: 'v20',
  container: false,
};

/** A card as in a document. */
export function card(change: Partial<GpuInfo> = {}): GpuInfo {
  const { visibleMemoryBytes: _, ...described } = device(0);
  return { ...described, simulated: false, ...change };
}

/** A run on a real GPU, without metrics. */
export function runDocument(change: Partial<RunDocument> = {}): RunDocument {
  return {
    schemaVersion: SCHEMA_VERSION,
    kind: 'run',
    tool: { name: 'gpu-virt-bench', version: '0.0.0' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1,
    completed: true,
    host,
    gpu: [card()],
    driver: { version: '580.1', cudaVersion: 13000, libcuda: null, libnvidiaMl: null },
    groundTruth: 'nvml',
    pidMapping: 'none',
    system: { name: 'environment', kind: 'environment', settings: {}, attestation: [] },
    plan: { tier: 'quick', metrics: [], rounds: 1, seed: 1, device: 0, path: 'runtime', options: {} },
    provenance: [],
    metrics: [],
    health: { before: [], after: [] },
    coordinatorCpuPercent: 0,
    warnings: [],
    ...change,
  };
}

export const CUDA = '/usr/lib/libcuda.so.1';
export const LAYER = '/opt/vgpu/libvgpu.so';

/** cuInit and cuMemAlloc, owned by the layer on the given paths, and cuEventRecord, which no layer hooks. */
export function provenance(paths: readonly string[], change: Partial<Provenance> = {}): Provenance {
  const bare = { runtime: CUDA, dlsym: CUDA, linked: CUDA, bare: CUDA };
  const hooked = { ...bare, ...Object.fromEntries(paths.map((path) => [path, LAYER])) };
  return {
    functions: [
      { name: 'cuInit', owners: hooked, interposed: [...paths] },
      { name: 'cuMemAlloc', owners: hooked, interposed: [...paths] },
      { name: 'cuEventRecord', owners: bare, interposed: [] },
    ],
    nvml: [],
    replaced: [],
    codeUnreadable: null,
    libcuda: { loaded: CUDA, driver: CUDA, simulated: false, kernelModule: '580.1', carriesKernelVersion: true },
    objects: paths.length > 0 ? [{ path: LAYER, cudaExports: 120, exportsDlsym: true, exportsInit: true }] : [],
    ...change,
  };
}

/** An idle card. */
export function gpuState(change: Partial<GpuState> = {}): GpuState {
  return {
    smClockMhz: 1980,
    maxSmClockMhz: 1980,
    memoryClockMhz: 3201,
    temperatureC: 35,
    powerW: 80,
    performanceState: 0,
    persistenceMode: true,
    eventReasons: 1,
    gpuPercent: 0,
    memoryPercent: 0,
    usedBytes: 0,
    freeBytes: 2 ** 34,
    totalBytes: 2 ** 34,
    processes: [],
    ...change,
  };
}

/** A worker's description of a bare machine. */
export const description = (change: Partial<Description> = {}): Description => ({
  pid: 1,
  inspection: inspection(),
  provenance: provenance([]),
  preload: [],
  environment: {},
  ...change,
});

/** A session whose calls the test answers, by method name of the addon. */
export function sessionOf(answers: Readonly<Record<string, (request: never) => unknown>>) {
  const answer = (name: string, request: unknown) => {
    const give = answers[name];
    return give ? Promise.resolve(give(request as never)) : Promise.reject(new Error(`No answer to ${name}.`));
  };
  return { ask: answer, block: answer };
}
