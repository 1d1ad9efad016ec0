/** Charts and tables of the monitor's samples, by the phases of a program. */
import { describe, expect, it } from 'vitest';
import { linesDrawing } from '../../../lib/report/charts/lines.js';
import { monitorLines } from '../../../lib/report/charts/monitor-lines.js';
import { monitorFigures } from '../../../lib/report/html/figures/monitor-figures.js';
import { dataMarkdown } from '../../../lib/report/markdown/markdown-text.js';
import { phaseTable } from '../../../lib/report/tables/monitor-phases.js';
import { type MonitorTimeline, phaseSummaries } from '../../../lib/monitor/timeline.js';
import type { GpuSample } from '../../../lib/monitor/sample.js';
import { gpuSample } from '../monitor/fixtures.js';
import { type Mark, marksOf, reading, textsOf, tipOf, xsOf, ysOf } from './charts-marks.js';

const phaseMarkdown = (of: MonitorTimeline) => dataMarkdown(phaseTable(of));

const phases = [
  { name: 'start', fromS: 0, toS: 2 },
  { name: 'ready', fromS: 2, toS: 3 },
  { name: 'load', fromS: 3, toS: 8 },
  { name: 'end', fromS: 8, toS: 10 },
];

/** Samples at intervals of one second: busy under load, with a power of 10 W for each second that has passed. */
const run = (change: (timeS: number) => Partial<GpuSample> = () => ({})): GpuSample[] =>
  Array.from({ length: 11 }, (_, timeS) =>
    gpuSample({
      timeS,
      gpuPercent: timeS >= 3 && timeS < 8 ? 90 : 0,
      memoryUsedMib: 100 * timeS,
      powerW: 10 * timeS,
      energyJ: 5 * timeS * timeS,
      ...change(timeS),
    }),
  );

const timeline = (samples: readonly GpuSample[], change: Partial<MonitorTimeline> = {}): MonitorTimeline => ({
  samples,
  intervalMs: 1_000,
  phases,
  ...change,
});
const drawn = (of: MonitorTimeline, i = 0): Mark[] => {
  const lines = monitorLines(of)[i];
  return marksOf((lines && linesDrawing(lines)) ?? expect.fail('no drawing'));
};

