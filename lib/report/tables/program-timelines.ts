/** The GPU's activity while programs ran, from the median run of each program and system. */
import { type MonitorTimeline } from '../../monitor/timeline.js';
import { timelineIn } from '../../monitor/stored-timeline.js';
import { isOfProgram } from '../../metrics/core/stored-definitions.js';
import type { MetricResult } from '../../results/document.js';
import { medianOf, rowsOf, type View } from '../../results/view.js';
import { dataMarkdown, markdownText } from '../markdown/markdown-text.js';
import { phaseTable } from './monitor-phases.js';

export const TIMELINE_TITLE = 'The GPU while programs ran';

/** Most runs that are shown: with more charts, a page would be slow to open. */
const MOST_SHOWN = 12;

interface ProgramTimeline {
  program: string;
  system: string;
  /** Number of the round, from 1; `run` is that of the run. */
  round: number;
  run: number;
  timeline: MonitorTimeline;
}

interface Timelines {
  shown: ProgramTimeline[];
  /** Why not all runs are shown; null if all are. */
  note: string | null;
}

export function programTimelines(view: View): Timelines {
  const all = rowsOf(view).flatMap(({ id, cells }) => {
    if (!isOfProgram(id)) return [];
    return cells.flatMap(({ system, results }) => {
      const found = inTheMiddle(results);
      return found ? [{ ...found, program: id.slice(0, id.lastIndexOf('/')), system }] : [];
    });
  });
  const left = all.length - MOST_SHOWN;
  return {
    shown: all.slice(0, MOST_SHOWN),
    note: left <= 0 ? null : `${left} more are in the samples of the monitor, logs/ROUND/PROGRAM/run-NNNN.monitor.csv.`,
  };
}

/** Selects the result whose value is nearest to the median of all. */
function inTheMiddle(results: readonly MetricResult[]): Pick<ProgramTimeline, 'round' | 'run' | 'timeline'> | null {
  const middle = medianOf(results.flatMap(({ value }) => value ?? [])) ?? 0;
  const known = results.flatMap(({ value, details }, index) => {
    const timeline = timelineIn(details.timeline);
    if (!timeline) return [];
    const { run } = details.timeline as { run?: unknown };
    const distance = value === null ? Infinity : Math.abs(value - middle);
    return [{ timeline, round: index + 1, run: typeof run === 'number' ? run : 1, distance }];
  });
  const [first, ...others] = known;
  if (!first) return null;
  return others.reduce((best, each) => (each.distance < best.distance ? each : best), first);
}

/** Names a run: `decode under native: run 3 of round 2`. */
export const timelineText = ({ program, system, round, run }: ProgramTimeline): string =>
  `${program} under ${system}: run ${run} of round ${round}`;

export const TIMELINE_NOTE =
  'One run of each program and system: of its round the one in the middle, by the time that decides whether runs vary.';

/** All tables; null if nothing was monitored. */
export function programTimelinesMarkdown(view: View): string | null {
  const { shown, note } = programTimelines(view);
  const parts = shown.flatMap((one) => {
    const table = dataMarkdown(phaseTable(one.timeline));
    return table === null ? [] : [`**${markdownText(timelineText(one))}**`, table];
  });
  if (parts.length === 0) return null;
  return [TIMELINE_NOTE, ...parts, ...(note === null ? [] : [markdownText(note)])].join('\n\n');
}
