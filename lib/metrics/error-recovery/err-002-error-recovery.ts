/** ERR-002: how soon a tenant works again after its process ended badly, beyond a start that no error precedes. */
import * as v from 'valibot';
import type { Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { seededRandom } from '../../stats/random.js';
import { count, quantity } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type MetricDefinition, withoutNumber } from '../core/metric.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { NS_PER_US } from '../core/units.js';
import { type Crash, ILLEGAL_ADDRESS, KILLS } from './crashes.js';
import { checksOf, recoveryTable, rowOf, type Round, resetRow, sentences, unrecovered } from './recovery-rows.js';
import { RecoveringTenant } from './recoveries.js';

const details = v.strictObject({
  recoveries: recoveryTable,
  untroubledStartUs: quantity('us', 'Median time from the spawn to the first result of starts that no error precedes'),
  quotaBytes: v.nullable(count('Memory that the first of these could allocate (bytes)')),
  context: v.optional(processContext),
});

export type ErrorRecoveryDetails = v.InferOutput<typeof details>;

export interface RecoveryPlan {
  /** How long processes are started until one works. */
  patienceMs: number;
  kills: readonly Crash[];
}

const PLAN: RecoveryPlan = { patienceMs: 60_000, kills: KILLS };
/** Processes lost to the headline's error, and to each of the others. */
const SAMPLES: Record<Tier, readonly [headline: number, other: number]> = {
  quick: [3, 1],
  standard: [6, 2],
  thorough: [20, 20],
};

/** In turn, so that a drift is in all rows alike. */
function planned([headline, other]: readonly [number, number], kills: readonly Crash[]) {
  return Array.from({ length: Math.max(headline, other) }, (_, i) => ({
    crashes: [...(i < headline ? [ILLEGAL_ADDRESS] : []), ...(i < other ? kills : [])],
    resets: i < other,
  }));
}

async function recoverAll(context: MeasureContext, { patienceMs, kills }: RecoveryPlan) {
  const { tier, iterations, seed } = context.options;
  const samples = iterations === null ? SAMPLES[tier] : ([iterations, Math.min(iterations, SAMPLES[tier][1])] as const);
  const plan = planned(samples, kills);
  const rounds: Round[] = [];
  const entered = await inScene(context, async (scene) => {
    const settings = { tenant: { id: FIRST_ID }, patienceMs, random: seededRandom(seed) };
    const tenant = new RecoveringTenant(context, scene, settings);
    for (const [i, { crashes, resets }] of plan.entries()) {
      context.progress('a start that no error precedes', i / plan.length);
      const round: Round = { untroubled: await tenant.start(), recoveries: [], reset: null };
      rounds.push(round);
      for (const crash of crashes) {
        context.progress(crash.name, i / plan.length);
        const recovery = await tenant.crash(crash);
        round.recoveries.push(recovery);
        // Every further start would wait as long.
        if (recovery.successor === null) return contextOf(scene.scene);
      }
      if (resets) round.reset = await tenant.reset();
    }
    return contextOf(scene.scene);
  });
  if (unrecovered(rounds)) await context.system.recover?.();
  return { rounds, entered };
}

/** With another plan, for tests. */
export const errorRecoveryBy =
  (plan: RecoveryPlan): MetricDefinition<ErrorRecoveryDetails>['measure'] =>
  async (context) => {
    const { patienceMs, kills } = plan;
    const { rounds, entered } = await recoverAll(context, plan);
    const rows = [ILLEGAL_ADDRESS, ...kills].map((crash) => rowOf(crash, rounds));
    const untroubled = rounds.map(({ untroubled: { firstResultAtNs, spawnedAtNs } }) => firstResultAtNs - spawnedAtNs);
    const { value: untroubledNs } = median(untroubled);
    const found = {
      recoveries: [...rows.map(({ row }) => row), ...resetRow(rounds)],
      untroubledStartUs: untroubledNs / NS_PER_US,
      quotaBytes: rounds[0]?.untroubled.grantedBytes ?? null,
      context: entered,
    };
    const lost = unrecovered(rounds);
    const violations = sentences(rows, patienceMs);
    if (lost) {
      const said = lost.refusals.at(-1);
      const reason = `not recovered: after ${lost.crash.name} no new process worked within ${patienceMs / 1_000} s`;
      return { ...withoutNumber('failed', said ? `${reason} (${said})` : reason, found), violations };
    }
    const checks = checksOf(rows, rounds);
    const headline = Float64Array.from(rows[0]?.beyondStartNs ?? [], (ns) => ns / NS_PER_US);
    return {
      ...invalidBy(checks),
      ...median(headline),
      ciScope: 'between-processes',
      processes: headline.length,
      headline,
      details: found,
      checks,
      violations,
    };
  };

export const errorRecovery: MetricDefinition<ErrorRecoveryDetails> = {
  id: 'ERR-002',
  name: 'Error Recovery Time',
  category: 'error-recovery',
  unit: 'us',
  direction: 'lower',
  question: 'How long does a restart take after a crash, and does the state of the layer survive it?',
  estimator:
    "median over processes of the time from a process's illegal address until its successor's first result, minus that of a start without an error",
  delta: { absolute: 20_000 },
  needs: ['fresh processes'],
  functionName: 'measureErrorRecovery',
  where: 'fresh-processes',
  runsLast: true,
  details,
  seconds: { quick: 10, standard: 20, thorough: 120 },
  measure: errorRecoveryBy(PLAN),
};

/**
 * ERR-002, µs: from the moment in which a process is told of an illegal address (700) until the first kernel of a process
 * that is started in its place, in the same tenant, gave the right result, minus the start of such a process that no error
 * precedes. Processes are started until one works; after 60 s the metric is `failed: not recovered`.
 * `details.recoveries[]` has one row per way to end (also SIGKILL inside an allocation and while a kernel runs) with
 * what was told, the tries, the memory that was not given back and the Xids, and one for a process that resets its
 * primary context instead of ending. `iterations` is the number of processes of the headline, each of which is lost.
 */
export const measureErrorRecovery = measureFunction(errorRecovery);
