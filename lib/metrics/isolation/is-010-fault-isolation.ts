/** IS-010: tenants fail one after the other, each in a different way, beside a victim that must not be affected. */
import { messageOf } from '../../errors/message-of.js';
import { loadAddon } from '../../native/load.js';
import type { Tier } from '../../results/document.js';
import { seededRandom } from '../../stats/random.js';
import { askSession } from '../../workers/session-task.js';
import { WorkerEnded } from '../../workers/worker.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext, MetricDefinition } from '../core/metric.js';
import { isMissingFunction, isOutOfMemory, unlessFull } from '../core/row-state.js';
import { NextTenant } from '../tenants/next-tenant.js';
import { FIRST_ID, inScene, type MetricScene } from '../tenants/scene.js';
import { contextOf } from '../tenants/tenants.js';
import { measureFunction } from '../core/measure-function.js';
import { type Fault, FAULTS } from './shared/faults.js';
import {
  type Bystander,
  type FaultIsolationDetails,
  faultDetails,
  type FaultRow,
  harm,
  judge,
  repeated,
  rowOf,
  STARTS,
} from './shared/fault-rows.js';
import { mostBytesOf, xidsFromNow } from './shared/outside.js';
import { WatchedVictim } from './watched-victim.js';

const ROUNDS: Record<Tier, number> = { quick: 1, standard: 2, thorough: 10 };
/** How long to wait for a victim that has stalled. */
const PATIENCE_MS = 10_000;
const NEW_TENANT_MS = 20_000;
const BLOCK_BYTES = 2 ** 20;

/** A fault to raise; `first` is its row if it is raised again, because a process died that time. */
interface Attempt {
  fault: Fault;
  first: FaultRow | null;
}

/** A victim and sacrificial tenants; raises the remaining faults until one of them reaches a neighbour. */
class Play {
  readonly #context: MeasureContext;
  readonly #scene: MetricScene;
  readonly #next: NextTenant;
  readonly #random: () => number;
  #hasRaised = false;

  constructor(context: MeasureContext, scene: MetricScene, ids: () => number, random: () => number) {
    this.#context = context;
    this.#scene = scene;
    this.#next = new NextTenant(scene, ids);
    this.#random = random;
  }

  /** Removes the faults that it raised from `left`. Answers why no further tenant started, or null. */
  async run(left: Attempt[], done: (attempt: Attempt, row: FaultRow) => void): Promise<string | null> {
    const now = () => loadAddon().now();
    const first = this.#next.take();
    this.#next.startAhead();
    const worker = await this.#scene.enter(first, 'victim');
    await this.#scene.prove(worker);
    const victim = new WatchedVictim(worker, now);
    await victim.start();
    try {
      let next = await this.#newTenant();
      while (left.length > 0 && 'tenant' in next && victim.alive) {
        const attempt = left.shift() as Attempt;
        const row = await this.#raise(attempt.fault, victim, next, now);
        next = await this.#newTenant();
        done(attempt, afterwards(row, victim, next));
      }
      return 'failed' in next ? next.failed : null;
    } finally {
      await victim.stop();
    }
  }

