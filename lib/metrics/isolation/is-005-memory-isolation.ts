/** IS-005: a tenant writes a tag wherever it can, and another one looks for it in memory that it never wrote. */
import * as v from 'valibot';
import { count, rows } from '../core/details.js';
import type { Check, Tier } from '../../results/document.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { NextTenant } from '../tenants/next-tenant.js';
import { FIRST_ID, inScene, type MetricScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { measureFunction } from '../core/measure-function.js';
import {
  type Coverage,
  coverageRow,
  lookAfter,
  type Reuse,
  reuseRow,
  Victim,
  whileBothRun,
} from './shared/leftovers.js';
import { Attacker, layBait } from './shared/memory-attacks.js';
import { shareOnChip, type SurfaceRow, surfaceRow } from './shared/surfaces.js';
import { drawTag } from './shared/tag.js';

const ROUNDS: Record<Tier, number> = { quick: 1, standard: 2, thorough: 10 };
/** The share of a victim's memory that must be scanned for the result that nothing was found. */
const ENOUGH_SHARE = 0.7;
/** The share of the available memory that a victim must have filled. */
const NEARLY_ALL_SHARE = 0.8;

interface Found {
  surfaces: SurfaceRow[];
  coverage: Coverage[];
  reuse: Reuse[];
}

/** Ways for a victim to end in each round: by exit, and by SIGKILL. */
const ENDINGS = 2;

class Round {
  readonly #context: MeasureContext;
  readonly #scene: MetricScene;
  readonly #next: NextTenant;
  readonly #first: number;
  readonly #mps: boolean;
  readonly found: Found = { surfaces: [], coverage: [], reuse: [] };

  constructor(context: MeasureContext, scene: MetricScene, ids: () => number, first: number) {
    this.#context = context;
    this.#scene = scene;
    this.#next = new NextTenant(scene, ids);
    this.#first = first;
    this.#mps = context.system.usesMps === true;
  }

  async run(): Promise<void> {
    const first = this.#next.take();
    this.#next.startAhead();
    const attacker = await this.#scene.enter(first, 'aggressor');
    await this.#ending(attacker, this.#mps ? 'MPS client exit' : 'exit', (tenant) => tenant.stop());
    await this.#ending(attacker, this.#mps ? 'MPS client SIGKILL' : 'SIGKILL', async (tenant) => {
      tenant.signal('SIGKILL');
      await tenant.exit;
    });
    await this.#attacks();
  }

  /** Proven at once, because none of them lives until the end. */
  async #enter(role: 'victim' | 'aggressor'): Promise<WorkerTenant> {
    const tenant = await this.#scene.enter(this.#next.take(), role);
    await this.#scene.prove(tenant);
    return tenant;
  }

  async #ending(attacker: WorkerTenant, transition: string, end: (tenant: WorkerTenant) => Promise<void>) {
    const tag = drawTag();
    const victim = new Victim(await this.#enter('victim'), tag);
    const isFirst = this.found.coverage.length === 0;
    if (isFirst) this.found.reuse.push(...(await victim.reuse()));
    await victim.fill(this.#context);
    if (isFirst) {
      const label = this.#mps ? 'running together' : 'time slices';
      this.found.surfaces.push(...(await whileBothRun(victim, attacker, tag, label)));
    }
    // Filled last, so that on-chip memory still holds the victim's tag when it ends.
    await victim.fillChip();
    this.#next.startAhead();
    await end(victim.tenant);
    const first = this.#first + this.found.coverage.length;
    const after = await lookAfter(this.#context, { victim, attacker, tag, transition, first });
    this.found.surfaces.push(...after.rows);
    this.found.coverage.push(after.coverage);
  }

  async #attacks(): Promise<void> {
    const tag = drawTag();
    const victim = await this.#enter('victim');
    this.#next.startAhead();
    const bait = await layBait(victim, tag);
    const attacker = await this.#enter('aggressor');
    this.found.surfaces.push(...(await new Attacker(attacker, victim, bait, tag).all()));
    await attacker.stop();
    await victim.stop();
  }
}

const named = ({ surface, transition }: SurfaceRow): string => `${surface} (${transition})`;

