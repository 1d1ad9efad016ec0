/** The output of `monitor` while it samples: a table that is updated on a terminal, lines or JSON elsewhere. */
import { missingText, type MissingField } from '../../monitor/missing.js';
import type { GpuSample } from '../../monitor/sample.js';
import { sampleLine, samplesTable } from '../../report/tables/monitor-view.js';
import { screen, shown } from '../../report/text/screen.js';
import { WATERMARK } from '../../report/formats/terminal.js';
import { LiveScreen } from './live-screen.js';
import { say, warn } from './talk.js';

/** Readers of a terminal or a log need no faster updates. */
export const REFRESH_MS = 500;
const LINE_EVERY_S = 1;

export interface MonitorDisplay {
  sample: (sample: GpuSample) => void;
  missing: (field: MissingField) => void;
  /** Called every REFRESH_MS, and at the end. */
  refresh: () => void;
}

const nothing = () => undefined;

const warnMissing = (field: MissingField) => warn(missingText(field));

/** Shows nothing, because the samples already go to standard output. */
const silent: MonitorDisplay = { sample: nothing, missing: warnMissing, refresh: nothing };

const jsonLines: MonitorDisplay = {
  sample: (sample) => void process.stdout.write(`${JSON.stringify(sample)}\n`),
  missing: warnMissing,
  refresh: nothing,
};

/** One line per GPU and second. */
function plainLines(): MonitorDisplay {
  const next = new Map<number, number>();
  return {
    sample: (sample) => {
      if (sample.simulated && next.size === 0) say(WATERMARK);
      if (sample.timeS < (next.get(sample.gpu) ?? 0)) return;
      next.set(sample.gpu, Math.floor(sample.timeS / LINE_EVERY_S + 1) * LINE_EVERY_S);
      process.stdout.write(shown(`${sampleLine(sample)}\n`));
    },
    missing: warnMissing,
    refresh: nothing,
  };
}

function liveTable(stdout: NodeJS.WriteStream): MonitorDisplay {
  const live = new LiveScreen(stdout);
  const latest = new Map<number, GpuSample>();
  const notes: string[] = [];
  return {
    sample: (sample) => void latest.set(sample.gpu, sample),
    missing: (field) => void notes.push(missingText(field)),
    refresh: () => {
      const samples = [...latest.values()].sort((a, b) => a.gpu - b.gpu);
      const [first] = samples;
      if (!first || stdout.writableNeedDrain) return;
      const head = `${first.simulated ? `${WATERMARK}\n` : ''}${first.time}, ${first.timeS.toFixed(1)} s. Ctrl-C ends.`;
      live.paint(shown([head, ...notes, '', samplesTable(samples, screen())].join('\n')));
    },
  };
}

export function displayFor(options: { json: boolean; csvOnStdout: boolean }): MonitorDisplay {
  if (options.json) return jsonLines;
  if (options.csvOnStdout) return silent;
  return process.stdout.isTTY && process.env.TERM !== 'dumb' ? liveTable(process.stdout) : plainLines();
}