  async #raise(fault: Fault, victim: WatchedVictim, { tenant, id }: Entered, now: () => number): Promise<Raised> {
    const { name, expectedCode } = fault;
    const xidsSeen = await xidsFromNow(this.#context);
    const sinceNs = now();
    let cardFull: boolean | null | undefined;
    const noteCardFull = (full: boolean | null) => void (cardFull = full);
    const mostBytes = await mostBytesOf(this.#context, id);
    const stage = { tenant, victim, random: this.#random, mostBytes, noteCardFull };
    let code: string | null = null;
    let notRaised: string | undefined;
    try {
      code = await fault.raise(stage);
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (isMissingFunction(error)) throw error;
      notRaised = messageOf(error);
    }
    this.#hasRaised = true;
    this.#next.startAhead();
    await tenant.stop();
    await victim.goesOn(PATIENCE_MS);
    const noticed = victim.noticed(sinceNs, now());
    const xids = await xidsSeen(fault.hasXid);
    return {
      fault: name,
      expectedCode,
      code,
      ...(cardFull !== undefined && { cardFull }),
      ...(code === null && { notRaised: notRaised ?? 'everything succeeded' }),
      victim: harm(noticed),
      longestStallMs: noticed.longestStallMs,
      xids,
    };
  }

  /** Proven at once, because it will be killed before the end. */
  async #newTenant(): Promise<Entered | NotEntered> {
    const next = this.#next.take();
    const before = new Set(this.#scene.scene.workers);
    const started = () => this.#scene.scene.workers.find((worker) => !before.has(worker));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      started()?.signal('SIGKILL');
    }, NEW_TENANT_MS);
    try {
      const tenant = await this.#scene.enter(next, 'aggressor');
      const request = { bytes: BLOCK_BYTES, forMs: 1 };
      const { wrong } = await askSession(tenant, { name: 'verifiedRounds', request, deadlineMs: NEW_TENANT_MS });
      if (wrong > 0) throw new Error('its first results were wrong');
      await this.#scene.prove(tenant);
      return { tenant, id: next.id };
    } catch (error) {
      this.#context.signal.throwIfAborted();
      const tenant = started();
      if (tenant) this.#scene.excuse(tenant);
      // After a fault it is a finding; before one there is no room for two tenants, or the system runs one at a time.
      if ((isOutOfMemory(error) || isMissingFunction(error)) && !this.#hasRaised) throw error;
      return { failed: messageOf(error), died: error instanceof WorkerEnded && !late };
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Entered {
  tenant: WorkerTenant;
  id: number;
}

interface NotEntered {
  failed: string;
  /** Whether its process ended by itself, or was killed from outside. */
  died: boolean;
}

/** A row before another tenant is started. */
type Raised = Omit<FaultRow, 'newTenant' | 'passed'>;

/** The victim may notice a fault only while the next tenant starts. */
function afterwards(row: Raised, victim: WatchedVictim, next: Entered | NotEntered): FaultRow {
  const died: Bystander[] = [
    ...(victim.died ? (['victim'] as const) : []),
    ...('failed' in next && next.died ? (['new tenant'] as const) : []),
  ];
  return rowOf({
    ...row,
    victim: victim.error ?? row.victim,
    newTenant: 'tenant' in next ? STARTS : next.failed,
    died,
  });
}

interface FaultPlan {
  rounds: number;
  faults: readonly Fault[];
}

/** With a given plan, for tests; without one the tier decides. */
export const faultIsolationBy =
  (plan?: FaultPlan): MetricDefinition<FaultIsolationDetails>['measure'] =>
  (context) =>
    unlessFull('two tenants', raiseAll(context, plan));

async function raiseAll(context: MeasureContext, plan?: FaultPlan) {
  const { tier, seed } = context.options;
  const { rounds, faults } = plan ?? { rounds: ROUNDS[tier], faults: FAULTS };
  const random = seededRandom(seed);
  const left = Array.from({ length: rounds }, () => faults.map((fault): Attempt => ({ fault, first: null }))).flat();
  const planned = left.length;
  const rows: FaultRow[] = [];
  let attempts = 0;
  let isHarmed = false;
  let id = FIRST_ID;
  let entered: ReturnType<typeof contextOf>;
  let notMeasured: string | null = null;
  const done = ({ fault, first }: Attempt, row: FaultRow) => {
    attempts++;
    isHarmed ||= !row.passed;
    // An operator or the system may have ended the process: a fault that ends it does so again.
    if (first === null && row.died) left.unshift({ fault, first: row });
    else rows.push(first === null ? row : repeated(first, row));
    context.progress(fault.name, rows.length / planned);
  };
  while (left.length > 0 && notMeasured === null) {
    const before = attempts;
    try {
      await inScene(context, async (scene) => {
        const play = new Play(context, scene, () => id++, random);
        const failed = await play.run(left, done);
        if (attempts === before) notMeasured = `no tenant could be started: ${failed}`;
        entered ??= contextOf(scene.scene);
      });
    } catch (error) {
      context.signal.throwIfAborted();
      if (attempts === 0 || (isMissingFunction(error) && !isHarmed)) throw error;
      notMeasured = messageOf(error);
    }
    if (isHarmed) await context.system.recover?.();
  }
  const rest =
    notMeasured === null ? {} : { notMeasured: { faults: left.map(({ fault }) => fault.name), reason: notMeasured } };
  for (const { first } of left) if (first) rows.push(repeated(first, null));
  return judge(rows, { ...rest, rounds, context: entered }, { count: planned, notMeasured }, id - FIRST_ID);
}

export const faultIsolation: MetricDefinition<FaultIsolationDetails> = {
  id: 'IS-010',
  name: 'Fault Isolation',
  category: 'isolation',
  unit: 'boolean',
  direction: 'higher',
  question: "Does a neighbour's crash become your outage?",
  estimator: '1 if no fault of a neighbour reached the victim and a new tenant starts after each, else 0',
  delta: { absolute: 0.5 },
  values: 'exact',
  needs: ['several processes'],
  functionName: 'measureFaultIsolation',
  where: 'fresh-processes',
  details: faultDetails,
  runsLast: true,
  seconds: { quick: 9, standard: 12, thorough: 60 },
  measure: faultIsolationBy(),
};

/**
 * IS-010: 1 if no fault of a neighbouring tenant (out-of-bounds store, misaligned access, trap, device assert, endless
 * kernel, SIGKILL and SIGSTOP inside an allocation, leak until the quota) gave a victim an error, a wrong result or a
 * stall above 2 s, and a new tenant starts after each; else 0, with a violation for each. A fault beside which a process
 * died is raised again: if that process does not die again, the result is `invalid`. `details.faults[]` has one row per
 * fault. `iterations` and `resolution` do not apply.
 */
export const measureFaultIsolation = measureFunction(faultIsolation);
