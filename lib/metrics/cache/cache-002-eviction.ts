/** CACHE-002: how much of a tenant's cached lines one burst of a neighbour evicts. */
import * as v from 'valibot';
import { count, described, interval, quantity, rows } from '../core/details.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chase } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { shuffled } from '../../stats/random.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { GRACE_MS } from '../bandwidth/streams.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf, grown, type Populated, processContext, separable, withTenants } from '../tenants/tenants.js';
import { NS_PER_MS } from '../core/units.js';
import {
  calibrate,
  type Calibration,
  calibrationDetails,
  indistinct,
  l2Bytes,
  latenciesIn,
  missesBeyond,
} from './calibration.js';
import { added, type Scale, scaleDetails, type Tally, tallyOf } from './latencies.js';

interface EvictionPlan {
  /** Sizes of the neighbour's burst, in eighths of the cache; the value is of the first one. */
  bursts: readonly number[];
  /** Rounds of each burst, and as many in which the neighbour waits. */
  rounds: number;
}

/** The victim's set, in eighths of the cache. */
const PRIMED = 2;
const PRIMING_PASSES = 2;
const HEADLINE = 8;
const PLANS: Record<Tier, EvictionPlan> = {
  quick: { bursts: [HEADLINE], rounds: 6 },
  standard: { bursts: [HEADLINE, 2, 4, 16], rounds: 15 },
  thorough: { bursts: [HEADLINE, 1, 2, 4, 6, 12, 16], rounds: 50 },
};
const MOST_CONTROL_MISSES = 10;

/** A probe after a burst, and one after the neighbour waited as long. */
interface Round {
  evicted: Tally;
  control: Tally;
  /** Whether the burst lies between prime and probe by the device's clock. */
  between: boolean;
}

const pass = (worker: WorkerTenant, eighths: number, passes: number): Promise<Chase> =>
  askSession(worker, { name: 'chasePasses', request: { eighths, blocks: 0, passes }, deadlineMs: GRACE_MS });

/** In ms, too coarse for anything but an order: the device's clock since its origin. */
const beganMs = ({ originMs, fromNs }: Chase): number => originMs + (fromNs[0] as number) / NS_PER_MS;
const endedMs = ({ originMs, toNs }: Chase): number => originMs + (toNs.at(-1) as number) / NS_PER_MS;

class Burst {
  readonly #victim: WorkerTenant;
  readonly #neighbour: WorkerTenant;
  readonly #eighths: number;
  #lastMs = 0;

  constructor([victim, neighbour]: readonly WorkerTenant[], eighths: number) {
    this.#victim = victim as WorkerTenant;
    this.#neighbour = neighbour as WorkerTenant;
    this.#eighths = eighths;
  }

