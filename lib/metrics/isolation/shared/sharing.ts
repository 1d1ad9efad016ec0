/** How two tenants share a card, from where and when small blocks of both ran. */
import { quantileSorted } from 'simple-statistics';
import * as v from 'valibot';
import { choice, count, described, quantity, text } from '../../core/details.js';
import type { BlockTrace } from '../../../native/addon-types.js';
import { sessionTaskOf } from '../../../workers/session-task.js';
import type { System } from '../../../systems/system.js';
import type { Scene } from '../../../workers/scene.js';
import type { WorkerTenant } from '../../../workers/worker-tenant.js';
import { clipped, common, merged, type Stretch, total } from '../../../stats/stretches.js';
import { NS_PER_MS } from '../../core/units.js';
import { gpusOf } from '../../tenants/tenants.js';

const slicesFields = described(
  v.strictObject({
    count: count('Turns'),
    p10Ms: quantity('ms', '10th percentile of their lengths'),
    p50Ms: quantity('ms', 'Median'),
    p90Ms: quantity('ms', '90th percentile'),
    maxMs: quantity('ms', 'The longest'),
  }),
  'How long a tenant runs before another one does',
);

type Slices = v.InferOutput<typeof slicesFields>;

/**
 * The traced blocks have one warp each, so `blocks of both at once` on a multiprocessor does not mean that blocks of
 * other sizes run there beside each other.
 */
const sharingKind = choice(
  ['time slices', 'blocks of both at once', 'partition', 'unclear'],
  'How the two share the card, by small blocks of both',
);

type SharingKind = v.InferOutput<typeof sharingKind>;

const sharingSeen = v.strictObject({
  kind: sharingKind,
  evidence: text('What shows it'),
  atOncePercent: quantity('%', 'Time during which both ran, of the time of the tenant that ran less'),
  atOnceOnAnSmPercent: quantity('%', 'Time during which both ran on one multiprocessor, of the same time'),
  multiprocessors: described(v.tuple([v.number(), v.number()]), 'How many multiprocessors each of them used'),
  sharedMultiprocessors: count('How many both used'),
  slices: described(v.nullable(slicesFields), 'Their turns; null if they do not take turns, or too few were seen'),
});

const sharingUnseen = v.strictObject({ unseen: text('Why it could not be seen') });

/** Schema of `traceSharing`. */
export const sharingFields = described(
  v.union([sharingSeen, sharingUnseen]),
  'Where and when blocks of two tenants ran',
);

export type Sharing = v.InferOutput<typeof sharingSeen>;

export type Unseen = v.InferOutput<typeof sharingUnseen>;

/** A gap of this length between two kernels of one tenant does not end its turn. */
const LAUNCH_GAP_NS = 100_000;
/** With less overlap than this, tenants take turns: the overlap is the duration of a switch. */
const TURNS = 0.1;
/** Tenants that ran for a smaller part of the time were not both working. */
const AT_WORK = 0.05;
const FEWEST_SLICES = 3;

/** Intervals of each multiprocessor, in ns from a common origin. Each GPU numbers its own from 0. */
function byMultiprocessor(
  { originMs, multiprocessor, fromNs, toNs }: BlockTrace,
  baseMs: number,
  gpu: number,
): Map<string, Stretch[]> {
  const all = new Map<string, Stretch[]>();
  const offset = (originMs - baseMs) * NS_PER_MS;
  for (const [i, number] of multiprocessor.entries()) {
    const sm = `${gpu}:${number}`;
    const stretches = all.get(sm) ?? [];
    stretches.push({ from: (fromNs[i] as number) + offset, to: (toNs[i] as number) + offset });
    all.set(sm, stretches);
  }
  return all;
}

class Tenant {
  readonly on: Map<string, Stretch[]>;
  /** The times when it ran on any multiprocessor. */
  readonly whole: Stretch[];

  constructor(trace: BlockTrace, baseMs: number, gpu: number) {
    this.on = byMultiprocessor(trace, baseMs, gpu);
    this.whole = merged([...this.on.values()].flat(), LAUNCH_GAP_NS);
  }

  within(span: Stretch): Stretch[] {
    return clipped(this.whole, span);
  }
}

