/** Scenes of programs in reports. */
import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../lib/index.js';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import { headerFacts } from '../../../lib/report/tables/header.js';
import { SCENE_TITLE, sceneRowsOf } from '../../../lib/report/tables/slowdowns.js';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { viewOf } from '../../../lib/results/view.js';
import { comparison } from './fixtures.js';
import { result } from '../run/fixtures.js';

const screen = { width: Infinity, hasUtf8: true };
const stem = 's@n=1/v/wall';

/** A victim that takes 2 s alone and natively 3 s beside the others; under the other system it has no number. */
function measured(): ComparisonDocument {
  const seconds = (id: string, value: number) => result(id, { unit: 's', value });
  const alone = () => seconds(`${stem}/alone`, 2);
  const ratio = { name: 'slowdown by wall time', unit: 'ratio' };
  const invalid = {
    status: 'invalid',
    reason: 't was never on the GPU',
    value: null,
    ci95: null,
    stats: null,
  } as const;
  const document = comparison([
    {
      name: 'native',
      metrics: () => [seconds(stem, 3), alone(), result(`${stem}/slowdown`, { ...ratio, value: 1.5 })],
    },
    {
      name: 'mine',
      metrics: () => [
        result(stem, { unit: 's', ...invalid }),
        alone(),
        result(`${stem}/slowdown`, { ...ratio, ...invalid }),
      ],
    },
  ]);
  const tenants = [
    { name: 'v', argv: ['python', 'a b.py'] },
    { name: 'l2-thrash', task: 'l2-thrash' },
    { name: 'n', task: 'l2-thrash' },
  ];
  const scene = { name: 's@n=1', sha256: 'a', argv: ['python'], warmup: 3, iterations: 10, git: null, tenants };
  const systems = document.systems.map((rounds) =>
    rounds.map((round) => ({ ...round, plan: { ...round.plan, options: { workloads: [scene] } } })),
  );
  return { ...document, systems, effects: [], callEffects: [] };
}

describe('scenes in a report', () => {
  it('are a row for every victim, metric and system', () => {
    expect(sceneRowsOf(viewOf(measured()))).toMatchObject([
      {
        ...{ scene: 's@n=1', victim: 'v', metric: 'wall', system: 'native', ratio: 1.5 },
        ...{ alone: { value: '2.000 s' }, together: { value: '3.000 s' }, slowdown: { value: '× 1.500' } },
      },
      { system: 'mine', alone: { value: '2.000 s' }, together: null, slowdown: null, ratio: null },
    ]);
  });

  it('stand in every format for people, with what is missing', async () => {
    const markdown = await renderReport(measured(), 'markdown');
    expect(markdown).toContain(`## ${SCENE_TITLE}`);
    expect(markdown).toContain('| s\\@n=1 | v | wall | native | 2.000 s | 3.000 s | × 1.500 |');
    expect(markdown).toContain('| s\\@n=1 | v | wall | mine | 2.000 s | – | – | – |');
    expect(await renderReport(measured(), 'html')).toMatch(/<td>native<\/td>\s*<td class="num">2.000 s<\/td>/);
    expect(comparisonReport(measured(), screen)).toMatch(/^s@n=1 +v +wall +native +2\.000 s +3\.000 s +× 1\.500/m);
  });

  it('are left out of a report about single programs', async () => {
    const one = comparison([{ name: 'native', metrics: () => [result('p/wall', { unit: 's', value: 1 })] }]);
    for (const text of [await renderReport(one, 'markdown'), comparisonReport(one, screen)])
      expect(text).not.toContain(SCENE_TITLE);
  });

  it('have their tenants in labels of OpenMetrics, and in the header', async () => {
    expect(await renderReport(measured(), 'openmetrics')).toMatch(
      /^gpu_virt_bench_program_wall_slowdown_ratio\{metric="s@n=1\/v\/wall\/slowdown",system="native",program="s@n=1",tenant="v",/m,
    );
    const [fact] = headerFacts(viewOf(measured())).filter(([name]) => name === 'Program');
    expect(fact?.[1]).toBe(
      "s@n=1: v (python 'a b.py') beside l2-thrash (built-in) beside n (built-in l2-thrash), 3 + 10 runs a round",
    );
  });
});
