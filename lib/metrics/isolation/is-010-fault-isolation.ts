/** IS-010: tenants fail one after the other, each in a different way, beside a victim that must not be affected. */
import { messageOf } from '../../errors/message-of.js';
import { loadAddon } from '../../native/load.js';
import type { Check, Tier } from '../../results/document.js';
import { seededRandom } from '../../stats/random.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../metric.js';
import { FIRST_ID, inScene, type MetricScene } from '../scene.js';
import { contextOf } from '../tenants.js';
import { measureFunction } from '../measure-function.js';
import { type Fault, FAULTS } from './faults.js';
import { mostBytesOf, xidsFromNow } from './outside.js';
import { type Noticed, STALL_MS, WatchedVictim } from './watched-victim.js';

const ROUNDS: Record<Tier, number> = { quick: 1, standard: 2, thorough: 10 };
/** How long to wait for a victim that has stalled. */
const PATIENCE_MS = 10_000;
const NEW_TENANT_MS = 20_000;
const BLOCK_BYTES = 2 ** 20;

export interface FaultRow {
  fault: string;
  expectedCode: string;
  /** The observed outcome; null if the fault did not happen. */
  code: string | null;
  /** Why it did not happen. */
  notRaised?: string;
  /** `unharmed`, or what happened to it. */
  victim: string;
  longestStallMs: number | null;
  /** `starts`, or what happened when another tenant was started afterwards. */
  newTenant: string;
  /** Null if NVML does not report them. */
  xids: number[] | null;
  passed: boolean;
}

const UNHARMED = 'unharmed';
const STARTS = 'starts';

function harm({ error, wrong, longestStallMs }: Noticed): string {
  if (error !== null) return error;
  if (wrong > 0) return `${wrong} wrong results`;
  return longestStallMs > STALL_MS ? `no result for ${Math.round(longestStallMs)} ms` : UNHARMED;
}

/** A victim and sacrificial tenants; raises the remaining faults until one of them reaches a neighbour. */
class Play {
  readonly #context: MeasureContext;
  readonly #scene: MetricScene;
  readonly #ids: () => number;
  readonly #random: () => number;

  constructor(context: MeasureContext, scene: MetricScene, ids: () => number, random: () => number) {
    this.#context = context;
    this.#scene = scene;
    this.#ids = ids;
    this.#random = random;
  }

  /** Removes the faults that it raised from `left`. */
  async run(left: Fault[], done: (row: FaultRow) => void): Promise<void> {
    const now = () => loadAddon().now();
    const worker = await this.#scene.enter({ id: this.#ids() }, 'victim');
    await this.#scene.prove(worker);
    const victim = new WatchedVictim(worker, now);
    await victim.start();
    try {
      let next = await this.#newTenant();
      while (left.length > 0 && 'tenant' in next && victim.alive) {
        const fault = left.shift() as Fault;
        const row = await this.#raise(fault, victim, next, now);
        next = await this.#newTenant();
        const newTenant = 'tenant' in next ? STARTS : next.failed;
        done({ ...row, newTenant, passed: row.passed && newTenant === STARTS });
      }
    } finally {
      await victim.stop();
    }
  }

