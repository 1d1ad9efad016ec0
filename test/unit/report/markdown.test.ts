import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { markdownReport } from '../../../lib/report/formats/markdown.js';
import { markdownBlock, markdownTable, markdownText } from '../../../lib/report/markdown/markdown-text.js';
import { sections } from '../../../lib/report/sections.js';
import { plain } from '../../../lib/results/text/plain.js';
import { WATERMARK } from '../../../lib/report/formats/terminal.js';
import { viewOf } from '../../../lib/results/view.js';
import { wordsOf } from '../../../lib/report/text/words.js';
import { everyKind } from './fixtures.js';
import { documentOf, hostileTexts, nasty, nastyText } from './hostile.js';
import { comparisonOf, FAILED, small } from './html-fixtures.js';
import { expectSections } from './section-order.js';
import { card, runDocument } from '../run/fixtures.js';

const parser = new MarkdownIt({ html: true, linkify: true });
// GitHub links addresses that begin with a scheme or www., and mail addresses, but not every word with a dot.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: true });

function reportOf(document: Parameters<typeof viewOf>[0]): string {
  const view = viewOf(document);
  return markdownReport(view, wordsOf(view));
}

const inline = (text: string) => parser.parseInline(text, {})[0]?.children ?? [];
/** The text that a reader sees for a line of Markdown. */
const shown = (text: string) => inline(text).map(({ content }) => content).join(''); // prettier-ignore

describe('text in Markdown', () => {
  it.each(nasty)('is shown unchanged: %j', (text) => {
    expect(inline(markdownText(text)).map(({ type }) => type).filter((type) => type !== 'text' && type !== 'text_special')).toEqual([]); // prettier-ignore
    expect(shown(markdownText(text))).toBe(plain(text));
  });

  it('is shown unchanged for random text', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(shown(markdownText(text)).trim()).toBe(plain(text).trim());
      }),
    );
  });

  it('opens no block at the beginning of a line', () => {
    fc.assert(
      fc.property(fc.oneof(nastyText, fc.constantFrom('1. x', '12) x', '+ x', '= x', '---', '===')), (text) => {
        const types = parser.parse(`- ${markdownBlock(text)} end`, {}).map(({ type }) => type);
        expect(types).toEqual([
          'bullet_list_open',
          'list_item_open',
          'paragraph_open',
          'inline',
          'paragraph_close',
          'list_item_close',
          'bullet_list_close',
        ]);
      }),
    );
  });

  it('does not change the columns of a table', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(nastyText, nastyText), { minLength: 1, maxLength: 5 }), (rows) => {
        const text = markdownTable(
          [{ title: 'a' }, { title: 'b', align: 'right' }],
          rows.map((cells) => cells.map(markdownText)),
        );
        const cells = parser.parse(text, {}).filter(({ type }) => type === 'td_open' || type === 'th_open');
        expect(cells).toHaveLength(2 * (rows.length + 1));
      }),
    );
  });
});

