/** Documents of `exec` in reports. */
import { describe, expect, it } from 'vitest';
import { programsCommand } from '../../../lib/answer/measuring-command.js';
import { headerFacts } from '../../../lib/report/tables/header.js';
import { openMetricsReport } from '../../../lib/report/formats/openmetrics.js';
import { reproduction, toFillIn } from '../../../lib/report/tables/reproduction.js';
import type { ComparisonDocument, RunDocument } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { merge } from '../../../lib/saved/merge.js';
import { manner } from '../../../lib/run/resume.js';
import { comparison } from './fixtures.js';
import { card, result } from '../run/fixtures.js';

const program = (name: string, sha256 = 'a'.repeat(64)) => ({
  name,
  sha256,
  argv: ['python', 'decode it.py'],
  warmup: 3,
  iterations: 10,
  git: { commit: '0123456789abcdef0123', hasChanges: true },
});

/** The rounds of the fixture, with results of two programs. */
function measured(
  change: Partial<ComparisonDocument> = {},
  programs = [program('a'), program('b')],
): ComparisonDocument {
  const wall = (system: number) => (index: number) =>
    programs.map(({ name }) =>
      result(`${name}/wall`, {
        unit: 's',
        value: system * (1 + index / 1e4),
        details: { delta: { relative: 0.02 } },
      }),
    );
  const document = comparison([
    { name: 'native', metrics: wall(1) },
    { name: 'mine', metrics: wall(2) },
  ]);
  const systems = document.systems.map((rounds) =>
    rounds.map((round) => ({
      ...round,
      plan: { ...round.plan, options: { ...round.plan.options, workloads: programs } },
    })),
  );
  return { ...document, systems, effects: [], callEffects: [], ...change };
}

describe('a document about programs', () => {
  it('names each program in the header of a report', () => {
    const facts = headerFacts(viewOf(measured())).filter(([name]) => name === 'Program');
    expect(facts.map(([, text]) => text)).toEqual(
      ['a', 'b'].map((name) => `${name}: python 'decode it.py', 3 + 10 runs a round, git 0123456789ab with changes`),
    );
  });

  it('has one OpenMetrics family per metric for all programs', () => {
    const text = openMetricsReport(viewOf(measured()));
    expect(text.match(/^# TYPE gpu_virt_bench_program_wall_seconds gauge$/gm)).toHaveLength(1);
    expect(
      text.match(/^gpu_virt_bench_program_wall_seconds\{metric="[ab]\/wall",system="(native|mine)",program="[ab]"/gm),
    ).toHaveLength(4);
  });

  it('is repeated, and continued, with exec', () => {
    const plan = { ...measured().plan, config: '/results/x/systems.yaml' };
    expect(reproduction(viewOf(measured({ plan })))).toMatch(
      /^npx gpu-virt-bench exec --config \/results\/x\/systems\.yaml --rounds/,
    );
    expect(toFillIn(viewOf(measured({ plan, completed: false })))[0]).toContain('exec --resume /results/x');
    // Without its file, the document does not contain the programs.
    expect(reproduction(viewOf(measured()))).toBe('');
  });

  it('is measured again on the simulated GPU if it was measured there', () => {
    const document = measured({ plan: { ...measured().plan, config: '/results/x/systems.yaml' } });
    const command = (each: ComparisonDocument) => programsCommand(viewOf(each), 5);
    expect(command(document)).toBe('npx gpu-virt-bench exec --config /results/x/systems.yaml --rounds 5');
    const systems = document.systems.map((rounds) =>
      rounds.map((round) => ({ ...round, gpu: [card({ simulated: true })] })),
    );
    expect(command({ ...document, systems })).toBe(`${command(document)} --simulate`);
  });

  it('of a server that load measured has no command of run', () => {
    const [round] = measured().systems.flat() as [RunDocument];
    const options = { load: { api: 'http', url: 'http://127.0.0.1:9000/' }, name: 'a' };
    const loaded = viewOf({ ...round, plan: { ...round.plan, metrics: ['a/latency', 'a/errors'], options } });
    expect(reproduction(loaded)).toBe('');
    expect(toFillIn(loaded)).toEqual([
      'No command can be given for native, because this document does not contain the requests of its load.',
    ]);
  });

  it('has effects after a merge', () => {
    const later = measured({ startedAt: '2030-01-01T00:00:00.000Z' });
    const systems = later.systems.map((rounds) => rounds.map((round) => ({ ...round, startedAt: later.startedAt })));
    const merged = merge([
      { file: 'x', document: measured() },
      { file: 'y', document: { ...later, systems } },
    ]) as ComparisonDocument;
    expect(merged.effects.map(({ metric, verdict }) => [metric, verdict])).toEqual([
      ['a/wall', 'slower'],
      ['b/wall', 'slower'],
    ]);
  });

  it('is not merged with a document about another build of a program', () => {
    const other = measured({}, [program('a', 'b'.repeat(64)), program('b')]);
    const sources = [measured(), other].map((document, i) => ({ file: `${i}`, document }));
    expect(() => merge(sources)).toThrow(
      /of one program a but received SHA-256 a{12}… in 0 and SHA-256 b{12}… in 1: report them separately/,
    );
  });

  it('reports no programs if the plan is malformed', () => {
    const [round] = measured().systems.flat();
    const plan = { ...(round as NonNullable<typeof round>).plan, options: { workloads: [{ name: 1 }] } };
    expect(manner(plan)).not.toContain('programs');
  });
});
