import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../lib/rendering.js';
import { briefReport } from '../../../lib/report/formats/brief.js';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { everyKind } from './fixtures.js';
import { parse } from './html-page.js';

const detail =
  'Stopped after round 1 of 3: nothing is left to compare (hami-core was not active). --keep-going measures the others.';
const complete = everyKind();
const interrupted: ComparisonDocument = { ...complete, completed: false };
const stopped: ComparisonDocument = { ...interrupted, stopped: { because: 'not active', detail } };

const markdown = new MarkdownIt();
const forms: [string, (document: ComparisonDocument) => Promise<string> | string][] = [
  ['terminal', (document) => comparisonReport(document, { width: Infinity, hasUtf8: true })],
  ['brief', briefReport],
  [
    'Markdown',
    async (document) =>
      markdown
        .parse(await renderReport(document, 'markdown'), {})
        .map(({ children }) => children?.map(({ content }) => content).join('') ?? '')
        .join('\n'),
  ],
  ['page', async (document) => parse(await renderReport(document, 'html')).texts.join('')],
];

describe.each(forms)('the %s report', (_, shown) => {
  it('says that a comparison was stopped, and why', async () => {
    const text = await shown(stopped);
    expect(text).toContain(`${detail} This report contains only what was measured until then.`);
    expect(text).not.toContain('Interrupted: ');
  });

  it('says that a comparison was interrupted', async () => {
    expect(await shown(interrupted)).toContain('Interrupted: this report contains only what was measured until then.');
  });

  it('says nothing of a complete one', async () => {
    expect(await shown(complete)).not.toContain('only what was measured until then');
  });
});

describe('JUnit of a comparison that was not finished', () => {
  it.each([
    ['interrupted', interrupted, 'Interrupted: this report contains only'],
    ['interrupted before its first round', { ...interrupted, systems: [[], []] }, 'Interrupted: this report contains'],
    ['stopped', stopped, detail],
  ])('has one error and nothing that passes: %s', async (_, document, why) => {
    const junit = await renderReport(document, 'junit');
    expect(junit).toContain('tests="1" failures="0" errors="1" skipped="0"');
    expect(junit).toContain(`<error type="interrupted" message="${why}`);
  });

  it('has the cases of a complete one', async () =>
    expect(await renderReport(complete, 'junit')).not.toContain('type="interrupted"'));
});
