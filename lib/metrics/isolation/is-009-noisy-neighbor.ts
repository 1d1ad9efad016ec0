/** IS-009: the cost of the worst of a fixed menu of neighbours to a latency-sensitive tenant. */
import * as v from 'valibot';
import { count, described, quantity, rows, text } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import { type AtLevel, largestOf } from '../../stats/largest.js';
import { shuffled } from '../../stats/random.js';
import { measureFunction } from '../core/measure-function.js';
import {
  invalidBy,
  type MeasureContext,
  type Measured,
  type MetricDefinition,
  unsupported,
  withoutNumber,
} from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { type Aggressor, MENU } from './shared/aggressor-menu.js';
import { type InterferenceRow, interferenceRow, NeighbourPlay, type Times } from './shared/neighbour-play.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type Sharing, sharingFields, traceSharing, type Unseen } from './shared/sharing.js';
import { deviceMs, offeredRateMet, p50Ms, p99Ms, pooled, type Served, VICTIM_NAME } from './victim-requests.js';

const TIMES: Record<Tier, Times> = {
  quick: { aloneMs: 100, togetherMs: 200, aggressorAloneMs: 60, together: 1 },
  standard: { aloneMs: 1_000, togetherMs: 2_000, aggressorAloneMs: 500, together: 1 },
  thorough: { aloneMs: 5_000, togetherMs: 5_000, aggressorAloneMs: 2_000, together: 2 },
};
const TRACE_MS: Record<Tier, number> = { quick: 100, standard: 300, thorough: 300 };

interface NeighbourPlan {
  menu: readonly Aggressor[];
  times: Times;
  traceMs: number;
}

interface Played {
  rows: InterferenceRow[];
  alone: Served;
  /** The cost of each aggressor that ran, with its interval. */
  degradations: ReadonlyMap<string, AtLevel>;
  /** The aggressor's; null if the system limits no memory. */
  quotaBytes: number | null;
  sharing: Sharing | Unseen;
  entered: ReturnType<typeof contextOf>;
}

function play(context: MeasureContext, { menu, times, traceMs }: NeighbourPlan): Promise<Played> {
  const { system, options } = context;
  const { memoryBytes } = system.limits({ id: FIRST_ID + 1 });
  return inScene(context, async (scene) => {
    const neighbours = new NeighbourPlay(scene, times, memoryBytes ?? 0);
    const tenants = await neighbours.enter();
    const entered = contextOf(scene.scene);
    const sharing = await traceSharing(system, scene.scene, tenants, traceMs);
    const rows: InterferenceRow[] = [];
    await neighbours.serveAlone();
    // The order is random, so that drift favours none.
    for (const aggressor of shuffled(menu, options.seed)) {
      rows.push(await neighbours.item(aggressor));
      context.progress(aggressor.name, rows.length / menu.length);
    }
    const place = ({ aggressor }: InterferenceRow) => menu.findIndex(({ name }) => name === aggressor);
    rows.sort((a, b) => place(a) - place(b));
    const { alone, degradations } = neighbours;
    return { rows, alone: pooled(alone), degradations, quotaBytes: memoryBytes, sharing, entered };
  });
}

/** Returns the row with the highest cost among those that ran. */
function worstOf(rows: readonly InterferenceRow[]): (InterferenceRow & { degradationPercent: number }) | null {
  const ran = rows.filter(
    (row): row is InterferenceRow & { degradationPercent: number } => row.degradationPercent !== null,
  );
  return ran.reduce<(typeof ran)[number] | null>(
    (worst, row) => (worst === null || row.degradationPercent > worst.degradationPercent ? row : worst),
    null,
  );
}

function checksOf(rows: readonly InterferenceRow[], alone: Served): [met: Check, died: Check, ...others: Check[]] {
  const idle = rows.filter(({ degradationPercent }) => degradationPercent === null);
  const dead = rows.filter(({ died }) => died);
  const cut = rows.filter(({ givenUp = 0 }) => givenUp > 0);
  const queues = rows.filter(({ overloaded }) => overloaded);
  return [
    offeredRateMet(alone),
    {
      name: 'no aggressor died',
      passed: dead.length === 0,
      detail:
        dead.length === 0
          ? `of ${rows.length}`
          : `${dead.map(({ aggressor, reason }) => `${aggressor}: ${reason}`).join('; ')} It may have been the worst of them`,
    },
    {
      name: 'aggressors ran',
      passed: idle.length === 0 ? true : 'not checked',
      detail:
        idle.map(({ aggressor, reason }) => `${aggressor} did not: ${reason}`).join('; ') ||
        `${rows.length}, each counted on the device`,
    },
    {
      name: 'every request was served',
      passed: cut.length === 0,
      detail:
        cut
          .map(({ aggressor, givenUp }) => `beside ${aggressor} ${givenUp} were given up; their real latency is longer`)
          .join('; ') || 'also beside each aggressor',
    },
    {
      name: 'the victim kept up',
      passed: queues.length === 0,
      detail:
        queues.length === 0
          ? 'beside each aggressor'
          : `not beside ${queues.map(({ aggressor }) => aggressor).join(', ')}: requests arrive faster than they are served, so their latency grows for as long as it is measured`,
    },
  ];
}

