/** The GPU's activity while programs ran, in reports of `exec`. */
import { describe, expect, it } from 'vitest';
import { storedTimeline } from '../../../lib/monitor/stored-timeline.js';
import { programTimelineCharts } from '../../../lib/report/html/figures/program-timelines.js';
import { programTimelinesMarkdown } from '../../../lib/report/tables/program-timelines.js';
import { programTimelines } from '../../../lib/report/tables/program-timelines.js';
import { wordsOf } from '../../../lib/report/text/words.js';
import { type View, viewOf } from '../../../lib/results/view.js';
import { gpuSample } from '../monitor/fixtures.js';
import { comparison } from './fixtures.js';
import { result } from '../run/fixtures.js';

/** A program of 10 s with a sample every 100 ms; its last second is a separate phase. */
const timeline = storedTimeline({
  samples: Array.from({ length: 100 }, (_, i) => gpuSample({ timeS: (i + 0.5) / 10, powerW: i, energyJ: null })),
  intervalMs: 100,
  phases: [
    { name: 'start', fromS: 0, toS: 9 },
    { name: 'load', fromS: 9, toS: 10 },
  ],
});

/** A view in which each round of a system has the given value; the run's number is that of the round. */
function view(programs: readonly string[], value: (round: number) => number, details: object = { ...timeline }): View {
  const metrics = (round: number) =>
    programs.map((name) =>
      result(`${name}/wall`, { unit: 's', value: value(round), details: { timeline: { ...details, run: round + 1 } } }),
    );
  return viewOf({ ...comparison([{ name: 'native', metrics }, { name: 'mine', metrics }]), effects: [] }); // prettier-ignore
}

describe('timelines of programs', () => {
  it('are of the round in the middle, for each program and system', () => {
    const { shown, note } = programTimelines(view(['a', 'b'], (round) => (round === 1 ? 2 : round === 0 ? 1 : 30)));
    expect(note).toBeNull();
    expect(shown.map(({ program, system, round, run }) => [program, system, round, run])).toEqual(
      ['a', 'b'].flatMap((program) => ['native', 'mine'].map((system) => [program, system, expect.any(Number), expect.any(Number)])), // prettier-ignore
    );
    const results = view(['a'], (round) => round).categories[0]?.rows[0]?.cells[0]?.results ?? [];
    const [first] = programTimelines(view(['a'], (round) => round)).shown;
    // Rounds have the values 0, 1, 2, …: the round in the middle has the median.
    const middle = (results.length - 1) / 2;
    expect(Math.abs((first?.round ?? 0) - 1 - middle)).toBeLessThanOrEqual(0.5);
    expect(first?.run).toBe(first?.round);
  });

  it('have charts and a table with the figures of the samples', () => {
    const of = view(['a'], () => 1);
    const page = String(programTimelineCharts({ view: of, words: wordsOf(of) }));
    expect(page.match(/<h3>a under (native|mine): run 1 of round 1<\/h3>/g)).toHaveLength(2);
    for (const title of ['GPU utilisation', 'Memory used', 'Power', 'Temperature', 'SM clock', 'Memory clock'])
      expect(page.split(`<strong>${title}</strong>`)).toHaveLength(3);
    expect(programTimelinesMarkdown(of)).toContain('| 0 | load | 9 | 10 | 10 | 50 | 1024 | 94.5 | – | 40 |');
  });

  it('are at most a dozen, and the rest is named', () => {
    const of = view(Array.from({ length: 10 }, (_, i) => `p${i}`), () => 1); // prettier-ignore
    const { shown, note } = programTimelines(of);
    expect(shown).toHaveLength(12);
    expect(note).toBe('8 more are in the samples of the monitor, logs/ROUND/PROGRAM/run-NNNN.monitor.csv.');
    expect(programTimelinesMarkdown(of)).toContain('8 more are in the samples');
  });

  it.each([{}, { ...timeline, timeS: [Infinity] }, { ...timeline, powerW: [] }, { ...timeline, intervalMs: 0 }])(
    'are left out where a document has something else: %#',
    (hostile) => {
      const of = view(['a'], () => 1, hostile);
      expect(programTimelineCharts({ view: of, words: wordsOf(of) })).toBeNull();
      expect(programTimelinesMarkdown(of)).toBeNull();
    },
  );
});