describe('the report', () => {
  const text = reportOf(everyKind());

  it('has its sections in order', () => {
    const titles = (text.match(/^## .*$/gm) ?? []).map((line) => line.slice('## '.length));
    expectSections(
      titles.map((title) => sections.find((section) => section.title === title)?.id),
      [
        ...(['violations', 'recommendations', 'unknown', 'costs', 'results', 'compute-limits'] as const),
        ...(['not-measured', 'tails', 'consistency', 'statistics', 'health', 'reproduction', 'environment'] as const),
      ],
    );
  });

  it('begins with the decision', () => {
    expect(text.split('\n').slice(2, 3).join()).toMatch(
      /^For strict quotas do not use hami-core, because hami-core exceeds its memory limit: 12 GiB .* For inference prefer mps to hami-core\./,
    );
  });

  it('counts the verdicts of each system before the tables', () => {
    expect(text).toMatch(/- hami-core: Of 7 metrics: \d slower/);
    expect(text).toMatch(/- mps: Of 8 metrics: 4 faster, 3 same, 1 invalid\./);
  });

  it('shows a percentile only with enough samples', () => {
    const rows = text
      .split('\n')
      .filter((line) => /^\| (OH-001|OH-003|START-001) [^|]*\| native \| (us|ms) /.test(line));
    expect(rows.slice(0, 3).map((row) => row.split(' | ').slice(3, 6).map((cell) => /^n\/a/.test(cell) ? cell : 'a number'))) // prettier-ignore
      .toEqual([
        ['a number', 'a number', 'a number'],
        ['a number', 'a number', 'n/a (needs 299)'],
        ['a number', 'n/a (needs 59)', 'n/a (needs 299)'],
      ]);
  });

  it('keeps the sign of a negative difference, and shows no number if none was measured', () => {
    const row = (id: string) => text.split('\n').find((line) => line.startsWith(`| ${id} `)) ?? '';
    expect(row('OH-005')).toMatch(/\| -0\.\d+ \| -0\.\d+ ns/);
    expect(row('OH-004').split(' | ').slice(4, 7)).toEqual(['–', '–', '–']);
    expect(text).toContain('- hami-core, OH-004: failed: CUDA\\_ERROR\\_UNKNOWN (999) in cuInit');
  });

  it('states why an effect is invalid, and how many rounds a value has', () => {
    const document = comparisonOf({ ...small, rounds: 10 });
    const lines = reportOf(document).split('\n');
    const cells = (id: string) => lines.find((line) => line.startsWith(`| ${id} `))?.split(' | ') ?? [];
    const invalid = document.effects.filter(({ verdict }) => verdict === 'invalid');
    for (const { metric, system, reason } of invalid)
      expect(cells(metric)[system === 'mps' ? 9 : 6]).toMatch(new RegExp(`^invalid: ${reason}`));
    const failed = cells(document.plan.metrics[FAILED.metric] as string);
    expect(failed[7]).toMatch(/^[\d.]+ \(9 of 10 rounds\)$/);
    const isSilent = invalid.some(
      ({ metric, system }) => metric === document.plan.metrics[FAILED.metric] && system !== 'mps',
    );
    expect(failed[4]).toMatch(isSilent ? /^–$/ : /^[\d.]+$/);
    const statistics =
      lines
        .filter((line) => line.startsWith('| OH-007 | mps '))
        .at(-1)
        ?.split(' | ') ?? [];
    expect(statistics[4]).toMatch(/^(not )?shown$/);
    expect(statistics[5]).toMatch(/^(perhaps )?too small to count$|^large enough to count$/);
  });

  it('names the command that repeats the measurement', () => {
    expect(text).toContain(
      'npx gpu-virt-bench compare OH-001 OH-002 OH-003 OH-004 OH-005 OH-006 OH-010 START-001 --system native --system hami-core:library=/opt/layer/libvgpu.so,memory=10GiB,sm=50 --system mps:sm=50 --rounds 3 --tier standard --seed 7',
    );
  });

  it('states at the top that a run was simulated or interrupted', () => {
    const simulated = reportOf({ ...runDocument({ gpu: [card({ simulated: true })] }), completed: false });
    expect(simulated.split('\n').slice(2, 5)).toEqual([
      `> **${WATERMARK}**`,
      '',
      '> **Interrupted: this report contains only what was measured until then.**',
    ]);
  });

  it('keeps its structure for any text in a document', () => {
    const shape = (markdown: string) =>
      parser.parse(markdown, {}).map(({ type, tag }) => `${type} ${tag}`).filter((type) => /heading|table_open|html|link|image/.test(type)); // prettier-ignore
    const count = (types: readonly string[], start: string) => types.filter((type) => type.startsWith(start)).length;
    const harmless = shape(reportOf(documentOf(['text'])));
    fc.assert(
      fc.property(hostileTexts, (texts) => {
        const document = documentOf(texts);
        const types = shape(reportOf(document));
        expect(types.filter((type) => /html|link|image/.test(type))).toEqual([]);
        for (const start of ['heading_open h2', 'table_open']) expect(count(types, start)).toBe(count(harmless, start));
        const inlines = parser.parse(reportOf(document), {}).flatMap(({ children }) => children ?? []);
        expect(inlines.filter(({ type }) => /html|link|image|em_open/.test(type))).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
