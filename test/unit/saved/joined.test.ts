/** Metrics and programs of the same systems in one document. */
import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { answerOf } from '../../../lib/answer/answer.js';
import { briefReport } from '../../../lib/report/formats/brief.js';
import { headerFacts } from '../../../lib/report/tables/header.js';
import { reproduction, toFillIn } from '../../../lib/report/tables/reproduction.js';
import { statisticsText } from '../../../lib/report/text/statistics.js';
import { type ComparisonDocument, comparisonDocumentSchema } from '../../../lib/results/document.js';
import { rowsOf, viewOf } from '../../../lib/results/view.js';
import { merge } from '../../../lib/saved/merge.js';
import { changed, ofMetrics, ofServer } from '../joined-fixtures.js';
import { card } from '../run/fixtures.js';

const costs = { native: 1, 'hami-50': 1.3, 'mps-50': 1.02 };
const rates = { native: 1, 'hami-50': 0.8, 'mps-50': 0.999 };
const [metrics, server] = [ofMetrics(costs), ofServer(rates)];

const joined = (...documents: ComparisonDocument[]) =>
  merge(documents.map((document, i) => ({ file: `${'abc'.charAt(i)}.json`, document }))) as ComparisonDocument;

const together = joined(metrics, server);
const programs = (document: ComparisonDocument) =>
  answerOf(document).cards.map(({ lines }) => lines.find(({ question }) => question === 'program')?.figures);

describe('metrics and programs of the same systems', () => {
  it('are one document of the schema, for the purpose and at the tier of the metrics', () => {
    expect(v.is(comparisonDocumentSchema, together)).toBe(true);
    expect(together.plan).toMatchObject({ tier: 'quick', purpose: 'serving', systems: Object.keys(costs) });
    expect(together.plan.metrics).toEqual(['OH-001', 'START-001', 'server/tokens-per-second', 'server/ttft'].sort());
  });

  it('have the effects that each document has alone, in one family for each system', () => {
    const ratios = ({ effects }: ComparisonDocument) =>
      effects.map(({ metric, system, rounds, ratio }) => `${system} ${metric} ${rounds} ${ratio?.toFixed(9)}`).sort();
    const alone = joined(server, ofServer(rates, { name: 'other', day: 3 }));
    expect(ratios(alone).filter((text) => text.includes('server/'))).toHaveLength(4);
    expect(ratios(together)).toEqual(
      [...ratios(metrics), ...ratios(alone).filter((text) => text.includes('server/'))].sort(),
    );
    expect(together.pairs.map(({ metric }) => metric)).toContain('server/tokens-per-second');
  });

  it('have a card for each system, with what the program loses', () => {
    expect(programs(together).map((figures) => figures?.map(({ metric, word }) => [metric, word]))).toEqual([
      [
        ['server/tokens-per-second', 'slower'],
        ['server/ttft', 'slower'],
      ],
      [
        ['server/tokens-per-second', 'same'],
        ['server/ttft', 'same'],
      ],
    ]);
  });

  it('do not depend on their order', () => {
    const other = joined(server, metrics);
    expect(other.plan).toMatchObject({ tier: 'quick', purpose: 'serving' });
    expect(answerOf(other)).toEqual(answerOf(together));
  });

  it('count the rounds of each metric alone', () => {
    const view = viewOf(together);
    const counts = rowsOf(view).map(({ id, cells }) => [id.includes('/'), ...cells.map(({ of }) => of)]);
    expect(counts).toEqual(rowsOf(view).map(({ id }) => (id.includes('/') ? [true, 2, 2, 2] : [false, 3, 3, 3])));
    expect(headerFacts(view)).toContainEqual(['Rounds', '3 of metrics, 2 of programs']);
    expect(statisticsText(view)[0]).toContain('3 rounds of metrics and 2 rounds of programs per system');
  });

  it('are repeated with one command each, by the file of the programs', () => {
    const lines = reproduction(viewOf(together)).split('\n');
    expect(lines.map((line) => line.replace(/ --seed .*/, ''))).toEqual([
      'npx gpu-virt-bench compare OH-001 START-001 --config results/server/systems.yaml --rounds 3 --tier quick',
      'npx gpu-virt-bench exec --config results/server/systems.yaml --rounds 2 --tier standard',
    ]);
    // Which of the two was interrupted is not known.
    expect(toFillIn(viewOf({ ...together, completed: false }))).toEqual([]);
  });

  it('can be joined again: with more rounds, and with another program', () => {
    const more = changed(server, ({ startedAt }) => ({ startedAt: startedAt.replace('01-02', '01-03') }));
    const again = joined(together, more, ofServer(rates, { name: 'other', day: 4 }));
    const rounds = (id: string) => again.effects.find(({ metric }) => metric === id)?.rounds;
    expect(['OH-001', 'server/ttft', 'other/ttft'].map(rounds)).toEqual([3, 4, 2]);
  });

  it('show a system as unverified if it is so for its programs', () => {
    const own = (name: string) => (name === 'mps-50' ? `${name} (unverified)` : name);
    const unproven = ofServer(Object.fromEntries(Object.entries(rates).map(([name, rate]) => [own(name), rate])));
    const kinds = changed(unproven, ({ system }) => ({ system: { ...system, kind: system.kind.split(' ')[0] ?? '' } }));
    expect(
      joined(
        metrics,
        changed(kinds, ({ system }) => ({ system: { ...system, spec: system.kind } })),
      ).plan.systems,
    ).toEqual(['native', 'hami-50', 'mps-50 (unverified)']);
  });
});

