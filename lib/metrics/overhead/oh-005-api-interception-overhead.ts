/** OH-005: cheap driver calls through the pointer an application gets and through the driver's own, alternating. */
import * as v from 'valibot';
import { count, described, flag, quantity, rows, text } from '../core/details.js';
import type { Check } from '../../results/document.js';
import type { PairBlock } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import type { Session } from '../../native/session.js';
import { median } from '../../stats/median.js';
import { shuffled } from '../../stats/random.js';
import { DEFAULT_PROFILE, readShippedProfile } from '../../results/shipped-profiles.js';
import { pairSummary, pairSummaryFields } from './pairs.js';
import { profilePricesSchema } from './oh-005-profiles.js';
import { profileMean, type ProfileMean } from './profile-mean.js';
import { type MeasureContext, type MetricDefinition, type ResolvedOptions, unsupported } from '../core/metric.js';
import { type RowState, rowState } from '../core/row-state.js';
import { measureFunction } from '../core/measure-function.js';

/**
 * Functions that no known layer hooks: their overhead is measurement error. From the symbol tables of HAMi-core's Debug
 * build (appendix A of the systems reference).
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
/** Published like the others, but relevant only at start-up: a layer may own `dlsym` and still hook no driver call. */
const SYMBOL_RESOLUTION: ReadonlySet<string> = new Set(['dlsym', 'cuGetProcAddress_v2']);
const CONTROL_TOLERANCE_NS = 5;
const CALLS_PER_BATCH = 1_000;
const BUDGET = {
  quick: { batches: 100, maxBatchNs: 30_000 },
  standard: { batches: 100, maxBatchNs: 30_000 },
  thorough: { batches: 400, maxBatchNs: 200_000 },
} as const;
const WARMUP_BATCHES = 4;
/** Passes through all functions, each on the next core, so that other activity of the host affects all of them. */
const PASSES = 5;
/** Most passes, including further ones of the same size for functions whose interval is still wide. */
const MOST_PASSES = 15;
/** A call that takes longer is a sample of its own: in a batch, launches would queue up and wait for the device. */
const SINGLE_FROM_NS = 1_000;
/** Samples of such calls, whose median needs this many. */
const SINGLES = { quick: 1_000, standard: 2_000, thorough: 20_000 } as const;

const details = v.strictObject({
  headlineProfile: text('The call profile over which the value is averaged'),
  measuredShare: described(v.number(), 'Share of the calls of that profile that were measured (0 to 1)'),
  functions: rows(
    v.strictObject({
      name: text('The driver function'),
      control: flag('Whether no known layer hooks it: its overhead is measurement error'),
      owner: v.nullable(text('The object that owns the function a program calls; null if none was found')),
      ...pairSummaryFields,
      calls: count('Calls in a batch'),
      batches: count('Paired batches'),
      achievedNs: v.nullable(quantity('ns', 'Delay that the calibration interposer really added; null without it')),
    }),
    'A row per driver function',
  ),
  missing: rows(
    v.union([
      v.strictObject({ name: text('The driver function'), unsupported: text('Why it cannot be measured here') }),
      v.strictObject({ name: text('The driver function'), failed: text('The error that ended its measurement') }),
    ]),
    'Functions without a row',
  ),
  interceptedCount: count('Functions that are intercepted, without those that resolve symbols'),
  profiles: v.optional(profilePricesSchema),
});

export type ApiInterceptionDetails = v.InferOutput<typeof details>;

type FunctionRow = ApiInterceptionDetails['functions'][number];

interface Row extends FunctionRow {
  /** Paired differences, one per batch. */
  differences: Float64Array;
}

/** A function and its results so far. */
interface Measuring {
  name: string;
  /** Known after its first measurement. */
  plan: { calls: number; batches: number } | null;
  blocks: PairBlock[];
  state: RowState | null;
}

async function measurePass(context: MeasureContext, session: Session, one: Measuring, pass: number): Promise<void> {
  const { iterations, tier, seed, warmup } = context.options;
  const { batches, maxBatchNs } = BUDGET[tier];
  const request = { name: one.name, maxBatchNs, gapNs: 0, seed: seed + pass, core: seed + pass };
  try {
    if (!one.plan) {
      const look = Math.max(1, warmup ?? WARMUP_BATCHES);
      const first = await session.block('pairBlock', { ...request, calls: CALLS_PER_BATCH, batches: look });
      const single = median(first.bareNs).value >= SINGLE_FROM_NS;
      const all = iterations ?? (single ? SINGLES[tier] : batches);
      one.plan = { calls: single ? 1 : CALLS_PER_BATCH, batches: all };
    }
    const part = pass < PASSES ? Math.floor((one.plan.batches + pass) / PASSES) : one.plan.batches;
    if (part > 0)
      one.blocks.push(await session.block('pairBlock', { ...request, calls: one.plan.calls, batches: part }));
  } catch (error) {
    one.state = rowState(error);
    if (!one.state) throw error;
  }
}

async function measureFunctions(context: MeasureContext, session: Session): Promise<Measuring[]> {
  const { iterations, seed } = context.options;
  const all = session.pairFunctions().map((name): Measuring => ({ name, plan: null, blocks: [], state: null }));
  const passes = iterations === null ? MOST_PASSES : PASSES;
  for (let pass = 0; pass < passes; pass++) {
    const due = all.filter((one) => !one.state && (pass < PASSES || isWide(one, context.options)));
    for (const [index, one] of shuffled(due, seed + pass).entries()) {
      context.progress(one.name, progressAt(pass + index / due.length));
      await measurePass(context, session, one, pass);
    }
  }
  return all;
}

