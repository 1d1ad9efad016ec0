import { describe, expect, it } from 'vitest';
import { comparisonReport } from '../../../lib/report/formats/comparison.js';
import { screenOf, shownOn } from '../../../lib/report/text/screen.js';
import { type Column, table } from '../../../lib/report/tables/table.js';
import { runReport } from '../../../lib/report/formats/terminal.js';
import { everyKind, measured } from './fixtures.js';
import { runDocument } from '../run/fixtures.js';

const on = (width: number) => ({ width, hasUtf8: true });
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

const columns: Column[] = [
  { title: 'Metric', width: 40 },
  { title: 'Value', align: 'right' },
  { title: 'p99', align: 'right', leaves: 1 },
  { title: 'Samples', align: 'right', leaves: 2 },
  { title: 'Status', wraps: true },
];
const rows = [
  ['OH-006 Shared Region Lock Contention', '804.0 us', '807.2', '180', 'invalid: the tenant that held the lock made no progress at all'],
  ['OH-001 Kernel Launch Latency', '5.025 us', '6.054', '320', 'ok'],
]; // prettier-ignore

describe('a table', () => {
  it.each([60, 80, 120])('fits %d columns, and loses no word', (width) => {
    const text = table(columns, rows, on(width));
    expect(widest(text)).toBeLessThanOrEqual(width);
    for (const word of ['Contention', '804.0 us', 'progress', '5.025 us']) expect(text).toContain(word);
  });

  it('leaves out the least important columns, with a note', () => {
    expect(table(columns, rows, on(120))).not.toMatch(/Omitted at/);
    expect(table(columns, rows, on(55))).toMatch(/\nOmitted at 55 columns: p99\.$/);
    const narrow = table(columns, rows, on(46));
    expect(narrow).toMatch(/\nOmitted at 46 columns: p99, Samples\.$/);
    expect(narrow).not.toMatch(/807\.2|180/);
  });

  it('has no limit if the width of the screen is unknown', () =>
    expect(widest(table(columns, rows, on(Infinity)))).toBeGreaterThan(120));

  it('is aligned in ASCII, too', () => {
    const text = table(
      [{ title: 'Interval' }, { title: 'Verdict' }],
      [
        ['1 … 2', 'same'],
        ['–', 'slower'],
      ],
      {
        width: 80,
        hasUtf8: false,
      },
    );
    expect(text.split('\n').map((line) => line.search(/Verdict|same|slower/))).toEqual([10, 10, 10]);
    expect(text).toContain('1 ... 2');
  });
});

describe('the report of a comparison', () => {
  it.each([60, 80, 120])('fits %d columns with every effect and verdict', (width) => {
    const text = comparisonReport(everyKind(), on(width));
    const tables = text.split('\n\n').filter((part) => /^(overhead|start-up)/.test(part));
    expect(tables.length).toBeGreaterThan(0);
    expect(Math.max(...tables.map(widest))).toBeLessThanOrEqual(width);
    const words = text.replace(/\s+/g, ' ');
    for (const word of ['hami-core', 'mps', 'against native', 'slower', 'faster', '1.200'])
      expect(words).toContain(word);
  });
});

describe('the report of a run', () => {
  it.each([60, 80, 120])('fits %d columns', (width) => {
    const document = runDocument({ metrics: [measured('OH-001', 200_978, 0), measured('OH-006', 804, 0)] });
    const text = runReport(document, on(width));
    expect(widest(text.slice(text.indexOf('Metric')))).toBeLessThanOrEqual(width);
    expect(text).toMatch(/\b201\.\d ms/);
  });
});

describe('the screen', () => {
  const tty = { isTTY: true, columns: 100 };

  it.each([
    [{}, {}, Infinity],
    [{}, tty, 100],
    [{ COLUMNS: '72' }, tty, 72],
    [{ COLUMNS: '72' }, {}, 72],
    [{ COLUMNS: '1' }, tty, 40],
    [{ COLUMNS: 'wide' }, tty, 100],
    [{ COLUMNS: '' }, {}, Infinity],
  ])('of %j and %j is %d wide', (environment, stdout, width) =>
    expect(screenOf(environment, stdout).width).toBe(width),
  );

  it.each([
    [{ LANG: 'en_GB.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, false],
    [{ LC_CTYPE: 'POSIX', LANG: 'en_GB.UTF-8' }, false],
    [{ LC_ALL: '', LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }, true],
    [{ LANG: 'de_DE.ISO-8859-1' }, false],
    [{}, false],
  ])('has UTF-8 by %j: %s', (environment, hasUtf8) => expect(screenOf(environment, {}).hasUtf8).toBe(hasUtf8));
});

describe('text without UTF-8', () => {
  const ascii = (text: string) => shownOn({ width: 80, hasUtf8: false }, text);

  it('is plain ASCII', () => {
    expect(ascii('× 1.2 (1 … 2) – 40 µs ± 1, 83 °C, δ → ▁█')).toBe(
      'x 1.2 (1 ... 2) - 40 us +- 1, 83 deg C, delta -> _#',
    );
    expect(ascii('Größe 🙂')).toBe('Gr??e ?');
  });

  it('is unchanged if the locale has UTF-8', () => expect(shownOn(on(80), '× … 🙂')).toBe('× … 🙂'));
});
