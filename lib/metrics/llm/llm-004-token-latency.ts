/**
 * LLM-004: time to the first token and between tokens of a decoder, by launches and by a graph, alone and beside
 * others.
 */
import * as v from 'valibot';
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import type { Check, MetricResult, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import { shown } from '../../errors/shown.js';
import { choice, count, described, flag, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { acrossTurns, rotationField, rotationOf } from '../tenants/rotation-details.js';
import { inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { MIB, NS_PER_MS, scaled, scaledSamples } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type DecodeAttention, decodeAttentionField, measureDecodeAttention } from './decode-attention.js';
import {
  frontierFields,
  type FrontierRow,
  frontierRow,
  Generation,
  type GenerationPlan,
  type Mode,
  modeField,
  MODES,
  withoutTokens,
} from './generation.js';
import { steadyCheck, stopsField, stopsIn } from './stops.js';
import { type DecoderModel, WORKLOADS, type Workload, workloadNames } from './workloads.js';

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
const FEWEST_BYTES = 512 * MIB;
/** Tolerance of ceilings: the reference of metrics allows 5 %. */
const SLACK = 0.05;
/** The simulated card computes on the host what a GPU would. */
const SIMULATED_MODEL: Required<DecoderModel> = {
  layers: 1,
  hidden: 128,
  heads: 2,
  kvHeads: 1,
  mlp: 128,
  vocabulary: 128,
};

const details = v.strictObject({
  workload: choice([...workloadNames, 'custom'], 'Name of the workload'),
  batch: count('Sequences that decode together'),
  prompt: count('Tokens per prompt'),
  output: count('Tokens to generate per sequence'),
  model: described(
    v.strictObject({
      layers: count('Layers'),
      hidden: count('Values per token'),
      heads: count('Heads of queries'),
      kvHeads: count('Heads of keys and values'),
      mlp: count('Width of the MLP'),
      vocabulary: count('Tokens in the vocabulary'),
    }),
    'Sizes of the decoder',
  ),
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
      const run = async (coTenants: number, mode: Mode) => {
        context.progress(`${coTenants} co-tenants, ${mode}`, frontier.length / (2 * (times.coTenants.length + 1)));
        const windowMs = coTenants === 0 ? times.aloneMs : times.togetherMs;
        const decodings = await generation.run(
          coTenants + 1,
          mode,
          acrossTurns(windowMs, coTenants + 1, context.system),
        );
        frontier.push(frontierRow(coTenants, mode, decodings, batch));
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
      return { prepared, attention, alone, frontier, digests, entered, rotation: rotationOf(context.system) };
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

const ms = (ns: number | null | undefined): number | null => (ns == null ? null : ns / NS_PER_MS);

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
    ttftMs: ms(median(firstTokenNs).value),
    itlP50Ms: ms(steps?.p50),
    itlP99Ms: ms(steps?.p99),
    tokensPerSecond,
    stops: stopsIn(tokenNs),
    weightGbPerSecond,
    percentOfCeiling: floorNs(prepared) === null ? null : (100 * weightGbPerSecond) / prepared.dramCeilingGbs,
    requests: firstTokenNs.length,
    steps: tokenNs.length,
  };
}

/**
 * Requests with the same number have the same tokens and logits, whichever tenant serves them and however steps are
 * launched.
 */
function sameTokens(digests: readonly (readonly number[])[]): Check {
  const most = Math.max(...digests.map(({ length }) => length));
  const unlike: number[] = [];
  let compared = 0;
  for (let request = 0; request < most; request++) {
    const whole = digests.flatMap((of) => (of[request] === undefined || of[request] === 0 ? [] : [of[request]]));
    if (whole.length < 2) continue;
    compared++;
    if (new Set(whole).size > 1) unlike.push(request);
  }
  return {
    name: 'tokens and logits are the same by launches and by a graph',
    passed: compared > 0 && unlike.length === 0,
    detail:
      unlike.length > 0
        ? `request ${unlike[0]} has different ones when it is served again`
        : `${compared} requests, each bit of their logits`,
  };
}

/** The least time in which a step can read the weights that the L2 cache does not hold. */
function floorNs({ weightBytes, l2Bytes, dramCeilingGbs }: PreparedDecoder): number | null {
  if (dramCeilingGbs === 0 || l2Bytes === 0 || weightBytes < 4 * l2Bytes) return null;
  return ((weightBytes - l2Bytes) / dramCeilingGbs) * (1 - SLACK);
}

function readsWeights(prepared: PreparedDecoder, { launches, graph }: Alone): Check {
  const name = 'no step is shorter than reading its weights';
  const floor = floorNs(prepared);
  if (floor === null) {
    const detail = `${formatBytes(prepared.weightBytes)} of weights against ${formatBytes(prepared.l2Bytes)} of L2 cache`;
    return { name, passed: 'not checked', detail };
  }
  const shortest = [launches, graph].reduce(
    (all, { tokenNs }) => tokenNs.reduce((a, b) => Math.min(a, b), all),
    Infinity,
  );
  const detail = `the shortest took ${(shortest / NS_PER_MS).toPrecision(4)} ms; ${formatBytes(prepared.weightBytes)} at ${prepared.dramCeilingGbs.toPrecision(4)} GB/s take ${(floor / NS_PER_MS).toPrecision(4)} ms`;
  return { name, passed: shortest >= floor, detail };
}

const checksumOf = ({ digests }: Decoding): string => (digests[0] as number).toString(16).padStart(14, '0');

function judge(
  { workload, seed }: GenerationPlan,
  name: TokenGenerationDetails['workload'],
  generated: Generated,
): Measured<TokenGenerationDetails> {
  const { prepared, attention, alone, frontier, digests, entered, rotation } = generated;
  const { layers, hidden, heads, kvHeads, mlp, vocabulary, ...rest } = prepared;
  const rows = MODES.map((mode, i) => aloneRow(mode, alone[mode], frontier[i] as FrontierRow, prepared));
  const checks = [sameTokens(digests), readsWeights(prepared, alone), steadyCheck(rows), ...attention.checks];
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
      floorMs: ms(floor),
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
  async (context) => {
    const { tier, workload: name, model, seed } = context.options;
    const { memoryBytes } = context.system.limits();
    if (memoryBytes !== null && memoryBytes < FEWEST_BYTES)
      return unsupported(`needs a memory limit of ${formatBytes(FEWEST_BYTES)}, and it is ${formatBytes(memoryBytes)}`);
    const generation: GenerationPlan = {
      workload: plan?.workload ?? WORKLOADS[name],
      model: model ?? (context.simulatedDriver === null ? null : SIMULATED_MODEL),
      limitBytes: context.leastMemoryBytes,
      seed,
    };
    try {
      const generated = await generate(context, generation, plan?.times ?? TIMES[tier]);
      return judge(generation, plan?.workload ? 'custom' : name, generated);
    } catch (error) {
      if (isOutOfMemory(error)) return unsupported(`the decoder does not fit: ${error.message}`);
      throw error;
    }
  };

const conditionOf = ({ workload, model }: MetricResult['details']): unknown => `${shown(workload)} ${shown(model)}`;

/** Both have the same model and prompts on the same card, so different bits are an error in one of them. */
function otherLogits(own: MetricResult, native: MetricResult): string | null {
  const same = ['seed', 'workload', 'variant', 'promptVariant', 'model'].every(
    (key) => shown(own.details[key]) === shown(native.details[key]),
  );
  if (!same || own.details.checksum === native.details.checksum) return null;
  return `the checksum of its logits is ${shown(own.details.checksum)}, and natively ${shown(native.details.checksum)}`;
}

export const tokenLatency: MetricDefinition<TokenGenerationDetails> = {
  id: 'LLM-004',
  name: 'Token Generation Latency',
  category: 'llm',
  unit: 'ms',
  direction: 'lower',
  question: 'What latency per token does the end user see, and do graphs hide the cost of the layer?',
  estimator: 'median time from the submission of a step, kernel by kernel, until the host sees its tokens',
  delta: { relative: 0.02 },
  comparedAt: { name: 'workload', of: conditionOf },
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