/** The further passes together count as one. */
function progressAt(passes: number): number {
  const further = Math.max(0, passes - PASSES) / (MOST_PASSES - PASSES);
  return (Math.min(passes, PASSES) + further) / (PASSES + 1);
}

/** Wider than needed to judge a control; for other functions, also wider than the requested fraction of the call. */
function isWide({ name, blocks }: Measuring, { resolution }: ResolvedOptions): boolean {
  const { ci95, bareNs } = pairSummary(blocks);
  const halfWidth = ci95 ? (ci95[1] - ci95[0]) / 2 : Number.POSITIVE_INFINITY;
  return halfWidth > Math.max(CONTROL_TOLERANCE_NS / 2, CONTROLS.has(name) ? 0 : resolution * bareNs);
}

function toRow(name: string, blocks: readonly PairBlock[]): Row {
  const [first] = blocks as readonly [PairBlock, ...PairBlock[]];
  const achieved = blocks.flatMap(({ achievedNs }) => achievedNs ?? []);
  const { differences, ...medians } = pairSummary(blocks);
  return {
    name,
    control: CONTROLS.has(name),
    owner: first.owner,
    ...medians,
    calls: first.calls,
    batches: differences.length,
    achievedNs: achieved.length > 0 ? median(achieved).value : null,
    differences,
  };
}

/**
 * A control is off only if its whole interval is: its median alone may be noise (of two batches, in a fifth of the
 * runs).
 */
const isOff = ({ ci95 }: Row): boolean =>
  ci95 !== null && (ci95[0] > CONTROL_TOLERANCE_NS || ci95[1] < -CONTROL_TOLERANCE_NS);

function controlCheck(rows: readonly Row[]): Check {
  const bare = rows.filter(({ control, intercepted }) => control && !intercepted);
  const controls = bare.filter(({ ci95 }) => ci95 !== null);
  const name = 'controls within ±5 ns of zero';
  if (bare.length === 0) return { name, passed: 'not checked', detail: 'every control is intercepted' };
  if (controls.length === 0) {
    const most = Math.max(...bare.map(({ batches }) => batches));
    return { name, passed: 'not checked', detail: `${most} samples of a function are too few for an interval` };
  }
  const off = controls.filter(isOff).map(({ name, overheadNs }) => `${name} ${overheadNs.toFixed(1)} ns`);
  const worst = Math.max(...controls.map(({ overheadNs }) => Math.abs(overheadNs)));
  const all = `${controls.length} functions, worst ${worst.toFixed(2)} ns`;
  return { name, passed: off.length === 0, detail: off.length > 0 ? `${off.join(', ')} (${all})` : all };
}

/** Smallest share of the calls that must be measured; with less, the result says nothing about the program. */
const LEAST_SHARE = 0.5;

function invalidity(check: Check, { measuredShare, unmeasured }: ProfileMean) {
  const why =
    check.passed === false
      ? `controls off: ${check.detail}`
      : measuredShare < LEAST_SHARE
        ? `only ${(100 * measuredShare).toFixed(0)} % of the calls of eager PyTorch decode could be measured, not ${unmeasured.slice(0, 3).join(', ')}`
        : null;
  return why === null ? {} : { status: 'invalid' as const, reason: why };
}

export const apiInterceptionOverhead: MetricDefinition<ApiInterceptionDetails> = {
  id: 'OH-005',
  name: 'API Interception Overhead',
  category: 'overhead',
  unit: 'ns',
  direction: 'lower',
  question: 'What does each driver call pay for being intercepted? Multiply by calls per token.',
  estimator: 'median of hooked − bare of each function, averaged over the calls of eager PyTorch decode',
  delta: { absolute: 5 },
  values: { grid: 1 },
  pairs: 'functions',
  needs: [],
  functionName: 'measureApiInterception',
  where: 'process',
  details,
  seconds: { quick: 1, standard: 1, thorough: 8 },
  async measure(context) {
    const session = await context.session();
    const measured = await measureFunctions(context, session);
    const rows = measured.filter(({ state }) => !state).map(({ name, blocks }) => toRow(name, blocks));
    const missing = measured.flatMap(({ name, state }) => (state ? [{ name, ...state }] : []));
    const calls = rows.filter(({ name }) => !SYMBOL_RESOLUTION.has(name));
    const profile = await readShippedProfile(DEFAULT_PROFILE);
    const mean = profileMean(calls, profile);
    const [first] = missing;
    if (!mean && first && 'unsupported' in first) return unsupported(first.unsupported);
    if (!mean) throw new BenchError('INVALID_RESULT', 'No driver function could be measured.');
    const functions = rows
      .sort((a, b) => a.name.localeCompare(b.name))
      .map(({ differences: _, ...published }) => published);
    const check = controlCheck(rows);
    return {
      ...invalidity(check, mean),
      value: mean.value,
      ci95: mean.ci95,
      headline: mean.samples,
      details: {
        headlineProfile: profile.name,
        measuredShare: mean.measuredShare,
        functions,
        missing,
        interceptedCount: calls.filter((row) => row.intercepted).length,
      },
      checks: [check],
    };
  },
};

/**
 * OH-005, ns: what interception adds to a driver call, averaged over the calls of eager PyTorch decode (the shipped call
 * profile `eager`); `details.functions[]` has one signed row per function.
 * `iterations` is the number of paired batches; without it, a function gets more of them until its half-width is within
 * 2.5 ns, or within `resolution` of the call, or it had fifteen passes.
 */
export const measureApiInterception = measureFunction(apiInterceptionOverhead);
