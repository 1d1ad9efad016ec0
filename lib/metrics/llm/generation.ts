/** Tenants that generate tokens at the same time, with the same decoder, prompts and seed. */
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import { percentileFloors, summarise } from '../../stats/summary.js';
import { overlapAtWork, type Span } from '../../workers/activity.js';
import { askSession, sessionTaskOf } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { FIRST_ID, type MetricScene } from '../tenants/scene.js';
import { NS_PER_MS } from '../core/units.js';
import type { DecoderModel, Workload } from './workloads.js';

const GRACE_MS = 120_000;
const NS_PER_S = 1e9;

export type Mode = 'launches' | 'graph';
export const MODES: readonly Mode[] = ['launches', 'graph'];

export interface GenerationPlan {
  workload: Workload;
  /** Null: scaled to the memory limit. */
  model: Required<DecoderModel> | null;
  limitBytes: number | null;
  seed: number;
}

/** A point of the frontier: the tenants' total token rate, and how long their users wait for a token. */
export interface FrontierRow {
  coTenants: number;
  mode: Mode;
  /** Sum over all tenants; null if they could not run. */
  tokensPerSecond: number | null;
  p50Ms: number | null;
  /** Null with too few samples. */
  p99Ms: number | null;
  /** Steps of all tenants that the percentiles are based on. */
  steps: number;
  reason?: string;
}

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
    while (this.#tenants.length < count) {
      const place = this.#tenants.length;
      const tenant = await this.#scene.enter({ id: FIRST_ID + place }, place === 0 ? 'victim' : 'bystander');
      const prepared = await this.#prepare(tenant);
      this.#prepared ??= prepared;
      this.#tenants.push(tenant);
    }
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
const visibleNs = ({ atNs, tokenNs, firstAtNs, firstTokenNs }: Decoding): number[] => [
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

export function frontierRow(coTenants: number, mode: Mode, decodings: readonly Decoding[], batch: number): FrontierRow {
  const span = commonSpan(decodings);
  if (!span) return withoutTokens(coTenants, mode, 'the tenants did not make progress at the same time');
  const inside = (ns: number) => ns >= span.fromNs && ns <= span.toNs;
  const tokens = batch * decodings.reduce((sum, decoding) => sum + visibleNs(decoding).filter(inside).length, 0);
  const steps = decodings.flatMap((decoding) => stepsIn(decoding, span));
  const stats = summarise(steps);
  return {
    coTenants,
    mode,
    tokensPerSecond: (tokens * NS_PER_S) / (span.toNs - span.fromNs),
    p50Ms: stats?.p50 == null ? null : stats.p50 / NS_PER_MS,
    p99Ms: stats?.p99 == null ? null : stats.p99 / NS_PER_MS,
    steps: steps.length,
    ...(steps.length < percentileFloors.p99 && {
      reason: `a 99th percentile needs ${percentileFloors.p99} steps, and there were ${steps.length}`,
    }),
  };
}

export const withoutTokens = (coTenants: number, mode: Mode, reason: string): FrontierRow => ({
  coTenants,
  mode,
  tokensPerSecond: null,
  p50Ms: null,
  p99Ms: null,
  steps: 0,
  reason,
});
