/** LLM-006: the efficiency of a pipeline compared with the recorded stages and synchronisations. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { emptyFolder, measureRecorded, type Settings } from '../../native/child.js';
import type { Recorded, RecordedCall } from '../../native/record.js';
import { metricNamed } from '../../metric-named.js';

const STAGES = 4;
const BATCHES = 16;
const IDEAL = STAGES + BATCHES - 1;
const ALONE = 5;
const OF_RUN = ALONE + STAGES * BATCHES;
const RUNS = 6;
/** A step of the device's timer at each end of a stage. */
const STEP_NS = 32;

async function measured(environment: NodeJS.ProcessEnv = {}, settings: Settings = {}) {
  const { results, recorded } = await measureRecorded([['measureMultiStream', { iterations: RUNS }]], {
    sim: { init_ms: 1, context_ms: 1, ...settings },
    environment,
  });
  return { result: results[0] as MetricResult, recorded };
}

const lengthOf = ({ begins, ends }: RecordedCall): number => ends - begins;

interface Run {
  aloneNs: number;
  /** Bounds of the host's time. */
  leastNs: number;
  mostNs: number;
  stages: RecordedCall[];
}

function runsOf(recorded: Recorded): Run[] {
  const stages = recorded.named('cuLaunchKernel').filter(({ kernel }) => kernel === 'gvb_stage');
  return Array.from({ length: RUNS }, (_, i) => {
    const all = stages.slice(stages.length - (RUNS - i) * OF_RUN).slice(0, OF_RUN);
    const run = all.slice(ALONE);
    const [first, last] = [run[0] as RecordedCall, run.at(-1) as RecordedCall];
    // If the thread is preempted around the run, the host's time lies anywhere between the surrounding calls.
    const ready = recorded.named('cuCtxSynchronize').findLast(({ left }) => left < first.entered) as RecordedCall;
    const waits = recorded.named('cuStreamSynchronize').filter(({ entered }) => entered > last.entered);
    const [joined, behind] = waits as [RecordedCall, RecordedCall];
    return {
      aloneNs: median(all.slice(0, ALONE).map(lengthOf)).value,
      leastNs: joined.left - first.entered,
      mostNs: behind.entered - ready.left,
      stages: run,
    };
  });
}

function expectRecovered(result: MetricResult, recorded: Recorded): number {
  expect(result.status).toBe('ok');
  const runs = runsOf(recorded);
  const percent = (ns: 'leastNs' | 'mostNs') => median(runs.map((run) => (100 * IDEAL * run.aloneNs) / run[ns])).value;
  // The median of stages alone comes from the device's timer.
  const relative = (2 * STEP_NS) / (runs[0]?.aloneNs as number);
  expect(result.value).toBeGreaterThan(percent('mostNs') * (1 - relative));
  expect(result.value).toBeLessThan(percent('leastNs') * (1 + relative));
  return percent('leastNs');
}

it('recovers the efficiency of a pipeline with overlapping streams', async () => {
  const { result, recorded } = await measured();
  const truth = expectRecovered(result, recorded);
  const [run] = runsOf(recorded) as [Run];
  expect(result.details).toMatchObject({ stages: STAGES, microBatches: BATCHES, blocksPerStage: 33, runs: RUNS });
  // If the host launches in time, 64 / 19: four at a time except for filling and draining.
  const atOnce = runsOf(recorded).map(({ stages }) => {
    const whole = Math.max(...stages.map(({ ends }) => ends)) - Math.min(...stages.map(({ begins }) => begins));
    return stages.reduce((total, stage) => total + lengthOf(stage), 0) / whole;
  });
  expect(result.details.stagesAtOnce).toBeCloseTo(median(atOnce).value, 2);
  expect(Math.abs((result.details.stageAloneUs as number) - run.aloneNs / 1e3)).toBeLessThan((2 * STEP_NS) / 1e3);
  expect(truth).toBeLessThan(100);
});

it('waits in every stage for the previous stage and for its own previous micro-batch', async () => {
  const { recorded } = await measured();
  for (const { stages } of runsOf(recorded))
    for (const [i, { begins }] of stages.entries()) {
      const [batch, stage] = [Math.floor(i / STAGES), i % STAGES];
      if (stage > 0) expect(begins).toBeGreaterThanOrEqual(stages[i - 1]?.ends as number);
      if (batch > 0) expect(begins).toBeGreaterThanOrEqual(stages[i - STAGES]?.ends as number);
    }
});

it('has as many blocks per stage as fit beside the other stages', async () => {
  const { result } = await measured({}, { sms: 34 });
  expect(result).toMatchObject({ status: 'ok', details: { blocksPerStage: 8 } });
});

it.each([
  ['launches take long', 'cuLaunchKernel=+80us'],
  ['every launch leaves the device idle', 'share=60'],
])('recovers the loss if %s', async (_, interpose) => {
  const layer = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose };
  const { result, recorded } = await measured(layer);
  // A hook's delay comes before the driver's call, so the run begins with it.
  const runs = interpose.startsWith('share') ? recorded : recorded.joined();
  expect(expectRecovered(result, runs)).toBeLessThan(95);
});

it('shows a layer that serialises streams', async () => {
  const library = join(emptyFolder(), 'lazy-layer.so');
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', library, source, '-ldl']);
  const { result, recorded } = await measured({ LD_PRELOAD: library, GVB_TEST_LAZY: 'streams=one' });
  expectRecovered(result, recorded);
  // With one stream all 64 stages run one after the other.
  expect(result.value).toBeLessThan((100 * IDEAL) / (STAGES * BATCHES));
  expect(result.details.stagesAtOnce).toBeLessThanOrEqual(1);
});

it("has no verdict if native's streams do not overlap", () => {
  const { besideNative } = metricNamed('LLM-006');
  const native = (value: number) => besideNative?.({} as MetricResult, { value } as MetricResult);
  expect(native(97)).toBeNull();
  expect(native(84.9)).toMatch(/^the native arm reached 84\.9 % of the ideal, less than 85 %/);
});
