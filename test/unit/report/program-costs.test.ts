/** The estimated cost for a program, in every format. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../../lib/answer/answer.js';
import { programCosts } from '../../../lib/metrics/core/program-costs.js';
import { renderReport } from '../../../lib/rendering.js';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import { runReport } from '../../../lib/report/formats/terminal.js';
import type { CallProfile } from '../../../lib/results/call-profile.js';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { priced } from '../../../lib/run/effects/priced.js';
import { callProfile, phase } from '../profile-fixtures.js';
import { comparison, measured } from './fixtures.js';
import { nasty } from './hostile.js';

const screen = { width: 400, hasUtf8: true };

const functions = (overheadNs: number) => [
  { name: 'cuMemGetInfo_v2', owner: '/l.so', intercepted: overheadNs > 0, overheadNs, bareNs: 100, ci95: null },
];
const system = (name: string, overheadNs: number) => ({
  name,
  metrics: (round: number) => [
    { ...measured('OH-005', 10, round), details: { functions: functions(overheadNs && overheadNs + 10 * round) } },
  ],
});
const document = comparison([system('native', 0), system('hami-core', 990)]);
const profile = callProfile(phase({ cuMemGetInfo_v2: 100, cuFoo: 300 }, { seconds: 0.02 }));

const compared: ComparisonDocument = priced(document, profile);

describe('the estimated cost for a program', () => {
  it('appears on the terminal: the step, its cost, the calls behind it and those without a price', () => {
    const text = comparisonReport(compared, screen);
    expect(text).toMatch(/^What this program would pay:$/m);
    // A step of 2 ms makes 10 calls at 990, 1000 and 1010 ns: sd 10 ns, t(0.975, 2) = 4.303.
    expect(text).toContain(
      'decode under hami-core: +10.00 us (+9.75 … +10.25), +0.5000 % (+0.4876 … +0.5124) of a step of 2.000 ms with 40.00 calls',
    );
    expect(text).toContain('cuMemGetInfo_v2 +10.00 us (10.00 × 1.000 us)');
    expect(text).toContain('not priced: 75.00 % of its calls: cuFoo (30.00, not measured)');
    expect(text).toContain('decode under native: 0 us (0 … 0), 0 % (0 … 0) of a step');
    expect(comparisonReport(document, screen)).not.toContain('What this program would pay');
  });

  it('is a section of Markdown and of the page, and part of the JSON', async () => {
    const markdown = await renderReport(compared, 'markdown');
    expect(markdown).toMatch(/^\| decode \| hami-core \| \+10\.00 us \| \+9\.75 … \+10\.25 \| \+0\.5000 % \|/m);
    expect(await renderReport(compared, 'html')).toMatch(/<section id="program-costs"/);
    expect(JSON.parse(await renderReport(compared, 'json'))).toEqual({
      ...(JSON.parse(JSON.stringify(compared)) as object),
      answer: answerOf(compared),
    });
    for (const format of ['markdown', 'html'] as const)
      expect(await renderReport(document, format)).not.toContain('What this program would pay');
  });

  it('uses the prices of a single run', () => {
    const [round] = compared.systems[1] ?? [];
    if (!round) throw new Error('unreachable');
    expect(runReport(round, screen)).toContain('decode: +9.900 us in 40.00 calls; 75.00 % of them are not priced');
  });

  it('replaces the costs for another profile', () => {
    const again = priced(compared, { ...profile, name: 'training' });
    expect(again.programCosts?.map(({ profile: name }) => name)).toEqual(['training', 'training']);
  });

  it.each(nasty)('quotes a name like %j as text', async (name) => {
    const hostile: CallProfile = { ...profile, name, phases: [{ ...phase({ cuFoo: 1 }), name }] };
    const with_ = { ...compared, programCosts: programCosts(hostile, compared.systems) };
    const html = await renderReport(with_, 'html');
    expect(html).not.toMatch(/<script>alert|<img src=x/);
    expect(comparisonReport(with_, screen)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    const table = (await renderReport(with_, 'markdown')).split('## What this program would pay')[1]?.split('\n## ')[0];
    expect(table?.split('\n').filter((line) => line.startsWith('|'))).toHaveLength(4);
  });
});