describe('the first sentence of a joined document', () => {
  const decision = (document: ComparisonDocument) => answerOf(document).decision;
  const violated = (cause: 'fault' | 'memory'): ComparisonDocument => ({
    ...together,
    violations: [
      {
        system: 'hami-50',
        ...(cause === 'fault'
          ? { metric: 'IS-010', detail: 'illegal address: a neighbour failed' }
          : { metric: 'IS-001', detail: 'cuMemAlloc_v2: 12 GiB granted under a limit of 10 GiB; NVML shows 12.4 GiB' }),
      },
    ],
  });

  it('names the system for the purpose and what the server loses', () =>
    expect(decision(together)).toMatch(
      /^For serving prefer mps-50 to hami-50: server\/tokens-per-second -20\.00 % \(.*\) under hami-50 and no loss that counts under mps-50\. Use hami-50 only where \+\d/,
    ));

  it('still has the loss where a limit does not hold', () => {
    const text = decision(violated('memory'));
    expect(text).toMatch(/^For serving prefer .* under mps-50\. For strict quotas do not use hami-50/);
    expect(text.split(' ').length).toBeLessThanOrEqual(40);
  });

  it('counts a model that was measured, also where the server decides nothing', () => {
    const equal = { native: 1, 'hami-50': 1, 'mps-50': 1 };
    const withModel = (factors: typeof equal) => joined(ofMetrics(factors, ['LLM-004']), ofServer(equal));
    const inference = (document: ComparisonDocument) =>
      answerOf(document).recommendations.find(({ use }) => use === 'Inference');
    const slowModel = inference(withModel({ ...equal, 'mps-50': 1.2 }));
    expect(slowModel?.decides).toContain('LLM-004');
    expect(slowModel?.reason).toBe('hami-50 is better than mps-50: time per token.');
    // Without a model its absence is not named: the program answers the question.
    expect(inference(together)?.missing).not.toContain('LLM-004');
  });

  it('rules out a system whose faults reach others, before any cost', () =>
    expect(decision(violated('fault'))).toMatch(
      /^For serving do not use hami-50, because hami-50 lets 1 fault .*: server\/tokens-per-second -20\.00 %/,
    ));

  it('says that tests prefer none', () => {
    const equal = joined(ofMetrics({ native: 1, a: 1, b: 1 }), ofServer({ native: 1, a: 1, b: 1 }));
    expect(decision(equal)).toMatch(
      /^For serving tests prefer none of a and b: server\/tokens-per-second no loss that counts under a and no loss/,
    );
  });

  it('names one system with its loss, or that it has none that counts', () => {
    const of = (rate: number) => joined(ofMetrics({ native: 1, mps: 1.5 }), ofServer({ native: 1, mps: rate }));
    expect(decision(of(0.8))).toMatch(/^For serving use mps only where -20\.00 % \(.*\) server\/tokens-per-second is/);
    expect(decision(of(1))).toMatch(
      /^For serving: server\/tokens-per-second no loss that counts under mps\. Use mps only where \+/,
    );
  });

  it('stands in the first 60 words of the answer alone', () => {
    const words = briefReport(together).split(/\s+/).slice(0, 60).join(' ');
    expect(words).toMatch(/prefer mps-50 to hami-50: server\/tokens-per-second -20\.00 %/);
  });
});

describe('metrics and programs are refused together', () => {
  const cases: [what: string, other: ComparisonDocument, says: RegExp][] = [
    [
      'if a system is missing',
      ofServer({ native: 1, 'mps-50': 1 }),
      /of the same systems for metrics and programs but received hami-50, mps-50, native in a\.json and mps-50, native in b\.json: measure both with the same --config/,
    ],
    [
      'of another card of the same model',
      changed(server, () => ({ gpu: [card({ uuid: 'GPU-b' })] })),
      /of one card for metrics and programs but received GPU-0aaaaaaa-\S+ in a\.json and GPU-b in b\.json/,
    ],
    [
      'of another model',
      changed(server, () => ({ gpu: [card({ name: 'NVIDIA Other' })] })),
      /of one GPU model but received NVIDIA Test in a\.json and NVIDIA Other in b\.json/,
    ],
    [
      'with another driver',
      changed(server, ({ driver }) => ({ driver: { ...driver, version: '570.1' } })),
      /of one driver but received 580\.1, CUDA 13\.0 in a\.json and 570\.1, CUDA 13\.0 in b\.json/,
    ],
    [
      'under other limits',
      changed(server, ({ system }) => ({
        system: { ...system, spec: system.name === 'mps-50' ? 'mps:sm=30' : system.kind },
      })),
      /in which mps-50 is the same system but received different settings or layers, mps in a\.json and mps:sm=30 in b\.json/,
    ],
    [
      'under other limits that only a file can express',
      changed(server, ({ system: { spec: _, ...system } }) => ({
        system: { ...system, settings: system.name === 'mps-50' ? { CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '30' } : {} },
      })),
      /different settings or layers, \[\] in a\.json and \[\["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE","30"\]\] in b\.json/,
    ],
  ];
  it.each(cases)('%s', (_what, other, says) => expect(() => joined(metrics, other)).toThrow(says));

  it('if a program of one name is not the same program', () =>
    expect(() => joined(metrics, server, ofServer(rates, { sha256: 'b'.repeat(64) }))).toThrow(
      /of one program server but received SHA-256 a{12}… in b\.json and SHA-256 b{12}… in c\.json/,
    ));

  it('but not if the settings are in another order', () => {
    const spec = (text: string) => (document: ComparisonDocument) =>
      changed(document, ({ system }) => ({
        system: { ...system, spec: system.name === 'mps-50' ? text : system.kind },
      }));
    const [a, b] = ['mps:memory=8GiB,sm=50', 'mps:sm=50,memory=8GiB'];
    expect(joined(spec(a ?? '')(metrics), spec(b ?? '')(server)).plan.systems).toHaveLength(3);
  });
});