describe('the charts of a monitored program', () => {
  it('are of every quantity over the same time, a line a GPU', () => {
    const samples = [...run(), ...run(() => ({ gpu: 1, gpuPercent: 20 }))].sort((a, b) => a.timeS - b.timeS);
    const all = monitorLines(timeline(samples));
    expect(all.map(({ title, y }) => [title, y])).toEqual([
      ['GPU utilisation', '% of the time'],
      ['Memory used', 'MiB'],
      ['Power', 'W'],
      ['Temperature', '°C'],
      ['SM clock', 'MHz'],
      ['Memory clock', 'MHz'],
    ]);
    for (const { series } of all) expect(series.map(({ name, points }) => [name, points.length])).toEqual([['GPU 0', 11], ['GPU 1', 11]]); // prettier-ignore
    expect(all[1]?.series[0]?.points).toEqual(Array.from({ length: 11 }, (_, i) => [i, 100 * i]));
    expect(all[0]?.series[1]?.points[5]).toEqual([5, 20]);
  });

  it('show the phases behind the lines, with their names', () => {
    const marks = drawn(timeline(run()));
    const labels = (anchor: string) =>
      textsOf(marks).filter(({ text, attributes }) => /^\d+$/.test(text) && attributes['text-anchor'] === anchor);
    const seconds = reading(labels('middle'), 'x');
    const shaded = marks.filter(({ attributes }) => attributes.fill === 'var(--heat-0)');
    const spans = shaded.map((band) => [Math.min(...xsOf(band)), Math.max(...xsOf(band))].map((x) => Math.round(seconds(x)))); // prettier-ignore
    expect(spans).toEqual([[0, 2], [3, 8]]); // prettier-ignore
    // The bands reach from the bottom of the plot to its top.
    const percents = reading(labels('end'), 'y');
    for (const band of shaded) expect([Math.max(...ysOf(band)), Math.min(...ysOf(band))].map((y) => Math.round(percents(y)))).toEqual([0, 100]); // prettier-ignore
    const names = textsOf(marks).filter(({ text }) => phases.some(({ name }) => name === text));
    expect(names.map(({ text }) => text)).toEqual(expect.arrayContaining(['start', 'load', 'end']));
    // The bands are behind the lines: later elements cover earlier ones.
    const line = marks.findIndex(({ attributes }) => attributes['stroke-width'] === '1.75');
    expect(marks.indexOf(shaded.at(-1) as Mark)).toBeLessThan(line);
  });

  it('interrupt a line only where nothing was sampled', () => {
    const path = (samples: readonly GpuSample[]) =>
      drawn(timeline(samples)).find(({ attributes }) => attributes['stroke-width'] === '1.75')?.attributes.d ?? '';
    const starts = (d: string) => d.match(/M/g)?.length;
    const whole = run();
    const gone = whole.filter(({ timeS }) => timeS < 2 || timeS > 6);
    const marks = drawn(timeline(gone));
    expect(marks.filter((mark) => tipOf(mark) !== '')).toHaveLength(gone.length);
    expect([starts(path(whole)), starts(path(gone))]).toEqual([1, 2]);
  });

  it('show the mean if there are more samples than places, and say so', () => {
    const many = Array.from({ length: 4_800 }, (_, i) =>
      gpuSample({ timeS: i / 10, gpuPercent: i % 2 === 0 ? 0 : 100 }),
    );
    const of = timeline(many, { intervalMs: 100, phases: [] });
    const points = monitorLines(of)[0]?.series[0]?.points ?? [];
    expect(points.length).toBeLessThanOrEqual(241);
    for (const [, y] of points) expect(y).toBeCloseTo(50, 0);
    expect(String(monitorFigures(of))).toContain('Each point is the mean of 2 s.');
    expect(String(monitorFigures(timeline(run())))).not.toContain('is the mean of');
  });

  it('leave out values that NVML did not return, and are empty without samples', () => {
    const silent = run(() => ({ powerW: null }));
    expect(monitorLines(timeline(silent)).map(({ title }) => title)).toEqual([
      ...['GPU utilisation', 'Memory used', 'Temperature', 'SM clock', 'Memory clock'],
    ]);
    expect(monitorFigures(timeline([]))).toBeNull();
    expect(phaseMarkdown(timeline([]))).toBeNull();
    expect(phaseMarkdown(timeline(run(), { phases: [] }))).toBeNull();
  });

  it('accept phases with any name and any end', () => {
    const names = ['<script>alert(1)</script>', '__proto__', 'a|b `c` [d](http://e)', '"\'&'];
    const hostile = names.map((name, i) => ({ name, fromS: 2 * i, toS: 2 * i + 2 }));
    const bad = [{ name: 'backwards', fromS: 5, toS: 1 }, { name: 'never', fromS: NaN, toS: Infinity }]; // prettier-ignore
    const page = String(monitorFigures(timeline(run(), { phases: [...hostile, ...bad] })));
    expect(page).not.toMatch(/<script>|NaN(?!\w)[^<]*"/);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    const text = phaseMarkdown(timeline(run(), { phases: hostile })) ?? '';
    expect(text.split('\n')).toHaveLength(2 + hostile.length);
    expect(text).toContain('a\\|b \\`c\\` \\[d\\](http\\://e)');
  });
});

describe('the table of phases', () => {
  it('has means, maxima and energy of each phase', () => {
    const rows = phaseSummaries(timeline(run()));
    expect(rows.map(({ name, samples }) => [name, samples])).toEqual([
      ...[['start', 2], ['ready', 1], ['load', 5], ['end', 2]], // prettier-ignore
    ]);
    expect(rows[2]).toEqual({
      ...{ name: 'load', fromS: 3, toS: 8, gpu: 0, samples: 5 },
      // The sum of 3² to 8² five times; the counter is interpolated to the ends of the phase.
      ...{ gpuPercent: 90, memoryMostMib: 700, powerW: 50, energyJ: 275, hottestC: 40 },
    });
  });

  it('interpolates the counter at the ends of a phase, and reports nothing beyond its readings', () => {
    const between = [{ name: 'x', fromS: 0.5, toS: 1.5 }, { name: 'y', fromS: 9, toS: 12 }]; // prettier-ignore
    const rows = phaseSummaries(
      timeline(
        run((timeS) => ({ energyJ: 100 * timeS })),
        { phases: between },
      ),
    );
    expect(rows.map(({ energyJ }) => energyJ)).toEqual([100, null]);
    const silent = phaseSummaries(timeline(run(() => ({ energyJ: null, gpuPercent: null }))));
    for (const { energyJ, gpuPercent, powerW } of silent) {
      expect([energyJ, gpuPercent]).toEqual([null, null]);
      expect(powerW).not.toBeNull();
    }
  });

  it('is the same in Markdown and on the page', () => {
    const text = phaseMarkdown(timeline(run())) ?? expect.fail('no table');
    expect(text.split('\n')[0]).toMatch(/^\| GPU \| Phase \| From s \| To s \| Samples \| GPU % \(mean\) /);
    expect(text).toContain('| 0 | load | 3 | 8 | 5 | 90 | 700 | 50 | 275 | 40 |');
    const page = String(monitorFigures(timeline(run())));
    expect(page).toMatch(/<caption>\s*<span>What the GPU did in each phase/);
    expect(page.match(/<details>/g)).toHaveLength(6);
    expect(page).toMatch(/role="img" aria-label="GPU utilisation: [^"]*start from 0 to 2\./);
  });
});
