/** Tenants that generate tokens at the same time, with the same decoder, prompts and seed. */
import { sum } from 'simple-statistics';
import * as v from 'valibot';
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import { percentileFloors, summarise } from '../../stats/summary.js';
import { overlapAtWork, type Span } from '../../workers/activity.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { choice, count, quantity, text } from '../core/details.js';
import { FIRST_ID, type MetricScene } from '../tenants/scene.js';
import { NS_PER_MS } from '../core/units.js';
import { wholeCycles } from '../tenants/turns.js';
import { waitsIn } from './waits.js';
import type { DecoderModel, Workload } from './workloads.js';

const GRACE_MS = 120_000;
const NS_PER_S = 1e9;

export const MODES = ['launches', 'graph'] as const;
export type Mode = (typeof MODES)[number];
export const modeField = choice(MODES, 'How a step is submitted: kernel by kernel, or as a captured graph');

export interface GenerationPlan {
  workload: Workload;
  /** Null: scaled to the memory limit. */
  model: Required<DecoderModel> | null;
  limitBytes: number | null;
  seed: number;
}

/** A point of the frontier: the tenants' total token rate, and how long their users wait for a token. */
export const frontierFields = v.strictObject({
  coTenants: count('Other tenants at the same time'),
  mode: modeField,
  tokensPerSecond: v.nullable(quantity('tokens/s', 'Sum over all tenants; null if they could not run')),
  leastTokensPerSecond: v.nullable(quantity('tokens/s', 'The same of the slowest tenant')),
  p50Ms: v.nullable(quantity('ms', 'Median time between tokens')),
  p99Ms: v.nullable(quantity('ms', '99th percentile of the same; null with too few steps')),
  waitP50Ms: v.nullable(
    quantity('ms', 'Median time until the next token, from a random moment: a pause counts by how long it lasts'),
  ),
  waitP99Ms: v.nullable(quantity('ms', '99th percentile of the same')),
  steps: count('Steps of all tenants, from which the percentiles are'),
  reason: v.optional(text('Why a number is missing')),
});

export type FrontierRow = v.InferOutput<typeof frontierFields>;

export class Generation {
  readonly #scene: MetricScene;
  readonly #plan: GenerationPlan;
  readonly #tenants: WorkerTenant[] = [];
  #prepared: PreparedDecoder | null = null;

  constructor(scene: MetricScene, plan: GenerationPlan) {
    this.#scene = scene;
    this.#plan = plan;
  }

  /** Starts more until there are `count`, each with its decoder. */
  async growTo(count: number): Promise<PreparedDecoder> {
    const there = this.#tenants.length;
    const missing = Array.from({ length: count - there }, (_, i) => ({ id: FIRST_ID + there + i }));
    const started = await this.#scene.startAll(missing, async (tenant) => {
      const worker = await this.#scene.enter(tenant, tenant.id === FIRST_ID ? 'victim' : 'bystander');
      return { worker, prepared: await this.#prepare(worker) };
    });
    this.#prepared ??= started[0]?.prepared ?? null;
    this.#tenants.push(...started.map(({ worker }) => worker));
    return this.#prepared as PreparedDecoder;
  }

  get first(): WorkerTenant {
    return this.#tenants[0] as WorkerTenant;
  }

  /** Runs the first `count` tenants at the same time. */
  async run(count: number, mode: Mode, windowMs: number): Promise<Decoding[]> {
    const task = sessionTaskOf('decodeTokens', {
      graph: mode === 'graph',
      windowNs: windowMs * NS_PER_MS,
      requests: 0,
    });
    const tasks = new Map(this.#tenants.slice(0, count).map((tenant) => [tenant, task]));
    return this.#scene.scene.releaseAll<Decoding>(tasks, windowMs + GRACE_MS);
  }

  #prepare(tenant: WorkerTenant): Promise<PreparedDecoder> {
    const { workload, model, limitBytes, seed } = this.#plan;
    const sizes = model ?? { layers: 0, hidden: 0, heads: 0, kvHeads: 0, mlp: 0, vocabulary: 0 };
    const request = { ...sizes, ...workload, limitBytes: limitBytes ?? 0, seed };
    return askSession(tenant, { name: 'prepareDecoder', request, deadlineMs: GRACE_MS });
  }
}

