/** LLM-006: how close a pipeline over several streams comes to the minimum time that its stages allow. */
import * as v from 'valibot';
import type { PipelineRequest, PipelineRuns } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { type Collected, collect, concat } from '../core/collect.js';
import { count, quantity } from '../core/details.js';
import { invalidBy, type MeasureContext, type MetricDefinition } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { NS_PER_US, scaled } from '../core/units.js';

const STAGES = 4;
const MICRO_BATCHES = 16;
const STAGE_NS = 200_000;
/** The duration of an ideal pipeline, in stages. */
const IDEAL_STAGES = MICRO_BATCHES + STAGES - 1;
/** Stages alone before each run. */
const ALONE = 5;
/** Runs of 4 ms each. */
const CAP = { quick: 40, standard: 40, thorough: 200 } as const;
const BLOCK = 5;
/** Highest possible value in per cent, with tolerance; more would be faster than the stages allow. */
const HIGHEST = 102;
/** Natively the streams of a card overlap at least this much. */
const LEAST_NATIVE = 85;

const SHAPE: Omit<PipelineRequest, 'rounds' | 'runs'> = {
  stages: STAGES,
  microBatches: MICRO_BATCHES,
  stageNs: STAGE_NS,
  alone: ALONE,
};

const efficiencies = ({ aloneNs, runNs }: PipelineRuns): Float64Array =>
  aloneNs.map((alone, i) => (100 * IDEAL_STAGES * alone) / (runNs[i] as number));

async function measureRuns(context: MeasureContext): Promise<Collected<PipelineRuns>> {
  const session = await context.session();
  const { iterations, resolution, tier } = context.options;
  // Not counted: this run calibrates the length of a stage for all others.
  const { rounds } = await session.ask('pipelineRuns', { ...SHAPE, rounds: 0, runs: 1 });
  return collect(
    { iterations, resolution, blockSize: BLOCK, cap: CAP[tier] },
    (runs, fraction) => {
      context.progress(`${STAGES} stages, ${MICRO_BATCHES} micro-batches`, fraction);
      return session.block('pipelineRuns', { ...SHAPE, rounds, runs });
    },
    efficiencies,
  );
}

function possibleCheck(value: number): Check {
  return {
    name: 'no faster than its stages',
    passed: value <= HIGHEST,
    detail: `${value.toFixed(1)} % of ${IDEAL_STAGES} stages in sequence, at most ${HIGHEST} %`,
  };
}

/** A layer that returns early from a synchronisation would make the host's time too short. */
function clockCheck(blocks: readonly PipelineRuns[]): Check {
  const early = blocks.flatMap(({ runNs, deviceNs }) =>
    [...runNs].map((run, i) => (deviceNs[i] as number) / run).filter((share) => share > HIGHEST / 100),
  );
  return {
    name: 'the host waited for the device',
    passed: early.length === 0,
    detail:
      early.length === 0
        ? 'no run took longer on the device than on the host'
        : `${early.length} runs took longer on the device, up to ${Math.max(...early).toFixed(2)} times`,
  };
}

const details = v.strictObject({
  stages: count('Stages, each on a stream of its own'),
  microBatches: count('Micro-batches in a run'),
  blocksPerStage: count('Blocks of a stage'),
  roundsPerStage: count('Rounds of arithmetic of a stage, calibrated to its length'),
  stageAloneUs: quantity('us', 'Median time of a stage that had the device to itself'),
  stageInPipelineUs: quantity('us', 'Median time of a stage in a run'),
  idealUs: quantity('us', `Time of ${IDEAL_STAGES} stages alone`),
  runUs: quantity('us', 'Median time of a run by the clock of the host'),
  deviceUs: quantity('us', 'Median time of a run by the clock of the device'),
  handoffUs: quantity('us', 'Median time from the end of what a stage waits for until the stage starts'),
  stagesAtOnce: quantity('stages', 'Stages that ran at the same time, on average'),
  runs: count('Runs: the samples'),
});

export type MultiStreamDetails = v.InferOutput<typeof details>;

export const pipeline: MetricDefinition<MultiStreamDetails> = {
  id: 'LLM-006',
  name: 'Multi-Stream Performance',
  category: 'llm',
  unit: '%',
  direction: 'higher',
  question: 'Does the layer serialise streams that should overlap?',
  estimator:
    'median over runs of 100 × ideal / measured time of 4 stages on a stream each and 16 micro-batches; ideal: 19 stages alone',
  delta: { relative: 0.03 },
  needs: ['concurrent kernels'],
  functionName: 'measureMultiStream',
  where: 'process',
  details,
  besideNative: (_own, { value }) =>
    value !== null && value < LEAST_NATIVE
      ? `the native arm reached ${value.toFixed(1)} % of the ideal, less than ${LEAST_NATIVE} %: its streams do not overlap either`
      : null,
  seconds: { quick: 1, standard: 1, thorough: 2 },
  async measure(context) {
    const { blocks, samples, estimate } = await measureRuns(context);
    const [first] = blocks as [PipelineRuns];
    const { value, ci95 } = estimate;
    const of = (values: (block: PipelineRuns) => Float64Array) => median(concat(...blocks.map(values)));
    const us = (values: (block: PipelineRuns) => Float64Array) => scaled(of(values), NS_PER_US).value;
    const checks = [possibleCheck(value), clockCheck(blocks)];
    return {
      ...invalidBy(checks),
      value,
      ci95,
      headline: samples,
      details: {
        stages: STAGES,
        microBatches: MICRO_BATCHES,
        blocksPerStage: first.blocks,
        roundsPerStage: first.rounds,
        stageAloneUs: us(({ aloneNs }) => aloneNs),
        stageInPipelineUs: us(({ stageNs }) => stageNs),
        idealUs: IDEAL_STAGES * us(({ aloneNs }) => aloneNs),
        runUs: us(({ runNs }) => runNs),
        deviceUs: us(({ deviceNs }) => deviceNs),
        handoffUs: us(({ handoffNs }) => handoffNs),
        stagesAtOnce: of(({ atOnce }) => atOnce).value,
        runs: samples.length,
      },
      checks,
    };
  },
};

/**
 * LLM-006, %: how close a pipeline of 4 stages, a stream each, and 16 micro-batches comes to its ideal time;
 * `details` has what a stage takes alone and in the pipeline, and how many ran at once.
 */
export const measureMultiStream = measureFunction(pipeline);
