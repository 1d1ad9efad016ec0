/** OH-005: cheap driver calls through the pointer an application gets and through the driver's own, alternating. */
import type { Check } from '../../document.js';
import type { PairBlock } from '../../native/addon-types.js';
import { BenchError } from '../../native/errors.js';
import type { Session } from '../../native/session.js';
import { median } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { concat } from '../collect.js';
import type { MeasureContext, MetricDefinition } from '../metric.js';

/**
 * Functions no known layer hooks: what is measured on them is the error of the measurement. From the symbol tables of
 * HAMi-core's Debug build (appendix A of the systems reference).
 */
const CONTROLS: ReadonlySet<string> = new Set([
  'cuGetErrorName',
  'cuGetErrorString',
  'cuModuleGetLoadingMode',
  'cuOccupancyMaxActiveBlocksPerMultiprocessor',
  'cuStreamQuery',
  'cuEventQuery',
  'cuEventSynchronize',
  'cuEventRecord',
]);
/** Published like the others, but start-up's business: a layer may own `dlsym` and still hook no driver call. */
const SYMBOL_RESOLUTION: ReadonlySet<string> = new Set(['dlsym', 'cuGetProcAddress_v2']);
const CONTROL_TOLERANCE_NS = 5;
const CALLS_PER_BATCH = 1_000;
const BUDGET = {
  quick: { batches: 100, maxBatchNs: 30_000 },
  standard: { batches: 400, maxBatchNs: 60_000 },
  thorough: { batches: 400, maxBatchNs: 200_000 },
} as const;
const WARMUP_BATCHES = 4;

interface Row {
  name: string;
  control: boolean;
  owner: string | null;
  intercepted: boolean;
  overheadNs: number;
  ci95: [number, number] | null;
  hookedNs: number;
  bareNs: number;
  calls: number;
  batches: number;
  /** Paired differences, one per batch; kept for the headline, not published. */
  differences: Float64Array;
}

async function measureFunction(context: MeasureContext, session: Session, name: string): Promise<Row> {
  const { iterations, tier, seed, warmup } = context.options;
  const { batches, maxBatchNs } = BUDGET[tier];
  const request = { name, calls: CALLS_PER_BATCH, maxBatchNs, seed };
  const warmUpBatches = warmup ?? WARMUP_BATCHES;
  if (warmUpBatches > 0) await session.pairBlock({ ...request, batches: warmUpBatches });
  return toRow(name, await session.pairBlock({ ...request, batches: iterations ?? batches }));
}

function toRow(name: string, block: PairBlock): Row {
  const differences = block.hookedNs.map((hooked, i) => hooked - (block.bareNs[i] as number));
  const { value, ci95 } = median(differences);
  return {
    name,
    control: CONTROLS.has(name),
    owner: block.owner,
    intercepted: block.intercepted,
    overheadNs: value,
    ci95,
    hookedNs: median(block.hookedNs).value,
    bareNs: median(block.bareNs).value,
    calls: block.calls,
    batches: differences.length,
    differences,
  };
}

function controlCheck(rows: readonly Row[]): Check {
  const controls = rows.filter(({ control, intercepted }) => control && !intercepted);
  const name = 'controls within ±5 ns of zero';
  if (controls.length === 0) return { name, passed: 'not checked', detail: 'every control is intercepted' };
  const { value } = median(controls.map(({ overheadNs }) => overheadNs));
  const worst = Math.max(...controls.map(({ overheadNs }) => Math.abs(overheadNs)));
  return {
    name,
    passed: Math.abs(value) <= CONTROL_TOLERANCE_NS,
    detail: `median ${value.toFixed(2)} ns, worst ${worst.toFixed(2)} ns, of ${controls.length} functions`,
  };
}

export const apiInterceptionOverhead: MetricDefinition = {
  id: 'OH-005',
  name: 'API Interception Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does each driver call pay for being intercepted? Multiply by calls per token.',
  estimator: 'median over functions of the median of hooked − bare',
  needs: [],
  functionName: 'measureApiInterception',
  where: 'process',
  seconds: { quick: 1, standard: 3, thorough: 8 },
  async measure(context) {
    const session = await context.session();
    const rows: Row[] = [];
    const missing: Record<string, unknown>[] = [];
    const names = shuffled(session.pairFunctions(), context.options.seed);
    for (const [index, name] of names.entries()) {
      context.progress(name, index / names.length);
      try {
        rows.push(await measureFunction(context, session, name));
      } catch (error) {
        if (!(error instanceof BenchError && error.code === 'FUNCTION_MISSING')) throw error;
        missing.push({ name, unsupported: error.message });
      }
    }
    const calls = rows.filter(({ name }) => !SYMBOL_RESOLUTION.has(name));
    const intercepted = calls.filter((row) => row.intercepted);
    const deciding = intercepted.length > 0 ? intercepted : calls;
    const { value, ci95 } = median(deciding.map(({ overheadNs }) => overheadNs));
    const functions = rows
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ differences: _, ...published }) => published);
    const check = controlCheck(rows);
    return {
      ...(check.passed === false && { status: 'invalid' as const, reason: `controls off: ${check.detail}` }),
      value,
      ci95,
      headline: concat(...deciding.map(({ differences }) => differences)),
      details: { functions, missing, interceptedCount: intercepted.length, aggregatedOver: deciding.length },
      checks: [check],
    };
  },
};
