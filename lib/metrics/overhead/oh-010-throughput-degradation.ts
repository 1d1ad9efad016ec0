/** OH-010: a fixed end-to-end unit of work, repeated: how much of the card's throughput a layer leaves. */
import * as v from 'valibot';
import { choice, count, described, interval, quantity, rowOrReason, rows } from '../core/details.js';
import type { Tier } from '../../results/document.js';
import { serialMedian } from '../../stats/serial.js';
import { type SentAnswerOf, sessionTaskOf } from '../../workers/session-task.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { rowState } from '../core/row-state.js';
import { contextOf, processContext, type TenantPlan, withTenants } from '../tenants/tenants.js';
import { NS_PER_MS, scaled } from '../core/units.js';
import { measureFunction } from '../core/measure-function.js';
import { withoutOwnTenant } from '../core/other-limits.js';

const WARMUP_MS: Record<Tier, number> = { quick: 500, standard: 1_000, thorough: 3_000 };
const WINDOW_MS: Record<Tier, number> = { quick: 1_000, standard: 3_000, thorough: 10_000 };
const GRACE_MS = 120_000;
const NO_LIMITS = { memoryBytes: null, smPercent: null };

interface Timed {
  unitNs: Float64Array;
  untimedUnits: number;
}

async function workUnder(context: MeasureContext, plan: Omit<TenantPlan, 'topology'>) {
  const { tier } = context.options;
  const params = { warmupMs: WARMUP_MS[tier], windowMs: WINDOW_MS[tier] };
  return withTenants(context, { ...plan, topology: 'shared' }, async ({ scene, growTo }) => {
    await growTo(1);
    const [work] = await scene.each<SentAnswerOf<'work'>>(
      sessionTaskOf('work', params),
      params.warmupMs + params.windowMs + GRACE_MS,
    );
    const { unitNs, untimedUnits } = work as SentAnswerOf<'work'>;
    return { timed: { unitNs: Float64Array.from(unitNs), untimedUnits }, context: contextOf(scene) };
  });
}

/** Counts only the time in units: clearing outputs and comparing results are not the card's work. */
const unitsPerSecond = (unitNs: Float64Array): number =>
  (unitNs.length * 1e9) / unitNs.reduce((sum, time) => sum + time, 0);

function describe(limits: 'none' | 'as configured', { unitNs, untimedUnits }: Timed) {
  const unit = scaled(serialMedian(unitNs), NS_PER_MS);
  return {
    limits,
    unitsPerSecond: unitsPerSecond(unitNs),
    unitMs: unit.value,
    unitCi95: unit.ci95,
    units: unitNs.length,
    untimedUnits,
  };
}

/** A row in addition to the headline: its failure does not affect that. */
async function limitedRow(context: MeasureContext, smPercent: number | null) {
  try {
    const row = describe('as configured', (await workUnder(context, {})).timed);
    const share = (smPercent ?? 100) / 100;
    return { ...row, smPercent, perConfiguredShare: row.unitsPerSecond / share };
  } catch (error) {
    const state = rowState(error);
    if (!state) throw error;
    return { limits: 'as configured' as const, ...state };
  }
}

const details = v.strictObject({
  unitsPerSecond: described(v.number(), 'Units of work per second without limits, of the time in units'),
  rows: rows(
    rowOrReason(
      { limits: choice(['none', 'as configured'], 'The limits of the tenant') },
      {
        unitsPerSecond: described(v.number(), 'Units of work per second, of the time in units'),
        unitMs: quantity('ms', 'Median time of a unit'),
        unitCi95: interval('ms', 'unitMs'),
        units: count('Units of work'),
        untimedUnits: count('Units before them'),
        smPercent: v.optional(v.nullable(quantity('%', 'The compute limit; null without one'))),
        perConfiguredShare: v.optional(
          described(v.number(), 'Units per second, divided by the share that the limit leaves'),
        ),
      },
    ),
    'A row without limits, and one with those of the system',
  ),
  context: v.optional(processContext),
});

export type ThroughputDetails = v.InferOutput<typeof details>;

export const throughputDegradation: MetricDefinition<ThroughputDetails> = {
  id: 'OH-010',
  name: 'Total Throughput Degradation',
  category: 'overhead',
  unit: '%',
  direction: 'lower',
  question: 'How much of the GPU is lost just by installing this layer?',
  estimator: 'units of work per second, compared with the native arm of the same round',
  delta: { absolute: 1 },
  needs: ['a native arm'],
  functionName: 'measureThroughput',
  where: 'fresh-processes',
  details,
  seconds: { quick: 3, standard: 6, thorough: 16 },
  againstNative: {
    arm: ({ unitsPerSecond: rate }) => (typeof rate === 'number' ? rate : null),
    difference: (system, native) => 100 * (1 - system / native),
  },
  async measure(context) {
    const { system } = context;
    const { memoryBytes, smPercent } = system.limits();
    const limited = !system.limitsAreFixed && (memoryBytes !== null || smPercent !== null);
    context.progress('without limits', 0);
    const { timed, ...under } = limited
      ? await withoutOwnTenant(context, () => workUnder(context, { limits: NO_LIMITS }))
      : await workUnder(context, {});
    context.progress('with its limits', 0.5);
    const rows = [describe('none', timed), ...(limited ? [await limitedRow(context, smPercent)] : [])];
    return {
      status: 'unsupported',
      reason: 'needs a native arm: compare --system native --system …; unitsPerSecond is in the details',
      value: null,
      ci95: null,
      headline: null,
      details: { unitsPerSecond: unitsPerSecond(timed.unitNs), rows, ...under },
      // A wrong result of any unit has already ended the measurement with its stage.
      checks: [],
    };
  },
};

/**
 * OH-010: units of work a second (copies, a GEMM, attention, small kernels, allocations) in `details.unitsPerSecond`. A
 * loss needs a native arm: alone it is `unsupported`, in a comparison with native its effect is per cent lost, signed.
 */
export const measureThroughput = measureFunction(throughputDegradation);
