/** IS-003: how close a tenant's share of the compute is to its limit, measured by work done, not by utilisation. */
import * as v from 'valibot';
import { described, rows } from '../core/details.js';
import { limitPercent, shareLines, windowsField } from './share-fields.js';
import { mean } from 'simple-statistics';
import type { Tier } from '../../results/document.js';
import { type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { exceeded } from './shared/exceeded.js';
import { BIN_MS, isMeasured, limitedRow, measureRows, type Row, type Windows } from './shared/limited-rows.js';
import { BACK_TO_BACK, MANY_WAVES, ofLength, SHAPES } from './shared/load-shapes.js';
import { partitionCheck, partitionOrReason } from '../core/partition.js';
import { partitionedLoad } from './shared/partitioned-load.js';
import { ownLimit, referenceField, referenceOf } from './tenant-load.js';

const SWEEP = [10, 25, 50, 75];
/** Lengths of back-to-back kernels other than 1 ms. */
const OTHER_LENGTHS_MS = [0.1, 10, 100];

export interface LimitPlan {
  headline: Windows;
  /** Windows for MANY_WAVES: long enough for slow controllers to swing several times. */
  waves: Windows;
  others: Windows;
  /** Lengths of further back-to-back kernels. */
  lengthsMs: readonly number[];
  /** Whether other limits than the system's own are measured, if it supports them. */
  sweeps: boolean;
}

const PLANS: Record<Tier, LimitPlan> = {
  quick: {
    headline: { freeMs: 400, dropMs: 1_000, keepMs: 2_000 },
    waves: { freeMs: 200, dropMs: 100, keepMs: 400 },
    others: { freeMs: 200, dropMs: 100, keepMs: 300 },
    lengthsMs: [],
    sweeps: false,
  },
  standard: {
    headline: { freeMs: 1_000, dropMs: 3_000, keepMs: 7_000 },
    waves: { freeMs: 400, dropMs: 1_000, keepMs: 20_000 },
    others: { freeMs: 400, dropMs: 500, keepMs: 1_500 },
    lengthsMs: [],
    sweeps: false,
  },
  thorough: {
    headline: { freeMs: 3_000, dropMs: 10_000, keepMs: 30_000 },
    waves: { freeMs: 1_000, dropMs: 10_000, keepMs: 30_000 },
    others: { freeMs: 1_000, dropMs: 4_000, keepMs: 8_000 },
    lengthsMs: OTHER_LENGTHS_MS,
    sweeps: true,
  },
};

/** With a given plan, for tests; without one the tier decides. */
export const computeLimitBy =
  (plan?: LimitPlan): MetricDefinition<SmUtilizationDetails>['measure'] =>
  async (context) => {
    const own = ownLimit(context.system);
    const { headline, waves, others, lengthsMs, sweeps } = plan ?? PLANS[context.options.tier];
    if (own === null) {
      const partition = await partitionedLoad(context, waves.freeMs);
      return { ...unsupported('no compute limit is set', { partition }), checks: [partitionCheck(partition)] };
    }
    const reference = referenceOf(context.system, { smPercent: own });
    const sweep = sweeps && reference === 'the same tenant without a limit';
    const rows = await measureRows(context, {
      shapes: [BACK_TO_BACK, ...SHAPES, ...lengthsMs.map(ofLength)],
      windowsOf: (shape) => (shape === BACK_TO_BACK ? headline : shape === MANY_WAVES ? waves : others),
      limits: sweep ? SWEEP : [own],
      reference,
      besideNvml: true,
    });
    if (typeof rows === 'string') return unsupported(rows);
    const ofHeadline = rows.filter(isMeasured).filter(({ shape }) => shape === BACK_TO_BACK.name);
    return {
      value: mean(ofHeadline.map(({ accuracyPercent }) => accuracyPercent)),
      ci95: null,
      headline: null,
      processes: 1 + ofHeadline.length,
      details: {
        limitPercent: own,
        reference,
        // A limiter that reacts later than this is missed.
        windows: { backToBack: headline, manyWaves: waves, others },
        limits: rows.map((row) => (isMeasured(row) ? withoutSeries(row) : row)),
        shares: rows.filter(isMeasured).map(({ shape, smPercent, series }) => ({
          name: sweep ? `${shape}, ${smPercent} %` : shape,
          limitPercent: smPercent,
          binMs: BIN_MS,
          percent: series.map((share) => Math.round(10 * share) / 10),
        })),
      },
      checks: [],
      violations: ofHeadline.flatMap((row) => violationsOf(row, headline)),
    };
  };

function violationsOf({ achievedPercent, smPercent, shape }: Row, { dropMs, keepMs }: Windows): string[] {
  const when = `${shape}, ${dropMs / 1_000} to ${(dropMs + keepMs) / 1_000} s after the first launch`;
  return exceeded(achievedPercent, smPercent, when);
}

const details = v.strictObject({
  limitPercent,
  reference: referenceField,
  windows: described(
    v.strictObject({
      backToBack: windowsField('For kernels back to back'),
      manyWaves: windowsField('For kernels of many waves'),
      others: windowsField('For the other shapes'),
    }),
    'Times of the runs: a limiter that reacts later is missed',
  ),
  limits: rows(limitedRow, 'A row per limit and shape of load'),
  shares: shareLines,
  partition: v.optional(
    described(
      partitionOrReason,
      'Without a limit: the same estimate of a part of the multiprocessors that the driver itself sets apart',
    ),
  ),
});

export type SmUtilizationDetails = v.InferOutput<typeof details>;

export const smUtilizationAccuracy: MetricDefinition<SmUtilizationDetails> = {
  id: 'IS-003',
  name: 'SM Utilization Accuracy',
  category: 'isolation',
  unit: '%',
  direction: 'higher',
  question: 'Is a compute limit of 25 % really 25 %, and for which kernels is it not?',
  estimator:
    'mean over limits of 100·(1 − |achieved − limit| / limit), achieved: work under the limit ÷ work without it',
  delta: { absolute: 5 },
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureSmUtilization',
  where: 'fresh-processes',
  details,
  seconds: { quick: 10, standard: 60, thorough: 860 },
  measure: computeLimitBy(),
};

const withoutSeries = ({ series: _, ...row }: Row): Omit<Row, 'series'> => row;

/**
 * IS-003, %: how close the work of a tenant under a compute limit comes to that share of its work without one, for each
 * shape of load. It needs a system that sets limits: in the current environment it is `unsupported`; use
 * `compareSystems`. Without a limit, `details.partition` shows the same estimate of a part of the multiprocessors that the
 * driver itself sets apart (a green context), where it can.
 */
export const measureSmUtilization = measureFunction(smUtilizationAccuracy);
