/** OH-005: cheap driver calls through the pointer an application gets and through the driver's own, alternating. */
import type { Check } from '../../document.js';
import type { PairBlock } from '../../native/addon-types.js';
import { BenchError } from '../../native/errors.js';
import type { Session } from '../../native/session.js';
import { median } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import type { MeasureContext, MetricDefinition } from '../metric.js';
import { rowState } from '../row-state.js';

/**
 * Functions no known layer hooks: what is measured on them is the error of the measurement. From the symbol tables of
 * HAMi-core's Debug build (appendix A of the systems reference).
 */
const CONTROLS: ReadonlySet<string> = new Set([
  'cuGetErrorName',
  'cuGetErrorString',
  'cuModuleGetLoadingMode',
  'cuOccupancyMaxActiveBlocksPerMultiprocessor',
  'cuCtxGetId',
  'cuStreamQuery',
  'cuStreamGetFlags',
  'cuStreamGetPriority',
  'cuStreamGetId',
  'cuStreamIsCapturing',
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
  standard: { batches: 100, maxBatchNs: 30_000 },
  thorough: { batches: 400, maxBatchNs: 200_000 },
} as const;
const WARMUP_BATCHES = 4;
/** A call that takes longer is a sample by itself: batched, launches would queue up and wait for the device. */
const SINGLE_FROM_NS = 1_000;
/** Of such calls; their median needs as many. */
const SINGLES = { quick: 1_000, standard: 2_000, thorough: 20_000 } as const;

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
  achievedNs: number | null;
  /** Paired differences, one per batch. */
  differences: Float64Array;
}

async function measureFunction(context: MeasureContext, session: Session, name: string): Promise<Row> {
  const { iterations, tier, seed, warmup } = context.options;
  const { batches, maxBatchNs } = BUDGET[tier];
  const request = { name, calls: CALLS_PER_BATCH, maxBatchNs, gapNs: 0, seed };
  const first = await session.pairBlock({ ...request, batches: Math.max(1, warmup ?? WARMUP_BATCHES) });
  const single = median(first.bareNs).value >= SINGLE_FROM_NS;
  const many = single ? { calls: 1, batches: iterations ?? SINGLES[tier] } : { batches: iterations ?? batches };
  return toRow(name, await session.pairBlock({ ...request, ...many }));
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
    achievedNs: block.achievedNs,
    differences,
  };
}

/** A control is off when its whole interval is: its median alone may be noise. */
const isOff = ({ overheadNs, ci95 }: Row): boolean => {
  const [low, high] = ci95 ?? [overheadNs, overheadNs];
  return low > CONTROL_TOLERANCE_NS || high < -CONTROL_TOLERANCE_NS;
};

function controlCheck(rows: readonly Row[]): Check {
  const controls = rows.filter(({ control, intercepted }) => control && !intercepted);
  const name = 'controls within ±5 ns of zero';
  if (controls.length === 0) return { name, passed: 'not checked', detail: 'every control is intercepted' };
  const off = controls.filter(isOff).map(({ name, overheadNs }) => `${name} ${overheadNs.toFixed(1)} ns`);
  const worst = Math.max(...controls.map(({ overheadNs }) => Math.abs(overheadNs)));
  const all = `${controls.length} functions, worst ${worst.toFixed(2)} ns`;
  return { name, passed: off.length === 0, detail: off.length > 0 ? `${off.join(', ')} (${all})` : all };
}

/** The function at the median of the overheads, the lower of the two where their number is even. */
function middle(rows: readonly Row[]): Row {
  const sorted = [...rows].sort((a, b) => a.overheadNs - b.overheadNs);
  const row = sorted[Math.floor((sorted.length - 1) / 2)];
  if (!row) throw new BenchError('INVALID_RESULT', 'No driver function could be measured.');
  return row;
}

export const apiInterceptionOverhead: MetricDefinition = {
  id: 'OH-005',
  name: 'API Interception Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does each driver call pay for being intercepted? Multiply by calls per token.',
  estimator: 'median of hooked − bare, of the function at the median of all',
  delta: { absolute: 5 },
  needs: [],
  functionName: 'measureApiInterception',
  where: 'process',
  seconds: { quick: 1, standard: 1, thorough: 8 },
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
        const state = rowState(error);
        if (!state) throw error;
        missing.push({ name, ...state });
      }
    }
    const calls = rows.filter(({ name }) => !SYMBOL_RESOLUTION.has(name));
    const intercepted = calls.filter((row) => row.intercepted);
    const deciding = intercepted.length > 0 ? intercepted : calls;
    const typical = middle(deciding);
    const functions = rows
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ differences: _, ...published }) => published);
    const check = controlCheck(rows);
    return {
      ...(check.passed === false && { status: 'invalid' as const, reason: `controls off: ${check.detail}` }),
      value: typical.overheadNs,
      ci95: typical.ci95,
      headline: typical.differences,
      details: {
        headlineFunction: typical.name,
        functions,
        missing,
        interceptedCount: intercepted.length,
        aggregatedOver: deciding.length,
      },
      checks: [check],
    };
  },
};
