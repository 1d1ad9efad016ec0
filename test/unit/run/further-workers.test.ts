import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { furtherWorkers, measureFurther, withFurther } from '../../../lib/run/effects/further-workers.js';
import type { Round } from '../../../lib/run/finished-round.js';
import { device, metric, result, runDocument } from './fixtures.js';

const metrics = [metric('OH-002'), metric('OH-003'), { ...metric('START-004'), where: 'fresh-processes' as const }];
const plan = {
  metrics,
  tier: 'standard' as const,
  seed: 1,
  estimatedSeconds: 1,
  processes: { 'OH-002': 3, 'OH-003': 2, 'START-004': 9 },
};

const roundOf = (results: readonly MetricResult[], change: Partial<Round> = {}): Round => ({
  document: runDocument({ metrics: [...results] }),
  origin: 'measured',
  log: '',
  ...change,
});
const whole = (change: Partial<Round> = {}) =>
  roundOf(
    metrics.map(({ id }) => result(id, { value: 1 })),
    change,
  );

interface Asked {
  metrics: readonly MetricDefinition[];
  worker: number;
}
const values = ({ metrics: wanted, worker }: Asked) =>
  roundOf(
    wanted.map(({ id }) => result(id, { value: 4 })),
    { log: `${worker};` },
  );

/** What was asked of `measure`, and the further workers. */
async function further(systems: readonly number[], answer: (asked: Asked) => Round | null = values) {
  const asked: string[] = [];
  const rounds = await measureFurther(systems, plan, (system, wanted, worker) => {
    asked.push(`${system}: ${worker} ${wanted.map(({ id }) => id).join(', ')}`);
    return Promise.resolve(answer({ metrics: wanted, worker }));
  });
  return { asked, rounds };
}

const valuesOf = ({ document }: Round, id: string) => document.metrics.find((one) => one.id === id)?.processValues;

describe('further workers', () => {
  it('measure the metrics that are planned for as many processes, without those that start their own', () =>
    expect(furtherWorkers(plan).map((worker) => worker.map(({ id }) => id))).toEqual([
      ['OH-002', 'OH-003'],
      ['OH-002'],
    ]));

  it('are none without a plan for processes', () => {
    expect(furtherWorkers({ ...plan, processes: undefined })).toEqual([]);
    const round = whole();
    expect(withFurther(round, [], { ...plan, processes: undefined }, false)).toBe(round);
  });

  it('take turns between the systems of a round, in alternating order', async () => {
    const { asked, rounds } = await further([1, 0]);
    expect(asked).toEqual(['1: 1 OH-002, OH-003', '0: 1 OH-002, OH-003', '0: 2 OH-002', '1: 2 OH-002']);
    const joined = withFurther(whole({ log: 'all' }), rounds.get(0) ?? [], plan, false);
    expect(valuesOf(joined, 'OH-002')).toEqual([4, 4, 1]);
    expect(valuesOf(joined, 'OH-003')).toEqual([4, 1]);
    expect(valuesOf(joined, 'START-004')).toBeUndefined();
    expect(joined.log).toBe('1;2;all');
  });

  it('do not join a round that was not measured now', () => {
    for (const origin of ['reused', 'not measured'] as const) {
      const round = whole({ origin });
      expect(withFurther(round, [whole()], plan, false)).toBe(round);
    }
  });

  it('are left out, which is said, where they were on another card', async () => {
    const card = (index: number) => ({ gpu: [{ ...device(index), simulated: false }] });
    const on = (round: Round, index: number): Round => ({ ...round, document: { ...round.document, ...card(index) } });
    let count = 0;
    const { rounds } = await further([0], (asked) => on(values(asked), count++));
    const { document } = withFurther(on(whole(), 0), rounds.get(0) ?? [], plan, false);
    expect(document.metrics.map(({ processValues = [] }) => processValues)).toEqual([[4, 1], [4, 1], []]);
    expect(document.warnings).toEqual(['1 further process of the round ran on another card, and is left out']);
  });

  it('do not measure a metric again that has lost its value', async () => {
    const failed = result('OH-002', { status: 'failed', reason: 'killed', value: null });
    const { asked, rounds } = await further([0], () => roundOf([failed, result('OH-003', { value: 4 })]));
    expect(asked).toEqual(['0: 1 OH-002, OH-003']);
    const { document } = withFurther(whole(), rounds.get(0) ?? [], plan, false);
    expect(document.metrics.map(({ id, status }) => [id, status])).toEqual([
      ['OH-002', 'failed'],
      ['OH-003', 'ok'],
      ['START-004', 'ok'],
    ]);
  });

  it('end at an interruption', async () => {
    const { asked } = await further([0, 1], () => null);
    expect(asked).toHaveLength(1);
  });

  it('report the first proof that failed in any of them', async () => {
    const { rounds } = await further([0], (asked) => ({ ...values(asked), failedProof: `no layer ${asked.worker}` }));
    expect(withFurther(whole(), rounds.get(0) ?? [], plan, false).failedProof).toBe('no layer 1');
  });
});
