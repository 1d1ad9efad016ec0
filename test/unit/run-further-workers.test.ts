import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../lib/metrics/metric.js';
import type { MetricResult } from '../../lib/results/document.js';
import { furtherWorkers, withFurtherWorkers } from '../../lib/run/further-workers.js';
import type { Round } from '../../lib/run/finished-round.js';
import { metric, result, runDocument } from './run-fixtures.js';

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
const first = (change: Partial<Round> = {}) =>
  roundOf(
    metrics.map(({ id }) => result(id, { value: 1 })),
    change,
  );

/** What was asked of `measure`, and the joined rounds. */
async function joined(
  firsts: readonly Round[],
  answer: (asked: { system: number; metrics: readonly MetricDefinition[]; process: number }) => Round | null = (
    asked,
  ) =>
    roundOf(
      asked.metrics.map(({ id }) => result(id, { value: 4 })),
      { log: `${asked.process};` },
    ),
) {
  const asked: string[] = [];
  const rounds = await withFurtherWorkers(new Map(firsts.entries()), {
    plan,
    keepSamples: false,
    measure: (system, wanted, process) => {
      asked.push(`${system}: ${process} ${wanted.map(({ id }) => id).join(', ')}`);
      return Promise.resolve(answer({ system, metrics: wanted, process }));
    },
  });
  return { asked, rounds: [...rounds.values()] };
}

const valuesOf = ({ document }: Round, id: string) => document.metrics.find((one) => one.id === id)?.processValues;

describe('further workers', () => {
  it('measure the metrics that are planned for as many processes, without those that start their own', () =>
    expect(furtherWorkers(plan).map((worker) => worker.map(({ id }) => id))).toEqual([
      ['OH-002', 'OH-003'],
      ['OH-002'],
    ]));

  it('are none without a plan for processes', () =>
    expect(furtherWorkers({ ...plan, processes: undefined })).toEqual([]));

  it('take turns between the systems of a round, in alternating order', async () => {
    const { asked, rounds } = await joined([first({ log: '1;' }), first()]);
    expect(asked).toEqual(['1: 2 OH-002, OH-003', '0: 2 OH-002, OH-003', '0: 3 OH-002', '1: 3 OH-002']);
    expect(valuesOf(rounds[0] as Round, 'OH-002')).toEqual([1, 4, 4]);
    expect(valuesOf(rounds[0] as Round, 'OH-003')).toEqual([1, 4]);
    expect(rounds[0]?.log).toBe('1;2;3;');
  });

  it('leave rounds alone that were not measured now', async () => {
    const { asked, rounds } = await joined([first({ origin: 'reused' }), first({ origin: 'not measured' }), first()]);
    expect(asked.every((text) => text.startsWith('2: '))).toBe(true);
    expect(valuesOf(rounds[0] as Round, 'OH-002')).toBeUndefined();
  });

  it('do not measure a metric again that has lost its value', async () => {
    const failed = result('OH-002', { status: 'failed', reason: 'killed', value: null });
    const { asked, rounds } = await joined([first()], ({ process, metrics: wanted }) =>
      roundOf(process === 2 ? [failed, result('OH-003', { value: 4 })] : wanted.map(({ id }) => result(id))),
    );
    expect(asked).toEqual(['0: 2 OH-002, OH-003']);
    expect(rounds[0]?.document.metrics.map(({ id, status }) => [id, status])).toEqual([
      ['OH-002', 'failed'],
      ['OH-003', 'ok'],
      ['START-004', 'ok'],
    ]);
  });

  it('keep an interrupted round incomplete, so that --resume measures it again', async () => {
    const { asked, rounds } = await joined([first(), first({ origin: 'reused' })], () => null);
    expect(asked).toHaveLength(1);
    expect(rounds.map(({ document }) => document.completed)).toEqual([false, true]);
  });

  it('report the first proof that failed in any of them', async () => {
    const { rounds } = await joined([first()], ({ metrics: wanted }) =>
      roundOf(
        wanted.map(({ id }) => result(id)),
        { failedProof: 'no layer' },
      ),
    );
    expect(rounds[0]?.failedProof).toBe('no layer');
  });
});
