/** `gpu-virt-bench monitor` */
import { entriesOf } from '../../environment/named-gpu.js';
import { durationText, parseDuration } from '../../config/duration.js';
import { unwritable } from '../../errors/unwritable.js';
import { UsageError } from '../../errors/usage-error.js';
import type { LineSink } from '../../monitor/csv-file.js';
import { missingText } from '../../monitor/missing.js';
import { type Monitor, startMonitor } from '../../monitor/monitor.js';
import { INTERVAL_LIMITS, SHORTEST_INTERVAL_MS } from '../../monitor/options.js';
import { MonitorError, type MonitorSummary } from '../../monitor/summary.js';
import { BenchError } from '../../errors/bench-error.js';
import { number, plain } from '../../results/text/plain.js';
import { exitCodes } from '../options/exit-codes.js';
import { displayFor, type MonitorDisplay, REFRESH_MS } from '../terminal/monitor-display.js';
import { checkTarget, STDOUT, writeStdout } from '../files/output.js';
import { say, warn } from '../terminal/talk.js';

export interface RawMonitorOptions {
  interval: string;
  duration?: string;
  csv?: string;
  json?: true;
  device?: string[];
  simulate?: true;
}

/** The longest delay of a Node timer. */
const LONGEST_DURATION_MS = 24 * 86_400_000;

interface Request {
  intervalMs: number;
  durationMs: number | null;
  csv: string | undefined;
  json: boolean;
  devices: string[] | undefined;
  simulate: boolean;
}

export async function monitor(raw: RawMonitorOptions): Promise<number> {
  const request = parseMonitorOptions(raw);
  if (request.csv !== undefined) await checkTarget(request.csv, '--csv');
  const display = displayFor({ json: request.json, csvOnStdout: request.csv === STDOUT });
  const ending = new Ending();
  const watching = await started(request, display, ending);
  // The timer also keeps the process alive, which the monitor itself does not.
  const refreshing = setInterval(() => display.refresh(), REFRESH_MS);
  const signal = await ending.after(request.durationMs);
  clearInterval(refreshing);
  try {
    const summary = await watching.stop();
    display.refresh();
    report(summary, request.csv);
    if (ending.failure) throw ending.failure;
  } catch (error) {
    if (error instanceof MonitorError) report(error.summary, undefined);
    throw error;
  }
  // Without a duration, an interruption is the normal end.
  return signal !== null && request.durationMs !== null ? exitCodes.interrupted : exitCodes.ok;
}

export function parseMonitorOptions(raw: RawMonitorOptions): Request {
  const { interval, duration, csv, json = false, device, simulate = false } = raw;
  if (json && csv === STDOUT)
    throw new UsageError('Expected --csv to be a file beside --json but received -: both would go to standard output.');
  const intervalMs = parseDuration(interval, {
    what: '--interval',
    ...INTERVAL_LIMITS,
  });
  const limits = { what: '--duration', shortestMs: SHORTEST_INTERVAL_MS, longestMs: LONGEST_DURATION_MS };
  const durationMs = duration === undefined ? null : parseDuration(duration, limits);
  return { intervalMs, durationMs, csv, json, devices: device?.flatMap(entriesOf), simulate };
}

/** The end of the duration, a signal, or an output that cannot be written. */
class Ending {
  /** An error of standard output; the monitor itself handles errors of the CSV. */
  failure: Error | null = null;
  readonly #over: Promise<NodeJS.Signals | null>;
  #end: (signal: NodeJS.Signals | null) => void = () => undefined;

  /** From now on a signal ends sampling; a second one exits at once. */
  constructor() {
    this.#over = new Promise((resolve) => {
      this.#end = resolve;
    });
    let signals = 0;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(name, () => {
        signals++;
        if (signals > 1) process.exit(exitCodes.interrupted);
        this.#end(name);
      });
    process.stdout.on('error', (error) => {
      this.failure ??= unwritable('standard output', error);
      this.#end(null);
    });
  }

  now = (): void => this.#end(null);

  async after(durationMs: number | null): Promise<NodeJS.Signals | null> {
    const timer = durationMs === null ? undefined : setTimeout(() => this.#end(null), durationMs);
    const signal = await this.#over;
    clearTimeout(timer);
    return signal;
  }
}

const standardOutput: LineSink = { write: (lines) => writeStdout(lines), close: () => Promise.resolve() };

async function started(request: Request, display: MonitorDisplay, ending: Ending): Promise<Monitor> {
  const { intervalMs, csv, devices, simulate } = request;
  try {
    return await startMonitor({
      intervalMs,
      simulate,
      ...(devices && { device: devices }),
      ...(csv !== undefined && { csv: csv === STDOUT ? standardOutput : csv }),
      onSample: (sample) => display.sample(sample),
      onMissing: (field) => display.missing(field),
      onError: () => ending.now(),
    });
  } catch (error) {
    throw inTheTermsOfTheCommand(error);
  }
}

/** The library names its option; the command line names its flag. */
function inTheTermsOfTheCommand(error: unknown): unknown {
  if (!(error instanceof BenchError)) return error;
  if (error.code === 'NO_SUCH_DEVICE')
    return new BenchError(error.code, error.message.replace(/^Expected device/, 'Expected --device'));
  if (error.code === 'NO_DRIVER')
    return new BenchError(error.code, `${error.message} --simulate watches the simulated GPU.`);
  return error;
}

function report(summary: MonitorSummary, csv: string | undefined): void {
  const { samples, gpus, durationS, intervalMs, missedIntervals, lostSamples, gaps } = summary;
  const cards = gpus.length === 1 ? `GPU ${gpus[0]?.index}` : `${gpus.length} GPUs`;
  const written = csv === undefined || csv === STDOUT ? '' : ` Written to ${plain(csv)}.`;
  say(`${samples} samples of ${cards} in ${number(durationS)} s, every ${durationText(intervalMs)}.${written}`);
  if (missedIntervals > 0)
    warn(
      `${missedIntervals} intervals have no sample: reading the GPU took longer than ${durationText(intervalMs)}, or the machine was busy. Use a longer --interval.`,
    );
  if (lostSamples > 0) warn(`${lostSamples} samples were lost: they could not be written as fast as they came.`);
  for (const gap of gaps) warn(`In ${gap.samples} samples: ${missingText(gap)}`);
}