/** Memory above the quota that an aggressor received and that held what was written to it. */
export function memoryViolations(rows: readonly InterferenceRow[], quotaBytes: number | null): string[] {
  if (quotaBytes === null) return [];
  const quota = `under a quota of ${formatBytes(quotaBytes)}`;
  return rows.flatMap(({ aggressor, allocations, usedBytes = 0 }) => [
    ...(allocations && allocations.aboveQuota > 0
      ? [`${aggressor}: ${allocations.aboveQuota} allocations that are larger than the quota were granted ${quota}`]
      : []),
    ...(usedBytes > quotaBytes ? [`${aggressor}: ${formatBytes(usedBytes)} were held at once ${quota}`] : []),
  ]);
}

const details = v.strictObject({
  interference: rows(interferenceRow, 'A row per aggressor'),
  worst: v.nullable(text('The aggressor with the highest cost; null if none ran')),
  alone: described(
    v.strictObject({
      victim: text('What the victim serves'),
      p50Ms: quantity('ms', 'Median latency'),
      p99Ms: v.nullable(quantity('ms', '99th percentile of the latency; null with too few requests')),
      deviceMs: v.nullable(quantity('ms', 'Median time of a request on the device; null if none was served')),
      requests: count('Requests that arrived'),
    }),
    'The victim alone',
  ),
  sharing: sharingFields,
  context: v.optional(processContext),
});

export type NoisyNeighborDetails = v.InferOutput<typeof details>;

export function judge({
  rows: interference,
  alone,
  degradations,
  quotaBytes,
  sharing,
  entered,
}: Played): Measured<NoisyNeighborDetails> {
  const checks = checksOf(interference, alone);
  const violations = memoryViolations(interference, quotaBytes);
  const worst = worstOf(interference);
  const found = {
    interference,
    worst: worst?.aggressor ?? null,
    alone: {
      victim: VICTIM_NAME,
      p50Ms: p50Ms(alone).value,
      p99Ms: p99Ms(alone),
      deviceMs: deviceMs(alone),
      requests: alone.latencyNs.length,
    },
    sharing,
    context: entered,
  };
  const [met, died] = checks;
  const { reason: unmet } = invalidBy([met, died]);
  if (unmet !== undefined) return { ...withoutNumber('invalid', unmet, found), checks, violations };
  if (!worst) {
    const reason = `no aggressor ran: ${interference.map(({ aggressor, reason: why }) => `${aggressor}: ${why}`).join('; ')}`;
    return { ...withoutNumber('invalid', reason, found), checks, violations };
  }
  return {
    value: worst.degradationPercent,
    // The row has the interval of its aggressor; this one is of the worst, whichever it is.
    ...windowInterval(degradations.size > 0 && largestOf([...degradations.values()]).ci95),
    ciScope: 'within-process',
    processes: 2,
    headline: null,
    details: found,
    checks,
    violations,
  };
}

/** With a given plan, for tests; without one the tier decides. */
export const noisyNeighborBy =
  (plan?: NeighbourPlan): MetricDefinition<NoisyNeighborDetails>['measure'] =>
  async (context) => {
    const { tier } = context.options;
    try {
      return judge(await play(context, plan ?? { menu: MENU, times: TIMES[tier], traceMs: TRACE_MS[tier] }));
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`two tenants do not fit: ${error.message}`);
      throw error;
    }
  };

export const noisyNeighbor: MetricDefinition<NoisyNeighborDetails> = {
  id: 'IS-009',
  name: 'Noisy Neighbor Impact',
  category: 'isolation',
  unit: '%',
  direction: 'lower',
  question: 'What is the blast radius of the worst tenant you could be co-located with?',
  estimator:
    'largest increase, over all aggressors, of the median request latency beside the aggressor, relative to alone',
  delta: { absolute: 5 },
  needs: ['two tenants'],
  functionName: 'measureNoisyNeighbor',
  where: 'fresh-processes',
  details,
  seconds: { quick: 9, standard: 52, thorough: 280 },
  measure: noisyNeighborBy(),
};

/**
 * IS-009, %, signed: increase of the median latency of a tenant that serves 200 requests a second, beside the worst of
 * a menu of aggressors, each of which tries to exceed its quota of one resource. `details.interference[]` has one row
 * per aggressor, null with a reason if it did not run, `overloaded` if the value is the length of a queue;
 * `details.sharing` says where and when blocks of both ran. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureNoisyNeighbor = measureFunction(noisyNeighbor);
