/** IS-012: which ways to use the card obey a tenant's compute limit. */
import * as v from 'valibot';
import { choice, flag, quantity, rows, text } from '../core/details.js';
import { limitPercent as limitField, shareLines } from './share-fields.js';
import type { AggressorRequest } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { withMoreLead } from '../tenants/more-lead.js';
import { NS_PER_MS } from '../core/units.js';
import type { LimitedWorker } from '../core/other-limits.js';
import { BIN_MS, type FailedRow, isMeasured, measureRows, type Row } from './shared/limited-rows.js';
import { BACK_TO_BACK, LAUNCH_PATHS } from './shared/load-shapes.js';
import { idleReason, rateOf } from './shared/aggressor-menu.js';
import { throttled } from './shared/mechanism.js';
import { ownLimit, type Reference, referenceField, referenceOf } from './tenant-load.js';

const WINDOWS = {
  quick: { freeMs: 200, dropMs: 300, keepMs: 500 },
  standard: { freeMs: 400, dropMs: 1_000, keepMs: 2_000 },
  thorough: { freeMs: 1_000, dropMs: 5_000, keepMs: 15_000 },
} as const;
const DIRECT = 'cuLaunchKernel';
const COPIES = 'async copies';
/** Times for creating the copies' buffers, tried in turn until they are ready before the window. */
const SETUP_MS = [400, 1_600, 6_400];
const GRACE_MS = 60_000;

const pathRow = v.strictObject({
  path: text('The way to use the card'),
  outcome: choice(['throttled', 'not throttled', 'unsupported'], 'Whether the limit acts on it'),
  achievedPercent: v.nullable(quantity('%', 'Work under the limit, of the work without it; null if it did not run')),
  limitPercent: limitField,
  counted: flag('Whether it counts in the value: copies use no multiprocessor and only show what else is limited'),
  reason: v.optional(text('Why it did not run')),
});

type Path = v.InferOutput<typeof pathRow>;

/** Copies per second without the limit and under it, or why they are impossible. */
type Copies = Map<number | null, number | string>;

async function copy({ options: { tier } }: MeasureContext, worker: LimitedWorker): Promise<number | string> {
  const windowMs = WINDOWS[tier].freeMs;
  const attempt = (setupMs: number) => {
    const request: AggressorRequest = {
      kind: 'copyToDevice',
      startAtNs: worker.nowNs() + setupMs * NS_PER_MS,
      windowNs: windowMs * NS_PER_MS,
      quotaBytes: 0,
    };
    return worker.ask('aggressor', request, setupMs + windowMs + GRACE_MS);
  };
  const { found, isLate } = await withMoreLead(
    SETUP_MS,
    attempt,
    ({ startedNs, missing }) => missing === null && startedNs >= (windowMs * NS_PER_MS) / 2,
  );
  return isLate ? 'its buffers were not ready in time' : (idleReason(found) ?? (rateOf(found) as number));
}

async function measurePaths(context: MeasureContext, limitPercent: number, reference: Reference) {
  const copies: Copies = new Map();
  const rows = await measureRows(context, {
    shapes: LAUNCH_PATHS,
    windowsOf: () => WINDOWS[context.options.tier],
    limits: [limitPercent],
    reference,
    beside: async (worker, percent) => void copies.set(percent, await copy(context, worker)),
  });
  return typeof rows === 'string' ? rows : { rows, copies };
}

const nameOf = ({ shape }: Pick<Row, 'shape'>): string => (shape === BACK_TO_BACK.name ? DIRECT : shape);

function pathOf(row: Row | FailedRow): Path {
  const head = { path: nameOf(row), limitPercent: row.smPercent, counted: true };
  if (isMeasured(row)) return { ...head, ...outcomeOf(row.achievedPercent, row.smPercent) };
  const reason = 'unsupported' in row ? row.unsupported : `failed: ${row.failed}`;
  return { ...head, outcome: 'unsupported', achievedPercent: null, reason };
}

function outcomeOf(achievedPercent: number, limitPercent: number): Pick<Path, 'outcome' | 'achievedPercent'> {
  return { outcome: throttled(achievedPercent, limitPercent) ? 'throttled' : 'not throttled', achievedPercent };
}

function copiesPath(copies: Copies, limitPercent: number): Path {
  const head = { path: COPIES, limitPercent, counted: false };
  const [free, limited] = [copies.get(null), copies.get(limitPercent)];
  if (typeof free === 'number' && typeof limited === 'number')
    return { ...head, ...outcomeOf((100 * limited) / free, limitPercent) };
  const reason = [free, limited].find((answer) => typeof answer === 'string');
  return { ...head, outcome: 'unsupported', achievedPercent: null, reason: reason ?? 'no copy was made' };
}

function failures(rows: readonly (Row | FailedRow)[]): Check {
  const failed = rows.flatMap((row) => ('failed' in row ? [`${nameOf(row)}: ${row.failed}`] : []));
  return {
    name: 'every path that was accepted ran',
    passed: failed.length === 0,
    detail: failed.join('; ') || 'the device counted all blocks',
  };
}

const details = v.strictObject({
  limitPercent: limitField,
  reference: referenceField,
  paths: rows(pathRow, 'A row per way to use the card'),
  shares: shareLines,
});

export type ComputeLimitCoverageDetails = v.InferOutput<typeof details>;

export const launchCoverage: MetricDefinition<ComputeLimitCoverageDetails> = {
  id: 'IS-012',
  name: 'Compute Limit Coverage',
  category: 'isolation',
  unit: '%',
  direction: 'higher',
  question: 'Which ways to launch work escape the compute limit?',
  estimator: 'share of the launch paths that lose at least half of what the limit should take away, of those that run',
  delta: { absolute: 5 },
  values: 'exact',
  needs: ['a system with a compute limit', 'fresh processes'],
  functionName: 'measureComputeLimitCoverage',
  where: 'fresh-processes',
  details,
  seconds: { quick: 14, standard: 40, thorough: 220 },
  async measure(context) {
    const limitPercent = ownLimit(context.system);
    if (limitPercent === null) return unsupported('no compute limit is set');
    const reference = referenceOf(context.system, { smPercent: limitPercent });
    const measured = await measurePaths(context, limitPercent, reference);
    if (typeof measured === 'string') return unsupported(measured);
    const { rows, copies } = measured;
    const paths = [...rows.map(pathOf), copiesPath(copies, limitPercent)];
    const counted = paths.filter((path) => path.counted && path.outcome !== 'unsupported');
    return {
      value: (100 * counted.filter(({ outcome }) => outcome === 'throttled').length) / counted.length,
      ci95: null,
      headline: null,
      processes: 2,
      details: {
        limitPercent,
        reference,
        paths,
        shares: rows.filter(isMeasured).map((row) => ({
          name: nameOf(row),
          limitPercent,
          binMs: BIN_MS,
          percent: row.series.map((share) => Math.round(10 * share) / 10),
        })),
      },
      checks: [failures(rows)],
    };
  },
};

/**
 * IS-012, %: of the ways to launch work, those that obey the compute limit. It needs a system that sets limits: in the
 * current environment it is `unsupported`; use `compareSystems`.
 */
export const measureComputeLimitCoverage = measureFunction(launchCoverage);
