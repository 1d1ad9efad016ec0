import { describe, expect, it } from 'vitest';
import { effectText } from '../../../lib/results/text/effect-text.js';
import { readable } from '../../../lib/results/text/readable.js';
import { rowsOf, viewOf } from '../../../lib/results/view.js';
import { renderReport } from '../../../lib/rendering.js';
import { comparison, measured } from '../report/fixtures.js';

/** OH-001 in us, with values of 200 ms and more. */
const slow = (rounds: number) =>
  comparison(
    [
      { name: 'native', metrics: (round) => [measured('OH-001', 200_978, round)] },
      { name: 'mps', metrics: (round) => [measured('OH-001', 241_173, round)] },
    ],
    rounds,
  );

describe('a view for people', () => {
  it('has every number of a metric in one unit that fits', () => {
    const raw = viewOf(slow(3));
    const [row] = rowsOf(readable(raw));
    const [before] = rowsOf(raw);
    expect([before?.unit, row?.unit]).toEqual(['us', 'ms']);
    row?.cells.forEach((cell, i) => {
      const was = before?.cells[i];
      const thousandth = (value: number | null | undefined) => (value ?? NaN) / 1_000;
      expect(cell.value).toBeCloseTo(thousandth(was?.value), 9);
      expect(cell.values[2]).toBeCloseTo(thousandth(was?.values[2]), 9);
      expect(cell.ci95?.[1]).toBeCloseTo(thousandth(was?.ci95?.[1]), 9);
      expect(cell.tail?.p50).toBeCloseTo(thousandth(was?.tail?.p50), 9);
      expect(cell.spread?.between).toBeCloseTo(thousandth(was?.spread?.between), 9);
      expect(cell.results[0]?.stats?.max).toBeCloseTo(thousandth(was?.results[0]?.stats?.max), 9);
      expect(cell.results[0]?.stats?.count).toBe(was?.results[0]?.stats?.count);
    });
    expect(row?.cells[1]?.effect?.difference).toBeCloseTo((before?.cells[1]?.effect?.difference ?? NaN) / 1_000, 9);
    expect(row?.cells[1]?.effect?.ratio).toBe(before?.cells[1]?.effect?.ratio);
  });

  it.each([
    [[0.75e-6, 0.002355, 1.516], 'ns'],
    [[980, 12_000], 'ms'],
    [[627, 1_020], 'us'],
    [[0, 0], 'us'],
  ])('has the unit of the smallest of %j us if the largest fits it, too: %s', (values, unit) => {
    const metrics = (value: number) => () => [{ ...measured('OH-001', 5, 0), value }];
    const document = comparison(
      values.map((value, i) => ({ name: `system-${i}`, metrics: metrics(value) })),
      1,
    );
    expect(rowsOf(readable(viewOf(document)))[0]?.unit).toBe(unit);
  });

  it('is used in Markdown, while formats for programs keep the unit of the metric', async () => {
    expect(await renderReport(slow(3), 'markdown')).toMatch(/\| OH-001 Kernel Launch Latency \| ms \| 2\d\d\.\d \|/);
    for (const format of ['csv', 'json'] as const) {
      const text = await renderReport(slow(3), format);
      expect(text).toMatch(/200978/);
    }
  });

  it('shows an effect on one scale, whether the run was finished or interrupted in its first round', () => {
    const text = (rounds: number) => effectText(slow(rounds).effects[0] ?? null, 'us');
    expect(text(3)).toMatch(/^× 1\.200 \(/);
    expect(text(1)).toMatch(/^× 1\.200$/);
  });
});