  /** Makes the sets, so that rounds touch nothing else. */
  async prepare(): Promise<void> {
    await pass(this.#neighbour, this.#eighths, 0);
    await pass(this.#victim, PRIMED, 0);
  }

  async round(scale: Scale, burstFirst: boolean): Promise<Round> {
    const order = burstFirst ? [true, false] : [false, true];
    const found = new Map<boolean, { probe: Tally; between: boolean }>();
    for (const bursts of order) found.set(bursts, await this.#probe(scale, bursts));
    const [burst, control] = [found.get(true), found.get(false)];
    return { evicted: burst?.probe as Tally, control: control?.probe as Tally, between: burst?.between === true };
  }

  async #probe(scale: Scale, bursts: boolean): Promise<{ probe: Tally; between: boolean }> {
    const prime = await pass(this.#victim, PRIMED, PRIMING_PASSES);
    const burst = bursts ? await this.#touch() : null;
    if (!burst) await sleep(this.#lastMs);
    const probe = await pass(this.#victim, PRIMED, 1);
    const between = burst !== null && beganMs(burst) >= endedMs(prime) && endedMs(burst) <= beganMs(probe);
    return { probe: tallyOf(latenciesIn(probe), scale), between };
  }

  async #touch(): Promise<Chase> {
    const before = performance.now();
    const burst = await pass(this.#neighbour, this.#eighths, 1);
    this.#lastMs = performance.now() - before;
    return burst;
  }
}

const missPercent = ({ loads, hits }: Tally): number => (100 * (loads - hits)) / loads;

export const evictedPercent = (rounds: readonly Round[]): number =>
  missPercent(added(rounds.map(({ evicted }) => evicted))) - missPercent(added(rounds.map(({ control }) => control)));

interface Played {
  eighths: number;
  rounds: Round[];
}

function rowOf({ eighths, rounds }: Played) {
  const [evicted, control] = [added(rounds.map((each) => each.evicted)), added(rounds.map((each) => each.control))];
  return {
    burstOfL2: eighths / 8,
    evictedPercent: evictedPercent(rounds),
    ci95: figureOfWindows(
      [rounds.length],
      ([some]) => evictedPercent((some as readonly number[]).map((round) => rounds[round] as Round)),
      { isPositive: false },
    ).ci95,
    missPercent: missPercent(evicted),
    controlMissPercent: missPercent(control),
    gaps: evicted.gaps + control.gaps,
    lines: Math.round((evicted.loads + evicted.gaps) / rounds.length),
    rounds: rounds.length,
  };
}

interface Found {
  calibration: Calibration;
  played: Played[];
  context: ReturnType<typeof contextOf>;
}

async function play(context: MeasureContext, populated: Populated, plan: EvictionPlan): Promise<Found | string> {
  await populated.growTo(1);
  const calibration = await calibrate(populated.scene.workers[0] as WorkerTenant, 'quick');
  const entered = () => contextOf(populated.scene);
  if (indistinct(calibration) !== null) return { calibration, played: [], context: entered() };
  const full = await grown(populated, 2);
  if (full !== null) return `two tenants do not fit: ${full}`;
  const played: Played[] = [];
  for (const eighths of plan.bursts) {
    const burst = new Burst(populated.scene.workers, eighths);
    await burst.prepare();
    const rounds: Round[] = [];
    // In random order, so that what a round leaves behind favours neither.
    const order = shuffled(
      Array.from({ length: plan.rounds }, (_, i) => i % 2 === 0),
      context.options.seed,
    );
    for (const burstFirst of order) rounds.push(await burst.round(calibration.scale, burstFirst));
    played.push({ eighths, rounds });
    context.progress(`a burst of ${eighths / 8} of the cache`, played.length / plan.bursts.length);
  }
  return { calibration, played, context: entered() };
}

function checksOf({ eighths, rounds }: Played, calibration: Calibration): Check[] {
  const control = missPercent(added(rounds.map((each) => each.control)));
  const outside = rounds.filter(({ between }) => !between).length;
  return [
    {
      name: `fewer than ${MOST_CONTROL_MISSES} % misses where the neighbour waited`,
      passed: control < MOST_CONTROL_MISSES,
      detail: `${control.toPrecision(3)} %`,
    },
    {
      name: 'every burst ran between prime and probe',
      passed: outside === 0,
      detail:
        outside === 0
          ? `${rounds.length} of ${eighths / 8} of the cache, by stamps of the device`
          : `${outside} did not`,
    },
    missesBeyond(calibration),
  ];
}

async function measure(context: MeasureContext, plan: EvictionPlan): Promise<Measured<CacheEvictionDetails>> {
  const topology = separable(context.system) ? 'separate' : 'shared';
  try {
    const found = await withTenants(context, { topology }, (populated) => play(context, populated, plan));
    if (typeof found === 'string') return unsupported(found);
    const { calibration, played } = found;
    const reason = indistinct(calibration);
    if (reason !== null) return unsupported(reason, { calibration });
    const { workingSets: _, ...card } = calibration;
    const table = played.map((each) => rowOf(each));
    const [headline] = table as [(typeof table)[0]];
    const checks = checksOf(played[0] as Played, calibration);
    return {
      ...invalidBy(checks),
      value: headline.evictedPercent,
      ...windowInterval(headline.ci95),
      ciScope: 'within-process',
      processes: 2,
      headline: null,
      details: { rows: [...table].sort((a, b) => a.burstOfL2 - b.burstOfL2), ...card, context: found.context },
      checks,
    };
  } catch (error) {
    if (isOutOfMemory(error)) return unsupported(`two tenants do not fit: ${error.message}`);
    throw error;
  }
}

/** With a plan of its own, for tests; the tier decides where there is none. */
export const cacheEvictionBy =
  (plan?: EvictionPlan): MetricDefinition<CacheEvictionDetails>['measure'] =>
  (context) =>
    measure(context, plan ?? PLANS[context.options.tier]);

const details = v.strictObject({
  rows: rows(
    v.strictObject({
      burstOfL2: described(v.number(), 'Lines that the neighbour touches, divided by those of the L2 cache'),
      evictedPercent: quantity('%', 'Lines that the burst evicted'),
      ci95: interval('%', 'evictedPercent'),
      missPercent: quantity('%', 'Misses after the burst'),
      controlMissPercent: quantity('%', 'Misses where the neighbour only waited'),
      gaps: count('Loads in which another context ran'),
      lines: count('Lines of the tenant'),
      rounds: count('Rounds with the burst, and as many without'),
    }),
    'A row per size of the burst',
  ),
  l2Bytes,
  scale: scaleDetails,
  context: v.optional(processContext),
  calibration: calibrationDetails,
});

export type CacheEvictionDetails = v.InferOutput<typeof details>;

export const cacheEviction: MetricDefinition<CacheEvictionDetails> = {
  id: 'CACHE-002',
  name: 'Cache Eviction Rate',
  category: 'cache',
  unit: '%',
  direction: 'lower',
  question: 'How much of your cached data does one burst of a neighbour cost you?',
  estimator:
    "misses of one pass through a quarter of the L2 cache after a neighbour touched as much as the cache once − those where it waited, ÷ the pass's loads",
  delta: { absolute: 2 },
  needs: ['two tenants'],
  functionName: 'measureCacheEviction',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 8, thorough: 30 },
  lineCharts: [
    {
      title: 'Lines evicted by one burst of a neighbour',
      axes: { x: 'burst ÷ L2 cache', y: '% of lines' },
      rows: 'rows',
      point: { x: 'burstOfL2', y: 'evictedPercent' },
    },
  ],
  measure: cacheEvictionBy(),
};

/**
 * CACHE-002, %, signed: a tenant reads a quarter of the L2 cache twice, a neighbour touches as many lines as the cache has
 * once and stops, and the tenant reads its lines once more. What misses then, less what misses where the neighbour only
 * waits, is what the burst evicted. From tier `standard` on `details.rows[]` has bursts of a quarter of the cache to twice
 * the cache. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureCacheEviction = measureFunction(cacheEviction);
