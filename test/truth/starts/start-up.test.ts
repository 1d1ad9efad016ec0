/** START-001 … START-004 recover what starting costs on the simulated GPU. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/document.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { command, parseDocument } from '../../cli/command.js';
import { type ChildOptions, emptyFolder, measure, type MeasureFunction } from '../../native/child.js';
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

/** So many that three starts on a busy core are outside the interval at either end. */
const MANY = { iterations: 16 };
const MS = { tolerance: 1, resolution: 3 };

async function one(name: MeasureFunction, options: object, child: ChildOptions): Promise<MetricResult> {
  const [result] = await measure([[name, options]], child);
  if (!result) throw new Error('unreachable');
  return result;
}

const sim = { init_ms: 23, context_ms: 11, module_ms: 7, alloc_us: 3000 };

/** START-001 to START-003 of one run: they read the same fresh processes. */
async function wholeStarts(environment: NodeJS.ProcessEnv = {}): Promise<MetricResult[]> {
  const settings = Object.entries(sim).map(([key, value]) => `${key}=${value}`);
  const ids = ['START-001', 'START-002', 'START-003'];
  const args = ['run', ...ids, '--simulate', '--iterations', String(MANY.iterations), '--samples', '--json', '-'];
  const { stdout } = await command(args, environment, settings.join());
  const { metrics } = parseDocument(stdout);
  for (const [i, metric] of metrics.entries())
    expect(metric).toMatchObject({ id: ids[i], status: 'ok', processes: MANY.iterations });
  return metrics;
}

describe('START-001, START-002 and START-003', () => {
  it('recover init_ms, context_ms and module_ms, in steps that are the parts of the whole', async () => {
    const [whole, init, context] = (await wholeStarts()) as [MetricResult, MetricResult, MetricResult];
    expect(whole.unit).toBe('ms');
    const steps = whole.details.steps as StepRow[];
    const parts = steps.filter(({ step }) => step !== 'secondLaunch').reduce((sum, { valueMs }) => sum + valueMs, 0);
    const between = (whole.details.betweenSteps as Row).valueMs;
    // Medians do not add up exactly.
    expect(Math.abs((whole.value as number) - parts - between)).toBeLessThan(20);
    expect(between).toBeGreaterThan(0);
    expect(between).toBeLessThan(0.5 * (whole.value as number));
    expect(Math.min(...(whole.samples as number[]))).toBeGreaterThan(sim.init_ms + sim.context_ms + sim.module_ms);
    expectRecovered([
      ['cuInit', ofMs(stepOf(whole, 'init')), { truth: sim.init_ms, ...MS }],
      ['context', ofMs(stepOf(whole, 'context')), { truth: sim.context_ms, ...MS }],
      ['module', ofMs(stepOf(whole, 'module')), { truth: sim.module_ms, ...MS }],
      ['first allocation', ofMs(stepOf(whole, 'firstAlloc')), { truth: 3, ...MS }],
      ['START-002', init, { truth: sim.init_ms, ...MS }],
      ['START-003', context, { truth: sim.context_ms, ...MS }],
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

  it('recover cuInit=+20ms and cuDevicePrimaryCtxRetain=+15ms of a layer, and say whose context it was', async () => {
    const library = interposerLibrary() ?? '';
    const environment = { LD_PRELOAD: library, GVB_INTERPOSE: 'cuInit=+20ms,cuDevicePrimaryCtxRetain=+15ms' };
    const [, init, context] = (await wholeStarts(environment)) as [MetricResult, MetricResult, MetricResult];
    expectRecovered([
      ['START-002', init, { truth: sim.init_ms + 20, ...MS }],
      ['START-003', context, { truth: sim.context_ms + 15, ...MS }],
    ]);
    for (const { details } of [init, context]) expect(details.context).toMatchObject({ owner: library });
  });
});

describe('START-004', () => {
  const settings = { ...sim, module_ms: 19, module_cached_ms: 4 };

  it('recovers the cold and the warm load, and leaves no cache behind', async () => {
    const temporary = emptyFolder();
    const result = await one('measureModuleLoad', MANY, { sim: settings, environment: { TMPDIR: temporary } });
    const [cold, warm] = result.details.loads as (Row & { cache: string })[];
    expect([cold?.cache, warm?.cache, result.status]).toEqual(['cold', 'warm', 'ok']);
    expectRecovered([
      ['headline', result, { truth: 19, ...MS }],
      ['cold', ofMs(cold as Row), { truth: 19, ...MS }],
      ['warm', ofMs(warm as Row), { truth: 4, ...MS }],
    ]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