  async #raise(fault: Fault, victim: WatchedVictim, { tenant, id }: Entered, now: () => number): Promise<FaultRow> {
    const { name, expectedCode } = fault;
    const xidsSeen = await xidsFromNow(this.#context);
    const sinceNs = now();
    const stage = { tenant, victim, random: this.#random, mostBytes: await mostBytesOf(this.#context, id) };
    let code: string | null = null;
    let notRaised: string | undefined;
    try {
      code = await fault.raise(stage);
    } catch (error) {
      this.#context.signal.throwIfAborted();
      notRaised = messageOf(error);
    }
    await tenant.stop();
    await victim.goesOn(PATIENCE_MS);
    const noticed = victim.noticed(sinceNs, now());
    const xids = await xidsSeen(fault.hasXid);
    const harmed = harm(noticed);
    return {
      fault: name,
      expectedCode,
      code,
      ...(code === null && { notRaised: notRaised ?? 'everything succeeded' }),
      victim: harmed,
      longestStallMs: noticed.longestStallMs,
      newTenant: '',
      xids,
      passed: code === expectedCode && harmed === UNHARMED,
    };
  }

  /** Proven at once, because it will be killed before the end. */
  async #newTenant(): Promise<Entered | { failed: string }> {
    const id = this.#ids();
    const before = new Set(this.#scene.scene.workers);
    const started = () => this.#scene.scene.workers.find((worker) => !before.has(worker));
    const timer = setTimeout(() => started()?.signal('SIGKILL'), NEW_TENANT_MS);
    try {
      const tenant = await this.#scene.enter({ id }, 'aggressor');
      const request = { bytes: BLOCK_BYTES, forMs: 1 };
      const { wrong } = await askSession(tenant, { name: 'verifiedRounds', request, deadlineMs: NEW_TENANT_MS });
      if (wrong > 0) throw new Error('its first results were wrong');
      await this.#scene.prove(tenant);
      return { tenant, id };
    } catch (error) {
      this.#context.signal.throwIfAborted();
      const tenant = started();
      if (tenant) this.#scene.excuse(tenant);
      return { failed: messageOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Entered {
  tenant: WorkerTenant;
  id: number;
}

function sentence({ fault, expectedCode, code, victim, newTenant }: FaultRow): string {
  const said = [
    ...(code !== null && code !== expectedCode ? [`the tenant was told ${code}, not ${expectedCode}`] : []),
    ...(victim === UNHARMED ? [] : [`its neighbour: ${victim}`]),
    ...(newTenant === STARTS ? [] : [`a new tenant did not start: ${newTenant}`]),
  ];
  return `${fault}: ${said.join('; ')}`;
}

function checksOf(rows: readonly FaultRow[], planned: number): Check[] {
  const missing = rows.filter(({ code }) => code === null).map((row) => `${row.fault}: ${row.notRaised}`);
  const unseen = rows.filter(({ xids }) => xids === null).length;
  return [
    {
      name: 'every fault really happened',
      passed: missing.length === 0,
      detail: missing.join('; ') || `${rows.length} faults, ${planned} planned`,
    },
    {
      name: 'errors of the card (Xid) seen from outside',
      passed: unseen === 0 ? true : 'not checked',
      detail: unseen === 0 ? `after each of ${rows.length} faults` : 'NVML does not report them here',
    },
  ];
}

function judge(
  rows: readonly FaultRow[],
  details: Record<string, unknown>,
  planned: number,
  processes: number,
): Measured {
  const checks = checksOf(rows, planned);
  const bad = rows.filter(({ passed, code }) => !passed && code !== null);
  return {
    ...invalidBy(checks.slice(0, 1)),
    value: bad.length === 0 && rows.length === planned ? 1 : 0,
    ci95: null,
    ciScope: 'between-processes',
    processes,
    headline: null,
    details: { faults: rows, ...details },
    checks,
    violations: bad.map(sentence),
  };
}

export interface FaultPlan {
  rounds: number;
  faults: readonly Fault[];
}

/** With a given plan, for tests; without one the tier decides. */
export const faultIsolationBy =
  (plan?: FaultPlan): MetricDefinition['measure'] =>
  async (context) => {
    const { tier, seed } = context.options;
    const { rounds, faults } = plan ?? { rounds: ROUNDS[tier], faults: FAULTS };
    const random = seededRandom(seed);
    const left = Array.from({ length: rounds }, () => faults).flat();
    const planned = left.length;
    const rows: FaultRow[] = [];
    let id = FIRST_ID;
    let entered: unknown;
    let notMeasured: string | undefined;
    while (left.length > 0 && notMeasured === undefined) {
      const before = left.length;
      try {
        await inScene(context, async (scene) => {
          const play = new Play(context, scene, () => id++, random);
          await play.run(left, (row) => {
            rows.push(row);
            context.progress(row.fault, rows.length / planned);
          });
          entered ??= contextOf(scene.scene);
        });
      } catch (error) {
        context.signal.throwIfAborted();
        if (rows.length === 0) throw error;
        notMeasured = messageOf(error);
      }
      if (left.length === before) notMeasured ??= 'no tenant could be started';
      if (rows.some(({ passed }) => !passed)) await context.system.recover?.();
    }
    const rest =
      notMeasured === undefined ? {} : { notMeasured: { faults: left.map(({ name }) => name), reason: notMeasured } };
    return judge(rows, { ...rest, rounds, context: entered }, planned, id - FIRST_ID);
  };

export const faultIsolation: MetricDefinition = {
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
  runsLast: true,
  seconds: { quick: 9, standard: 12, thorough: 60 },
  measure: faultIsolationBy(),
};

/**
 * IS-010: 1 if no fault of a neighbouring tenant (out-of-bounds store, misaligned access, trap, device assert, endless
 * kernel, SIGKILL and SIGSTOP inside an allocation, leak until the quota) gave a victim an error, a wrong result or a
 * stall above 2 s, and a new tenant starts after each; else 0, with a violation for each. `details.faults[]` has one
 * row per fault. `iterations` and `resolution` do not apply.
 */
export const measureFaultIsolation = measureFunction(faultIsolation);
