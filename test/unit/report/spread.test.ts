/** Spreads of metrics whose values may be negative. */
import { expect, it } from 'vitest';
import { spreadTable, tailTable } from '../../../lib/report/text/spread.js';
import { type Cell, rowsOf, viewOf } from '../../../lib/results/view.js';
import { comparison, measured } from './fixtures.js';

const values = [3, -2, 1];
const document = comparison([
  {
    name: 'native',
    metrics: (round) => [measured('OH-001', 5, round), { ...measured('OH-005', 20, round), value: values[round] ?? 0 }],
  },
]);
const cellsOf = (id: string) => rowsOf(viewOf(document)).find((row) => row.id === id)?.cells[0] as Cell;
const notes = (id: string) =>
  spreadTable(viewOf(document))
    ?.rows.find(({ metric }) => metric === id)
    ?.cells.flatMap((cell) => (typeof cell === 'object' && cell.note?.endsWith('%') ? [cell.note] : []));

it('are a share of the mean only if values are positive and compared by ratios', () => {
  expect(cellsOf('OH-001').spread?.betweenCv).toBeGreaterThan(0);
  expect(cellsOf('OH-005').spread).toMatchObject({ between: expect.any(Number), betweenCv: null });
  expect(notes('OH-001')).toHaveLength(2);
  expect(notes('OH-005')).toEqual([]);
});

it('of positive rounds have an interval above 0, of signed ones a plain one', () => {
  expect(cellsOf('OH-001').ci95?.[0]).toBeGreaterThan(0);
  const [low, high] = cellsOf('OH-005').ci95 as [number, number];
  expect((low + high) / 2).toBeCloseTo(2 / 3, 9);
});

it('has a p99.9 only where some metric has samples enough for it', () => {
  const titlesWith = (count: number) => {
    const metrics = (round: number) => [measured('OH-001', 5, round, count), measured('OH-002', 40, round)];
    const table = tailTable(viewOf(comparison([{ name: 'native', metrics }])));
    const texts = table?.rows.map(({ cells }) => cells.map((cell) => (typeof cell === 'object' ? cell.text : cell)));
    return { titles: table?.columns.map(({ title }) => title).slice(3), texts: texts?.map((cells) => cells.slice(5)) };
  };
  expect(titlesWith(2_994).titles).toEqual(['p50', 'p95', 'p99', 'Fewest samples']);
  expect(titlesWith(2_995)).toEqual({
    titles: ['p50', 'p95', 'p99', 'p99.9', 'Fewest samples'],
    texts: [
      [expect.stringMatching(/^5\.\d+$/), expect.stringMatching(/^5\.\d+$/), '2995'],
      ['n/a (needs 299)', 'n/a (needs 2995)', '60'],
    ],
  });
});