function checksOf({ surfaces, coverage, reuse }: Found): Check[] {
  const failed = surfaces.filter(({ control }) => control === 'failed').map(named);
  const thin = coverage.filter(({ lookedAtBytes, releasedBytes }) => lookedAtBytes < ENOUGH_SHARE * releasedBytes);
  const nothing = coverage.some(({ releasedBytes }) => releasedBytes === 0);
  const shown = ({ transition, lookedAtBytes, releasedBytes }: Coverage) =>
    `${transition}: ${formatBytes(lookedAtBytes)} scanned, ${formatBytes(releasedBytes)} left`;
  const sure = coverage.every(
    ({ certainBytes, releasedBytes }) => certainBytes !== null && certainBytes >= ENOUGH_SHARE * releasedBytes,
  );
  const filled = coverage.every(({ releasedBytes, roomBytes }) => releasedBytes >= NEARLY_ALL_SHARE * roomBytes);
  const reused = reuse.filter(({ taggedBytes }) => taggedBytes > 0).map(({ surface }) => surface);
  return [
    {
      name: 'positive controls: what a tenant wrote is found by its own scan',
      passed: failed.length === 0,
      detail: failed.join(', ') || `on ${surfaces.length} surfaces and transitions`,
    },
    {
      name: `at least ${100 * ENOUGH_SHARE} % of what was left was scanned`,
      passed: thin.length === 0 && !nothing,
      detail: (nothing || thin.length === 0 ? coverage : thin).map(shown).join('; '),
    },
    {
      name: `victims filled at least ${100 * NEARLY_ALL_SHARE} % of the memory that they may have`,
      passed: filled ? true : 'not checked',
      detail: coverage.map(({ roomBytes }) => `of ${formatBytes(roomBytes)}`).join(', '),
    },
    {
      name: "the scanned memory had certainly been the victim's",
      passed: sure ? true : 'not checked',
      detail: sure
        ? 'nearly all free memory was scanned'
        : 'a quota, or an unknown rest of the card, may leave memory that was not scanned',
    },
    {
      name: 'the driver hands out memory of the same process without clearing it',
      passed: reused.length > 0 ? true : 'not checked',
      detail: reused.join(', ') || 'nothing was found again, so the driver may clear it even there',
    },
  ];
}

export function leakText(row: SurfaceRow): string {
  const { surface, bytes, lookedAtBytes } = row;
  const found = formatBytes(bytes ?? 0);
  const share = shareOnChip(surface, bytes ?? 0, lookedAtBytes);
  if (share === null) return `${named(row)}: ${found} of another tenant's memory could be read`;
  const scanned = `${found} of ${formatBytes(lookedAtBytes ?? 0)}, the same memory again and again`;
  return `${named(row)}: another tenant's tag was in ${share} of what was scanned (${scanned})`;
}

const details = v.strictObject({
  surfaces: rows(surfaceRow, 'A row per surface and transition'),
  coverage: rows(coverageRow, 'A row per end of a victim: how much of its memory was scanned'),
  reusedInOneProcess: rows(reuseRow, 'What a process finds in memory that it freed itself, which is no leak'),
  rounds: count('Rounds'),
  context: v.optional(processContext),
});

export type MemoryIsolationDetails = v.InferOutput<typeof details>;

function judge(
  found: Found,
  scene: Pick<MemoryIsolationDetails, 'rounds' | 'context'>,
  processes: number,
): Measured<MemoryIsolationDetails> {
  const { surfaces, coverage, reuse } = found;
  const checks = checksOf(found);
  const leaking = surfaces.filter(({ outcome }) => outcome === 'leaks');
  return {
    ...invalidBy(checks),
    value: leaking.length === 0 ? 1 : 0,
    ci95: null,
    ciScope: 'between-processes',
    processes,
    headline: null,
    details: { surfaces, coverage, reusedInOneProcess: reuse, ...scene },
    checks,
    violations: leaking.map(leakText),
  };
}

export const memoryIsolation: MetricDefinition<MemoryIsolationDetails> = {
  id: 'IS-005',
  name: 'Cross-Tenant Memory Isolation',
  category: 'isolation',
  unit: 'boolean',
  direction: 'higher',
  question: 'Can the next tenant on the GPU read what you left in its memory?',
  estimator: '1 if no tag of another tenant was found on any surface, else 0',
  delta: { absolute: 0.5 },
  values: 'exact',
  needs: ['several processes'],
  functionName: 'measureMemoryIsolation',
  where: 'fresh-processes',
  details,
  // A load from another process's address is a fault.
  runsLast: true,
  seconds: { quick: 6, standard: 12, thorough: 60 },
  async measure(context) {
    const { tier, seed } = context.options;
    const rounds = ROUNDS[tier];
    const found: Found = { surfaces: [], coverage: [], reuse: [] };
    let id = FIRST_ID;
    let entered: ReturnType<typeof contextOf>;
    for (let round = 0; round < rounds; round++) {
      try {
        await inScene(context, async (scene) => {
          const one = new Round(context, scene, () => id++, seed + ENDINGS * round);
          await one.run();
          for (const key of ['surfaces', 'coverage', 'reuse'] as const) found[key].push(...(one.found[key] as never[]));
          entered ??= contextOf(scene.scene);
        });
      } catch (error) {
        if (!isOutOfMemory(error)) throw error;
        return unsupported(`two tenants do not fit: ${error.message}`);
      }
      await context.system.recover?.();
      context.progress(`round ${round + 1} of ${rounds}`, (round + 1) / rounds);
    }
    return judge(found, { rounds, context: entered }, id - FIRST_ID);
  },
};

/**
 * IS-005: 1 if no tag that a tenant left was found by another: in memory of every kind of allocation, shared memory,
 * local memory and registers, after its exit, its SIGKILL and while both run; by forged and stale IPC handles, by a
 * descriptor that was not given, by its addresses. Else 0, with a violation for each. `details.surfaces[]` has a row
 * for each. `iterations` and `resolution` do not apply.
 */
export const measureMemoryIsolation = measureFunction(memoryIsolation);