/** When a tenant's tokens became visible, from steps and from prompts. */
export const visibleNs = ({ atNs, tokenNs, firstAtNs, firstTokenNs }: Decoding): number[] => [
  ...atNs.map((at, i) => at + (tokenNs[i] as number)),
  ...firstAtNs.map((at, i) => at + (firstTokenNs[i] as number)),
];

/** The time in which all were working. */
const commonSpan = (decodings: readonly Decoding[]): Span | null =>
  overlapAtWork(
    decodings.map((decoding) => ({
      startNs: decoding.startedNs,
      endNs: decoding.endedNs,
      marksNs: visibleNs(decoding),
    })),
  );

/** Times between tokens, for steps that began and ended inside. */
export const stepsIn = ({ atNs, tokenNs }: Decoding, { fromNs, toNs }: Span): number[] =>
  tokenNs.filter((took, i) => (atNs[i] as number) >= fromNs && (atNs[i] as number) + took <= toNs);

/** What tenants got while all of them were working. */
export interface Shared {
  span: Span;
  /** When tokens became visible, by tenant, sorted. */
  tenants: number[][];
  /** Tokens a second of each tenant. */
  rates: number[];
}

/** How the tokens of a run count. */
export interface Counting {
  batch: number;
  /** Whether the tenants take turns on the card: then the time of whole cycles counts, wherever the window begins. */
  inTurns: boolean;
}

/** Null: they did not work at the same time, or not for a whole cycle of turns. */
export function sharedTokens(decodings: readonly Decoding[], { batch, inTurns }: Counting): Shared | null {
  const common = commonSpan(decodings);
  if (!common) return null;
  const tenants = decodings.map((decoding) => visibleNs(decoding).sort((a, b) => a - b));
  const span = inTurns && tenants.length > 1 ? wholeCycles(tenants, common) : common;
  if (!span) return null;
  const rates = tenants.map(
    (visible) => (batch * NS_PER_S * visible.filter(inside(span)).length) / (span.toNs - span.fromNs),
  );
  return { span, tenants, rates };
}

const inside =
  ({ fromNs, toNs }: Span) =>
  (ns: number): boolean =>
    ns >= fromNs && ns <= toNs;

/** `shared`: what `sharedTokens` says of the decodings. */
export function frontierRow(
  coTenants: number,
  mode: Mode,
  decodings: readonly Decoding[],
  shared: Shared | null,
): FrontierRow {
  if (!shared)
    return withoutTokens(
      coTenants,
      mode,
      'the tenants did not make progress at the same time, or not for a whole cycle of turns',
    );
  const { span, tenants, rates } = shared;
  const steps = decodings.flatMap((decoding) => stepsIn(decoding, span));
  const stats = summarise(steps);
  const waits = waitsIn(tenants, span);
  return {
    coTenants,
    mode,
    tokensPerSecond: sum(rates),
    leastTokensPerSecond: Math.min(...rates),
    p50Ms: inMs(stats?.p50),
    p99Ms: inMs(stats?.p99),
    waitP50Ms: inMs(waits?.p50),
    waitP99Ms: inMs(waits?.p99),
    steps: steps.length,
    ...(steps.length < percentileFloors.p99 && {
      reason: `a 99th percentile needs ${percentileFloors.p99} steps, and there were ${steps.length}`,
    }),
  };
}

export const inMs = (ns: number | null | undefined): number | null => (ns == null ? null : ns / NS_PER_MS);

export const withoutTokens = (coTenants: number, mode: Mode, reason: string): FrontierRow => ({
  coTenants,
  mode,
  tokensPerSecond: null,
  leastTokensPerSecond: null,
  p50Ms: null,
  p99Ms: null,
  waitP50Ms: null,
  waitP99Ms: null,
  steps: 0,
  reason,
});