function bothOnOne(a: Tenant, b: Tenant, span: Stretch): { shared: number; atOnce: number } {
  const shared = [...a.on.keys()].filter((sm) => b.on.has(sm));
  let both = 0;
  let less = 0;
  for (const sm of shared) {
    const [left, right] = [a, b].map(({ on }) => clipped(merged(on.get(sm) as Stretch[]), span)) as [
      Stretch[],
      Stretch[],
    ];
    both += common(left, right);
    less += Math.min(total(left), total(right));
  }
  return { shared: shared.length, atOnce: less === 0 ? 0 : both / less };
}

/** Turns that began and ended while both were working. */
function slicesOf(tenants: readonly Tenant[], span: Stretch): Slices | null {
  const lengths = tenants
    .flatMap(({ whole }) => whole.filter(({ from, to }) => from > span.from && to < span.to))
    .map(({ from, to }) => (to - from) / NS_PER_MS)
    .sort((x, y) => x - y);
  if (lengths.length < FEWEST_SLICES) return null;
  const at = (part: number) => quantileSorted(lengths, part);
  return { count: lengths.length, p10Ms: at(0.1), p50Ms: at(0.5), p90Ms: at(0.9), maxMs: lengths.at(-1) as number };
}

/** Both traces must be from one card, so that they share a timer. `gpus`: 2 if each is from an instance of its own. */
export function sharingOf(traces: readonly [BlockTrace, BlockTrace], gpus = 1): Sharing | Unseen {
  const baseMs = Math.min(...traces.map(({ originMs }) => originMs));
  const [a, b] = traces.map((trace, i) => new Tenant(trace, baseMs, i % gpus)) as [Tenant, Tenant];
  if (a.whole.length === 0 || b.whole.length === 0) return { unseen: 'a tenant ran no block' };
  const span = {
    from: Math.max((a.whole[0] as Stretch).from, (b.whole[0] as Stretch).from),
    to: Math.min((a.whole.at(-1) as Stretch).to, (b.whole.at(-1) as Stretch).to),
  };
  const [ofA, ofB] = [a.within(span), b.within(span)];
  const least = Math.min(total(ofA), total(ofB));
  if (!(least > 0 && least >= AT_WORK * (span.to - span.from)))
    return { unseen: 'the tenants did not run at the same time' };
  const atOnce = common(ofA, ofB) / least;
  const { shared, atOnce: atOnceOnOne } = bothOnOne(a, b, span);
  const kind = kindOf(atOnce, shared, atOnceOnOne);
  return {
    kind,
    evidence: evidenceOf(kind, { atOnce, atOnceOnOne, shared, spanMs: (span.to - span.from) / NS_PER_MS }),
    atOncePercent: 100 * atOnce,
    atOnceOnAnSmPercent: 100 * atOnceOnOne,
    multiprocessors: [a.on.size, b.on.size],
    sharedMultiprocessors: shared,
    slices: kind === 'time slices' ? slicesOf([a, b], span) : null,
  };
}

function kindOf(atOnce: number, shared: number, atOnceOnOne: number): SharingKind {
  if (atOnce < TURNS) return 'time slices';
  if (shared === 0) return 'partition';
  return atOnceOnOne >= TURNS ? 'blocks of both at once' : 'unclear';
}

function evidenceOf(
  kind: SharingKind,
  { atOnce, atOnceOnOne, shared, spanMs }: { atOnce: number; atOnceOnOne: number; shared: number; spanMs: number },
): string {
  const time = `both ran for ${(100 * atOnce).toFixed(1)} % of the time at once, in ${spanMs.toFixed(0)} ms`;
  if (kind === 'time slices') return time;
  if (shared === 0) return `${time}; no multiprocessor ran blocks of both`;
  return `${time}; ${shared} multiprocessors ran blocks of both, ${(100 * atOnceOnOne).toFixed(1)} % of the time at once`;
}

/** Keeps blocks of the first two tenants running for a time; both must have entered. */
export async function traceSharing(
  system: System,
  scene: Scene,
  tenants: readonly [WorkerTenant, WorkerTenant],
  windowMs: number,
): Promise<Sharing | Unseen> {
  const task = sessionTaskOf('blockTrace', {
    windowNs: windowMs * NS_PER_MS,
    spinNs: Math.max(500_000, (windowMs * NS_PER_MS) / 200),
    gapNs: 50_000,
    blocks: 0,
    inFlight: 0,
  });
  const tasks = new Map(tenants.map((tenant) => [tenant, task]));
  const traces = await scene.releaseAll<BlockTrace>(tasks, windowMs + 60_000);
  return sharingOf(traces as [BlockTrace, BlockTrace], gpusOf(system, tenants.length));
}
