/** LLM-011: tokens a second that two tenants get together, with the same decoder each. */
import { sum } from 'simple-statistics';
import * as v from 'valibot';
import type { Decoding, PreparedDecoder } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { figureOfWindows } from '../../stats/figure-of-windows.js';
import { count, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition } from '../core/metric.js';
import { windowInterval } from '../core/sample-stats.js';
import { acrossTurns, rotationField, rotationOf } from '../tenants/rotation-details.js';
import { inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import {
  checksumOf,
  decoderCondition,
  floorNs,
  otherLogits,
  readsWeights,
  sameTokens,
  SLACK,
} from './decoder-checks.js';
import { decoderFields, withDecoder } from './decoder-plan.js';
import {
  type Counting,
  frontierFields,
  frontierRow,
  Generation,
  type GenerationPlan,
  MODES,
  type Shared,
  sharedTokens,
  visibleNs,
} from './generation.js';
import type { Workload } from './workloads.js';

const TENANTS = 2;
/** Parts of the common time: their rates give the interval. */
const PARTS = 40;

interface SharedTimes {
  aloneMs: number;
  togetherMs: number;
}

const TIMES: Record<Tier, SharedTimes> = {
  quick: { aloneMs: 400, togetherMs: 800 },
  standard: { aloneMs: 2_000, togetherMs: 4_000 },
  thorough: { aloneMs: 5_000, togetherMs: 10_000 },
};

const details = v.strictObject({
  ...decoderFields,
  weightBytes: count('Weights that a step reads (bytes)'),
  l2Bytes: count('L2 cache of the device; 0: unknown (bytes)'),
  dramCeilingGbs: quantity('GB/s', "What the memory's clock and width allow; 0: unknown"),
  variant: text('Kernel of the matrix products of steps'),
  promptVariant: text('Kernel of the matrix products of prompts, and of their attention'),
  seed: count('Seed of weights and prompts'),
  checksum: text('Digest of the tokens and logits of the first request'),
  ofAlone: quantity('ratio', 'The value ÷ tokens a second of one tenant alone, kernel by kernel'),
  frontier: rows(frontierFields, 'One tenant and two, each way to submit a step; the third row has the value'),
  context: v.optional(processContext),
  rotation: rotationField,
});

export type SharedTokenThroughputDetails = v.InferOutput<typeof details>;

interface Run {
  tenants: number;
  decodings: Decoding[];
}

interface Generated {
  prepared: PreparedDecoder;
  runs: Run[];
  entered: ReturnType<typeof contextOf>;
  rotation: ReturnType<typeof rotationOf>;
  counting: Counting;
}

const generate = (context: MeasureContext, plan: GenerationPlan, times: SharedTimes): Promise<Generated> =>
  inScene(
    context,
    async (scene) => {
      const generation = new Generation(scene, plan);
      const prepared = await generation.growTo(1);
      const runs: Run[] = [];
      for (const tenants of [1, TENANTS]) {
        await generation.growTo(tenants);
        const windowMs = acrossTurns(tenants === 1 ? times.aloneMs : times.togetherMs, tenants, context.system);
        for (const mode of MODES) {
          context.progress(`${tenants} tenants, ${mode}`, runs.length / (2 * MODES.length));
          runs.push({ tenants, decodings: await generation.run(tenants, mode, windowMs) });
        }
      }
      const rotation = rotationOf(
        context.system,
        runs.map(({ decodings }) => decodings.map(visibleNs)),
      );
      const counting = { batch: plan.workload.batch, inTurns: context.system.turnMs !== undefined };
      return { prepared, runs, entered: contextOf(scene.scene), rotation, counting };
    },
    true,
  );

/** The rate in equal parts of the common time, and its interval. */
function rateOf({ span: { fromNs, toNs }, tenants, rates }: Shared) {
  const parts = new Array<number>(PARTS).fill(0);
  for (const ns of tenants.flat()) {
    const part = Math.floor((PARTS * (ns - fromNs)) / (toNs - fromNs));
    if (part >= 0 && part < PARTS) parts[part] = (parts[part] as number) + 1;
  }
  const value = sum(rates);
  const mean = sum(parts) / PARTS;
  const ofMean = ([windows = []]: readonly (readonly number[])[]) =>
    (value / mean) * (sum(windows.map((i) => parts[i] as number)) / windows.length);
  return { value, ci95: figureOfWindows([PARTS], ofMean, { isPositive: true }).ci95 };
}

/** All tenants read their weights from one memory, each its own. */
function sharesMemory(prepared: PreparedDecoder, stepsPerSecond: number): Check {
  const { weightBytes, l2Bytes, dramCeilingGbs } = prepared;
  const gbs = (stepsPerSecond * (weightBytes - l2Bytes)) / 1e9;
  const isKnown = floorNs(prepared) !== null;
  return {
    name: 'the tenants together read no more than the memory delivers',
    passed: isKnown ? gbs <= (1 + SLACK) * dramCeilingGbs : 'not checked',
    detail: isKnown
      ? `${gbs.toPrecision(4)} GB/s of weights that the L2 cache cannot hold, of ${dramCeilingGbs.toPrecision(4)} GB/s`
      : 'the L2 cache may hold the weights, or its size is not known',
  };
}

function judge(
  { workload, seed }: GenerationPlan,
  name: SharedTokenThroughputDetails['workload'],
  { prepared, runs, entered, rotation, counting }: Generated,
): Measured<SharedTokenThroughputDetails> {
  const { layers, hidden, heads, kvHeads, mlp, vocabulary } = prepared;
  const { weightBytes, l2Bytes, dramCeilingGbs, variant, promptVariant } = prepared;
  const shared = runs.map(({ decodings }) => sharedTokens(decodings, counting));
  const frontier = runs.map(({ tenants, decodings }, i) =>
    frontierRow(tenants - 1, MODES[i % MODES.length] as (typeof MODES)[number], decodings, shared[i] ?? null),
  );
  const all = runs.flatMap(({ decodings }) => decodings);
  const together = shared[MODES.length] ?? null;
  const rate = together && rateOf(together);
  const checks = [
    {
      name: 'the tenants worked at the same time',
      passed: rate !== null,
      detail: rate
        ? `${TENANTS} tenants`
        : 'one of them made no progress in the common time, or not for a whole cycle of turns',
    },
    sameTokens(all.map(({ digests }) => digests)),
    readsWeights(prepared, all),
    sharesMemory(prepared, (rate?.value ?? 0) / workload.batch),
  ];
  return {
    ...invalidBy(checks),
    value: rate?.value ?? null,
    ...windowInterval(rate?.ci95),
    ciScope: 'within-process',
    processes: TENANTS,
    headline: null,
    details: {
      workload: name,
      ...workload,
      model: { layers, hidden, heads, kvHeads, mlp, vocabulary },
      weightBytes,
      l2Bytes,
      dramCeilingGbs,
      variant,
      promptVariant,
      seed,
      checksum: checksumOf(all[0] as Decoding),
      ofAlone: (rate?.value ?? 0) / (frontier[0]?.tokensPerSecond ?? 0),
      frontier,
      context: entered,
      ...(rotation && { rotation }),
    },
    checks,
  };
}

/** With given times and workload, for tests; without them the options decide. */
export const sharedTokenThroughputBy =
  (times?: SharedTimes, workload?: Workload): MetricDefinition<SharedTokenThroughputDetails>['measure'] =>
  (context) =>
    withDecoder(context, workload, async (plan) => {
      const { tier, workload: name } = context.options;
      return judge(plan, workload ? 'custom' : name, await generate(context, plan, times ?? TIMES[tier]));
    });

export const sharedTokenThroughput: MetricDefinition<SharedTokenThroughputDetails> = {
  id: 'LLM-011',
  name: 'Shared Token Throughput',
  category: 'llm',
  unit: 'tokens/s',
  direction: 'higher',
  question: 'How many tokens a second does a card give to two tenants together, and how long does each wait?',
  estimator: 'tokens a second of two tenants with a decoder each, while both work, submitted kernel by kernel',
  delta: { relative: 0.03 },
  comparedAt: { name: 'workload', of: decoderCondition },
  besideNative: otherLogits,
  needs: ['512 MiB of memory', 'two tenants'],
  functionName: 'measureSharedTokenThroughput',
  where: 'fresh-processes',
  details,
  seconds: { quick: 5, standard: 14, thorough: 32 },
  measure: sharedTokenThroughputBy(),
};

/**
 * LLM-011, tokens/s: what two tenants get together, each with the decoder of LLM-004 (`model`, `workload`). Turns and
 * waits count: a tenant that has to wait for the card makes no tokens. `details.ofAlone` relates it to one tenant alone;
 * `details.frontier[]` has the rate of the slowest tenant, percentiles between tokens, and how long a request waits that
 * comes at a random moment. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureSharedTokenThroughput = measureFunction(sharedTokenThroughput);
