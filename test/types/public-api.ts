/** Checks that the public types do not change. Checked by tsc --noEmit (npm run typecheck); nothing here runs. */
import {
  BenchError,
  type Check,
  CudaError,
  type CompareSystemsOptions,
  type ComparisonDocument,
  type compareSystems,
  type ErrorCode,
  type ExecWorkloadsOptions,
  type execWorkloads,
  type Format,
  type FunctionProvenance,
  type GpuInfo,
  type getProvenance,
  listDevices,
  type listMetrics,
  type LoadOptions,
  type LoadResult,
  type LoadSettings,
  type LoadSummary,
  type MeasureOptions,
  type MetricInfo,
  type MetricResult,
  measureContextCreation,
  measureKernelLaunch,
  measureMemoryFree,
  type Monitor,
  type MonitorOptions,
  type MonitorSummary,
  type PriceSettings,
  startMonitor,
  type Progress,
  type renderReport,
  type RequestRecord,
  type RunDocument,
  runLoad,
  type Stats,
  type summariseLoad,
  type SymbolPath,
  type SystemSettings,
  type Tier,
  type WorkloadSettings,
} from '../../lib/index.js';
import type * as functions from '../../lib/metrics/functions.js';

/** True where the two types are the same, not merely assignable. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const hold = <_Proof extends true>(): void => {};

type Measure = (options?: MeasureOptions) => Promise<MetricResult>;
hold<(typeof functions)[keyof typeof functions] extends Measure ? true : false>();
type AnyDocument = RunDocument | ComparisonDocument;
hold<Same<typeof renderReport, (document: AnyDocument, format: Format) => Promise<string>>>();
hold<Same<typeof compareSystems, (options: CompareSystemsOptions) => Promise<ComparisonDocument>>>();
hold<Same<typeof startMonitor, (options?: MonitorOptions) => Promise<Monitor>>>();
hold<Same<ReturnType<Monitor['stop']>, Promise<MonitorSummary>>>();
void startMonitor({
  device: [0, 'GPU-1'],
  intervalMs: 100,
  csv: 'gpu.csv',
  onSample: ({ powerW }) => powerW?.toFixed(),
});
// @ts-expect-error: milliseconds have one name
void startMonitor({ interval: 100 });
hold<Same<CompareSystemsOptions['prices'], PriceSettings | undefined>>();
hold<Same<CompareSystemsOptions['systems'], readonly (string | SystemSettings)[]>>();
hold<Same<typeof execWorkloads, (options: ExecWorkloadsOptions) => Promise<ComparisonDocument>>>();
({
  name: 'decode',
  argv: ['python', 'decode.py', '--batch', '{batch}'],
  matrix: { batch: [1, 8] },
  ready: { port: 8000 },
  stopAfter: 0,
  metrics: { tps: { jsonl: '/tps', unit: 'tokens/s', direction: 'higher', delta: '3%' } },
}) satisfies WorkloadSettings;
({ cards: { 'NVIDIA H200': 3.5 }, systems: { mps: { share: '40%' }, mig: { perHour: 1 } } }) satisfies PriceSettings;
// @ts-expect-error: a share says of what it is
({ systems: { mps: { share: 0.4 } } }) satisfies PriceSettings;
({
  name: 'scene',
  tenants: [
    { name: 'decode', argv: ['python', 'decode.py'], limits: { memory: '10GiB', sm: 50 } },
    { role: 'aggressor', task: 'l2-thrash' },
  ],
}) satisfies WorkloadSettings;
// @ts-expect-error: the menu is fixed
({ name: 'scene', argv: ['p'], tenants: [{ task: 'bandwidth' }] }) satisfies WorkloadSettings;
// @ts-expect-error: a metric has a place where its number is
({ name: 'w', argv: ['p'], metrics: { m: { unit: 's', direction: 'lower' } } }) satisfies WorkloadSettings;
({
  name: 'server',
  argv: ['serve'],
  ready: { http: 'http://127.0.0.1:8000/health' },
  matrix: { c: [1, 8] },
  load: { url: 'http://h/', api: 'chat', model: 'm', prompt: 'p', requests: 300, concurrency: '{c}' },
  monitor: { interval: '200ms' },
}) satisfies WorkloadSettings;
({ name: 'server', argv: ['serve'], monitor: false }) satisfies WorkloadSettings;
// @ts-expect-error: a load is a closed or an open loop
({ name: 'w', argv: ['p'], load: { url: 'u', requests: 1, concurrency: 1, ratePerSecond: 1 } }) satisfies WorkloadSettings; // prettier-ignore
hold<Same<typeof runLoad, (settings: LoadSettings, options?: LoadOptions) => Promise<LoadResult>>>();
hold<Same<typeof summariseLoad, (result: LoadResult) => Promise<LoadSummary>>>();
hold<Same<LoadResult['tokens'], number | null>>();
void runLoad(
  { url: 'http://h/', api: 'chat', model: 'm', prompt: '{request}', requests: 10, ratePerSecond: 2 },
  { onRequest: ({ tokens, failure }: RequestRecord) => void [tokens?.gapsMs.length, failure?.reason] },
);
// @ts-expect-error: only servers of tokens have a model
void runLoad({ url: 'http://h/', model: 'm', requests: 1, concurrency: 1 });
// @ts-expect-error: a load is a closed or an open loop
void runLoad({ url: 'http://h/', requests: 1 });
const described = [
  'native',
  { kind: 'hami-core', memory: '10GiB', sm: 50, policy: 'force' },
  { kind: 'vgpu-manager', library: '/x.so', cores: 30, 'soft-cores': 60 },
  { kind: 'fcsp', library: '/x.so', tenantFloor: 20 },
  { kind: 'mps', sm: 50 },
  { kind: 'container', runtime: 'podman', image: 'localhost/x:1' },
  {
    kind: 'custom',
    name: 'mine',
    env: { LD_PRELOAD: '/x.so' },
    setup: [['true'], ['true']],
    limits: { memory: '4GiB' },
    verify: [{ symbolOwner: { symbol: 'cuInit', matches: 'x' } }, { allocationCanary: '5GiB' }, { smCount: [1, 132] }],
  },
] as const satisfies CompareSystemsOptions['systems'];
void described;
// @ts-expect-error: no such kind
({ kind: 'hami' }) satisfies SystemSettings;
// @ts-expect-error: a custom system has a name
({ kind: 'custom' }) satisfies SystemSettings;
// @ts-expect-error: no such proof
({ kind: 'custom', name: 'x', verify: [{ symbolOwned: 'cuInit' }] }) satisfies SystemSettings;
// @ts-expect-error: a size has a unit
({ kind: 'mps', memory: 10 }) satisfies SystemSettings;
hold<Same<ReturnType<typeof listDevices>, Promise<GpuInfo[]>>>();
hold<Same<ReturnType<typeof getProvenance>, Promise<FunctionProvenance[]>>>();
hold<Same<typeof listMetrics, () => MetricInfo[]>>();
hold<Same<Parameters<typeof listDevices>[0], Parameters<typeof getProvenance>[0]>>();

hold<
  Same<
    MeasureOptions,
    {
      device?: number | string;
      warmup?: number;
      iterations?: number;
      resolution?: number;
      path?: 'runtime' | 'dlsym' | 'linked';
      simulate?: boolean;
      samples?: boolean;
      tier?: 'quick' | 'standard' | 'thorough';
      seed?: number;
      workload?: 'T1' | 'T2' | 'T3' | 'T4' | 'T5' | 'T6';
      model?: {
        layers: number;
        hidden: number;
        heads: number;
        kvHeads?: number;
        mlp?: number;
        vocabulary?: number;
      };
      signal?: AbortSignal;
      onProgress?: (progress: Progress) => void;
    }
  >
>();
hold<Same<Progress, { id: string; step: string; fraction: number; warning?: string }>>();
hold<Same<SymbolPath, 'runtime' | 'dlsym' | 'linked' | 'bare'>>();
hold<Same<Tier, 'quick' | 'standard' | 'thorough'>>();
hold<
  Same<
    ErrorCode,
    | 'NO_DRIVER'
    | 'NO_ADDON'
    | 'FUNCTION_MISSING'
    | 'DRIVER_CONFLICT'
    | 'SIM_SETTINGS'
    | 'INVALID_RESULT'
    | 'NO_SUCH_DEVICE'
    | 'NO_THREAD'
    | 'UNHEALTHY'
    | 'WORKER'
    | 'SAMPLING_ENDED'
    | 'SYSTEM'
    | 'NOT_WRITABLE'
  >
>();

hold<Same<MetricResult['status'], 'ok' | 'unsupported' | 'invalid' | 'failed'>>();
hold<Same<MetricResult['direction'], 'lower' | 'higher' | 'none'>>();
hold<Same<MetricResult['value'], number | null>>();
hold<Same<MetricResult['ci95'], [number, number] | null>>();
hold<Same<MetricResult['ciScope'], 'within-process' | 'between-processes'>>();
hold<Same<MetricResult['stats'], Stats | null>>();
hold<Same<NonNullable<MetricResult['samples']>, number[]>>();
hold<Same<MetricResult['checks'], Check[]>>();
hold<Same<Extract<MetricResult, { status: 'ok' }>['details'], Record<string, unknown>>>();
hold<Same<Extract<MetricResult, { status: 'ok' }>['value'], number>>();
hold<Same<Exclude<MetricResult, { status: 'ok' }>['value'], null>>();
hold<Same<Check['passed'], boolean | 'not checked'>>();
hold<Same<Stats['p90'], number | null>>();
hold<Same<RunDocument['metrics'], MetricResult[]>>();
hold<Same<RunDocument['gpu'], GpuInfo[]>>();
hold<Same<RunDocument['provenance'], FunctionProvenance[]>>();
hold<Same<RunDocument['groundTruth'], 'nvml' | 'none'>>();
hold<Same<RunDocument['plan']['tier'], Tier>>();
hold<Same<keyof FunctionProvenance['paths'], SymbolPath>>();
hold<Same<MetricInfo['functionName'], string>>();
hold<Same<Extract<keyof MetricInfo, 'measure'>, never>>();

hold<Same<BenchError['code'], ErrorCode>>();
hold<Same<CudaError['code'], number>>();
hold<Same<CudaError['call'], string>>();
new BenchError('NO_DRIVER', 'text', { cause: new Error('why') }) satisfies Error;
new CudaError(700, 'CUDA_ERROR_ILLEGAL_ADDRESS', 'cuCtxSynchronize', 'waiting') satisfies Error;

export async function use(): Promise<void> {
  const controller = new AbortController();
  const result = await measureKernelLaunch({
    device: 'GPU-1aaaaaaa-0000-0000-0000-000000000000',
    iterations: 100,
    resolution: 0.02,
    signal: controller.signal,
    onProgress: ({ fraction, step }) => `${step} ${fraction.toFixed(2)}` satisfies string,
  });
  // @ts-expect-error a value may be missing
  result.value.toFixed(2);
  if (result.status === 'ok') {
    result.value.toFixed(2) satisfies string;
    for (const row of result.details.calls) if ('submitUs' in row) row.submitUs.toFixed(2) satisfies string;
    // @ts-expect-error no such field
    result.details.pair?.overheadUs;
  } else result.reason satisfies string;
  // @ts-expect-error statistics may be missing
  result.stats.p50;
  // @ts-expect-error details of a result without a number are those that were found
  result.details.calls[0];
  // @ts-expect-error a percentile below its floor is null
  result.stats?.p99.toFixed();

  // @ts-expect-error misspelled
  await measureKernelLaunch({ iteration: 100 });
  // @ts-expect-error the reference path is never measured alone
  await measureKernelLaunch({ path: 'bare' });
  // @ts-expect-error a count is a number
  await measureMemoryFree({ iterations: '100' });
  // @ts-expect-error no such tier
  await measureMemoryFree({ tier: 'fast' });
  // @ts-expect-error the signal, not its controller
  await measureContextCreation({ signal: controller });
  // @ts-expect-error not the options of a measurement
  await listDevices({ iterations: 3 });
  // @ts-expect-error unknown code
  new BenchError('OOPS', 'text');
  // @ts-expect-error read-only
  new BenchError('WORKER', 'text').code = 'NO_DRIVER';
  // @ts-expect-error a status has four values
  'skipped' satisfies MetricResult['status'];
}
