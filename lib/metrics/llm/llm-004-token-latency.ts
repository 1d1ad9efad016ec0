/**
 * LLM-004: time to the first token and between tokens of a decoder, by launches and by a graph, alone and beside
 * others.
 */
import * as v from 'valibot';
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import { count, described, flag, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { acrossTurns, rotationField, rotationOf } from '../tenants/rotation-details.js';
import { inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { NS_PER_MS, scaled, scaledSamples } from '../core/units.js';
import { type DecodeAttention, decodeAttentionField, measureDecodeAttention } from './decode-attention.js';
import {
  frontierFields,
  type FrontierRow,
  frontierRow,
  Generation,
  type GenerationPlan,
  inMs,
  type Mode,
  modeField,
  MODES,
  sharedTokens,
  visibleNs,
  withoutTokens,
} from './generation.js';
import { checksumOf, decoderCondition, floorNs, otherLogits, readsWeights, sameTokens } from './decoder-checks.js';
import { decoderFields, withDecoder } from './decoder-plan.js';
import { steadyCheck, stopsField, stopsIn } from './stops.js';
import type { Workload } from './workloads.js';

export interface TokenLatencyTimes {
  aloneMs: number;
  togetherMs: number;
  /** Numbers of co-tenants, ascending. */
  coTenants: readonly number[];
}

const TIMES: Record<Tier, TokenLatencyTimes> = {
  quick: { aloneMs: 400, togetherMs: 400, coTenants: [1, 3] },
  standard: { aloneMs: 2_000, togetherMs: 2_000, coTenants: [1, 2, 3, 4] },
  thorough: { aloneMs: 5_000, togetherMs: 5_000, coTenants: [1, 2, 3, 4, 8] },
};
const details = v.strictObject({
  ...decoderFields,
  weightBytes: count('Weights that a step reads (bytes)'),
  cacheBytes: count('Keys and values (bytes)'),
  l2Bytes: count('L2 cache of the device; 0: unknown (bytes)'),
  dramCeilingGbs: quantity('GB/s', "What the memory's clock and width allow; 0: unknown"),
  launches: count('Launches in a step'),
  variant: text('Kernel of the matrix products of steps'),
  promptVariant: text('Kernel of the matrix products of prompts, and of their attention'),
  overlaps: flag('Whether a kernel begins before the previous one ends (programmatic dependent launch)'),
  referenceError: described(
    v.number(),
    'Largest difference between a logit of a small decoder on this device and in double precision',
  ),
  floorMs: v.nullable(
    quantity('ms', 'Least time in which a step can read its weights; null if the L2 cache may hold them'),
  ),
  seed: count('Seed of weights and prompts'),
  checksum: text('Digest of the tokens and logits of the first request'),
  rows: rows(
    v.strictObject({
      mode: modeField,
      ttftMs: v.nullable(quantity('ms', 'Median time to the first token')),
      itlP50Ms: v.nullable(quantity('ms', 'Median time between tokens')),
      itlP99Ms: v.nullable(quantity('ms', '99th percentile of the same; null with too few steps')),
      tokensPerSecond: v.nullable(quantity('tokens/s', 'Throughput')),
      stops: stopsField,
      weightGbPerSecond: quantity('GB/s', 'Rate of reading the weights, once per step'),
      percentOfCeiling: v.nullable(
        quantity('%', 'That rate, of dramCeilingGbs; null if a step need not read its weights from memory'),
      ),
      requests: count('Requests'),
      steps: count('Steps between tokens'),
    }),
    'A row per way to submit a step, alone; the first one is behind the value',
  ),
  decodeAttention: decodeAttentionField,
  frontier: rows(frontierFields, 'A row per number of co-tenants and way to submit a step'),
  context: v.optional(processContext),
  rotation: rotationField,
});

export type TokenGenerationDetails = v.InferOutput<typeof details>;

interface TokenLatencyPlan {
  workload?: Workload;
  times: TokenLatencyTimes;
}

type Alone = Record<Mode, Decoding>;

interface Generated {
  prepared: PreparedDecoder;
  attention: DecodeAttention;
  alone: Alone;
  frontier: FrontierRow[];
  /** Digests of each tenant's requests, over all runs. */
  digests: number[][];
  entered: ReturnType<typeof contextOf>;
  rotation: ReturnType<typeof rotationOf>;
}

function generate(context: MeasureContext, plan: GenerationPlan, times: TokenLatencyTimes): Promise<Generated> {
  const { batch } = plan.workload;
  return inScene(
    context,
    async (scene) => {
      const generation = new Generation(scene, plan);
      const prepared = await generation.growTo(1);
      const entered = contextOf(scene.scene);
      const attention = await measureDecodeAttention(generation.first, {
        prepared,
        tier: context.options.tier,
        seed: plan.seed,
        limitBytes: plan.limitBytes,
        simulated: context.simulatedDriver !== null,
      });
      const frontier: FrontierRow[] = [];
      const digests: number[][] = [];
      const tokens: number[][][] = [];
      const run = async (coTenants: number, mode: Mode) => {
        context.progress(`${coTenants} co-tenants, ${mode}`, frontier.length / (2 * (times.coTenants.length + 1)));
        const windowMs = coTenants === 0 ? times.aloneMs : times.togetherMs;
        const decodings = await generation.run(
          coTenants + 1,
          mode,
          acrossTurns(windowMs, coTenants + 1, context.system),
        );
        const counting = { batch, inTurns: context.system.turnMs !== undefined };
        frontier.push(frontierRow(coTenants, mode, decodings, sharedTokens(decodings, counting)));
        tokens.push(decodings.map(visibleNs));
        digests.push(...decodings.map((decoding) => decoding.digests));
        return decodings[0] as Decoding;
      };
      const alone: Alone = { launches: await run(0, 'launches'), graph: await run(0, 'graph') };
      for (const coTenants of times.coTenants) {
        const reason = await grow(generation, coTenants + 1);
        for (const mode of MODES) {
          if (reason === null) await run(coTenants, mode);
          else frontier.push(withoutTokens(coTenants, mode, reason));
        }
      }
      return { prepared, attention, alone, frontier, digests, entered, rotation: rotationOf(context.system, tokens) };
    },
    true,
  );
}

/** Why there is no room for that many; null if they were started. */
async function grow(generation: Generation, count: number): Promise<string | null> {
  try {
    await generation.growTo(count);
    return null;
  } catch (error) {
    if (isOutOfMemory(error)) return error.message;
    throw error;
  }
}

function aloneRow(
  mode: Mode,
  decoding: Decoding,
  { tokensPerSecond }: FrontierRow,
  prepared: PreparedDecoder,
): TokenGenerationDetails['rows'][number] {
  const { firstTokenNs, tokenNs } = decoding;
  const weightGbPerSecond = prepared.weightBytes / median(tokenNs).value;
  const steps = summarise(tokenNs);
  return {
    mode,
    ttftMs: inMs(median(firstTokenNs).value),
    itlP50Ms: inMs(steps?.p50),
    itlP99Ms: inMs(steps?.p99),
    tokensPerSecond,
    stops: stopsIn(tokenNs),
    weightGbPerSecond,
    percentOfCeiling: floorNs(prepared) === null ? null : (100 * weightGbPerSecond) / prepared.dramCeilingGbs,
    requests: firstTokenNs.length,
    steps: tokenNs.length,
  };
}

function judge(
  { workload, seed }: GenerationPlan,
  name: TokenGenerationDetails['workload'],
  generated: Generated,
): Measured<TokenGenerationDetails> {
  const { prepared, attention, alone, frontier, digests, entered, rotation } = generated;
  const { layers, hidden, heads, kvHeads, mlp, vocabulary, ...rest } = prepared;
  const rows = MODES.map((mode, i) => aloneRow(mode, alone[mode], frontier[i] as FrontierRow, prepared));
  const checks = [
    sameTokens(digests),
    readsWeights(prepared, [alone.launches, alone.graph]),
    steadyCheck(rows),
    ...attention.checks,
  ];
  const floor = floorNs(prepared);
  const { value, ci95 } = scaled(serialMedian(alone.launches.tokenNs), NS_PER_MS);
  return {
    ...invalidBy(checks),
    value,
    ci95,
    ciScope: 'within-process',
    processes: 1,
    headline: scaledSamples(Float64Array.from(alone.launches.tokenNs), NS_PER_MS),
    details: {
      workload: name,
      ...workload,
      model: { layers, hidden, heads, kvHeads, mlp, vocabulary },
      ...rest,
      floorMs: inMs(floor),
      seed,
      checksum: checksumOf(alone.launches),
      rows,
      decodeAttention: attention.row,
      frontier,
      context: entered,
      ...(rotation && { rotation }),
    },
    checks,
  };
}

/** With a given plan, for tests; without one the options decide. */
export const tokenLatencyBy =
  (plan?: TokenLatencyPlan): MetricDefinition<TokenGenerationDetails>['measure'] =>
  (context) =>
    withDecoder(context, plan?.workload, async (generation) => {
      const { tier, workload: name } = context.options;
      const generated = await generate(context, generation, plan?.times ?? TIMES[tier]);
      return judge(generation, plan?.workload ? 'custom' : name, generated);
    });

export const tokenLatency: MetricDefinition<TokenGenerationDetails> = {
  id: 'LLM-004',
  name: 'Token Generation Latency',
  category: 'llm',
  unit: 'ms',
  direction: 'lower',
  question: 'What latency per token does the end user see, and do graphs hide the cost of the layer?',
  estimator: 'median time from the submission of a step, kernel by kernel, until the host sees its tokens',
  delta: { relative: 0.02 },
  comparedAt: { name: 'workload', of: decoderCondition },
  besideNative: otherLogits,
  needs: ['512 MiB of memory'],
  functionName: 'measureTokenGeneration',
  where: 'fresh-processes',
  details,
  lineCharts: MODES.map((mode) => ({
    title: `Frontier by ${mode === 'graph' ? 'a graph' : 'launches'}: alone and beside co-tenants`,
    axes: { x: 'p99 between tokens, ms', y: 'tokens a second' },
    rows: 'frontier',
    point: { x: 'p99Ms', y: 'tokensPerSecond' },
    where: { mode },
    by: 'coTenants',
  })),
  seconds: { quick: 6, standard: 30, thorough: 80 },
  measure: tokenLatencyBy(),
};

/**
 * LLM-004, ms: time between tokens of a synthetic decoder of Llama's shape (`model`; by default scaled to the smallest
 * memory limit of the comparison), at the batch and lengths of `workload`. `details.rows[]` has the time to the first
 * token, p50 and p99 between tokens, tokens a second and stops between tokens, kernel by kernel and as a captured graph;
 * `details.frontier[]` the tokens a second of all tenants and their p99 beside 1, 2, … co-tenants. `iterations`,
 * `warmup` and `resolution` do not apply.
 */
export const measureTokenGeneration = measureFunction(tokenLatency);
