/** START-001 … START-004 recover the cost of starting on the simulated GPU. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { command, parseDocument } from '../../cli/command.js';
import { emptyFolder, measureProcesses } from '../../native/child.js';
import { recordedByProcess, type Recorded } from '../../native/record.js';
import {
  COLD_READINGS,
  interruptedOf,
  loadedAt,
  type RecordedStart,
  startOf,
  truthOfStarts,
} from '../../native/recorded-starts.js';
import { type Estimate, expectRecovered } from '../../native/recovered.js';

interface Row {
  valueMs: number;
  ci95: [number, number] | null;
  count: number;
}
type StepRow = Row & { step: string };
const ofMs = ({ valueMs, ci95 }: Row): Estimate => ({ value: valueMs, ci95 });
const stepOf = (result: MetricResult, name: string): Row =>
  (result.details.steps as StepRow[]).find(({ step }) => step === name) as Row;

/** Enough that three starts on a busy core are outside the interval at either end. */
const MANY = { iterations: 16 };

const sim = { init_ms: 23, context_ms: 11, module_ms: 7, alloc_us: 3000 };

/** START-001 to START-003 of one run: they read the same fresh processes. */
async function wholeStarts(environment: NodeJS.ProcessEnv = {}) {
  const record = emptyFolder();
  const settings = Object.entries({ ...sim, record }).map(([key, value]) => `${key}=${value}`);
  const ids = ['START-001', 'START-002', 'START-003'];
  const args = ['run', ...ids, '--simulate', '--iterations', String(MANY.iterations), '--samples', '--json', '-'];
  const recording = { ...environment, GVB_INTERPOSE_RECORD: record };
  const { stdout } = await command(args, recording, settings.join());
  const { metrics } = parseDocument(stdout);
  for (const [i, metric] of metrics.entries())
    expect(metric).toMatchObject({ id: ids[i], status: 'ok', processes: MANY.iterations });
  const starts = recordedByProcess(record).flatMap((process) => startOf(process.joined(), 'primary') ?? []);
  expect(starts).toHaveLength(MANY.iterations);
  return { metrics: metrics as [MetricResult, MetricResult, MetricResult], starts };
}

const stepMs = (starts: readonly RecordedStart[], step: keyof RecordedStart['stepsNs']) =>
  truthOfStarts(starts, ({ stepsNs }) => stepsNs[step], 1e6);

describe('START-001, START-002 and START-003', () => {
  it('recover the durations of cuInit, the context and the module, in steps that add up to the whole', async () => {
    const {
      metrics: [whole, init, context],
      starts,
    } = await wholeStarts();
    expect(whole.unit).toBe('ms');
    const steps = whole.details.steps as StepRow[];
    const parts = steps.filter(({ step }) => step !== 'secondLaunch').reduce((sum, { valueMs }) => sum + valueMs, 0);
    const between = (whole.details.betweenSteps as Row).valueMs;
    const samples = whole.samples as number[];
    // Medians do not add up exactly, the less so the more the starts vary.
    const range = Math.max(...samples) - Math.min(...samples);
    const rest = Math.abs((whole.value as number) - parts - between);
    expect(rest).toBeLessThan(Math.max(0.25 * (whole.value as number), range));
    expect(between).toBeGreaterThan(0);
    expect(whole.checks).toContainEqual(
      expect.objectContaining({ name: 'the steps fit into the whole', passed: true }),
    );
    expect(Math.min(...samples)).toBeGreaterThan(sim.init_ms + sim.context_ms + sim.module_ms);
    expectRecovered([
      ['cuInit', ofMs(stepOf(whole, 'init')), stepMs(starts, 'init')],
      ['context', ofMs(stepOf(whole, 'context')), stepMs(starts, 'context')],
      ['module', ofMs(stepOf(whole, 'module')), stepMs(starts, 'module')],
      ['first allocation', ofMs(stepOf(whole, 'firstAlloc')), stepMs(starts, 'firstAlloc')],
      ['START-002', init, stepMs(starts, 'init')],
      ['START-003', context, stepMs(starts, 'context')],
    ]);
    expect(steps.map(({ step }) => step)).toEqual([
      'spawnToMain',
      'addonLoad',
      'load',
      'resolve',
      'init',
      'device',
      'context',
      'module',
      'firstAlloc',
      'firstLaunch',
      'secondLaunch',
    ]);
    for (const { details } of [init, context])
      expect(details.context).toMatchObject({ function: 'cuDevicePrimaryCtxRetain' });
    expect((context.details.release as Row).count).toBe(MANY.iterations);
  });

  it("recover what a layer adds to cuInit and cuDevicePrimaryCtxRetain, and name the context's owner", async () => {
    const library = interposerLibrary() ?? '';
    const environment = { LD_PRELOAD: library, GVB_INTERPOSE: 'cuInit=+20ms,cuDevicePrimaryCtxRetain=+15ms' };
    const {
      metrics: [, init, context],
      starts,
    } = await wholeStarts(environment);
    // The record includes the layer's delays: a hook is joined with the call that follows.
    const shortest = (step: 'init' | 'context') => Math.min(...starts.map(({ stepsNs }) => stepsNs[step])) / 1e6;
    expect(shortest('init')).toBeGreaterThan(sim.init_ms + 19);
    expect(shortest('context')).toBeGreaterThan(sim.context_ms + 14);
    expectRecovered([
      ['START-002', init, stepMs(starts, 'init')],
      ['START-003', context, stepMs(starts, 'context')],
    ]);
    for (const { details } of [init, context]) expect(details.context).toMatchObject({ owner: library });
  });
});

interface Load {
  recorded: Recorded;
  took: number;
}

function loadOf(recorded: Recorded): Load[] {
  const [load] = [...recorded.named('cuModuleLoadDataEx'), ...recorded.named('cuModuleLoadData')];
  return load ? [{ recorded, took: loadedAt(recorded, load) - load.entered }] : [];
}

function truthOfLoads(loads: readonly Load[]) {
  const { recorded } = loads[0] as Load;
  const moreNs = COLD_READINGS * recorded.readingNs;
  const values = loads.map(({ took }) => took);
  return recorded.truthOfSameCalls(values, { moreNs, unitNs: 1e6 }, interruptedOf(values.length));
}

describe('START-004', () => {
  const settings = { ...sim, module_ms: 19, module_cached_ms: 4 };

  it('recovers the cold and the warm load, and leaves no cache behind', async () => {
    const temporary = emptyFolder();
    const { results, processes } = await measureProcesses([['measureModuleLoad', MANY]], {
      sim: settings,
      environment: { TMPDIR: temporary },
    });
    const result = results[0] as MetricResult;
    // A cold and a warm load, alternating.
    const loads = processes.flatMap(loadOf);
    expect(loads).toHaveLength(2 * MANY.iterations);
    const [colds, warms] = [0, 1].map((which) => loads.filter((_, i) => i % 2 === which)) as [Load[], Load[]];
    const [cold, warm] = result.details.loads as (Row & { cache: string })[];
    expect([cold?.cache, warm?.cache, result.status]).toEqual(['cold', 'warm', 'ok']);
    expectRecovered([
      ['headline', result, truthOfLoads(colds)],
      ['cold', ofMs(cold as Row), truthOfLoads(colds)],
      ['warm', ofMs(warm as Row), truthOfLoads(warms)],
    ]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
