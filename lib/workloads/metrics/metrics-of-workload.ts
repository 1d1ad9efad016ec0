/** The metrics of a workload: ids `NAME/wall`, `NAME/ready`, … and those that it extracts. All share the runs of a round. */
import type { MeasureContext, Measured, MetricDefinition } from '../../metrics/core/metric.js';
import { withoutNumber } from '../../metrics/core/metric.js';
import { type EnergyMetric, energyMetrics } from '../../costs/energy-metrics.js';
import { median } from '../../stats/median.js';
import { GRACE_MS } from '../../workers/kept-program.js';
import {
  type ExecSettings,
  type Memory,
  measureRound,
  mostRepeats,
  REPEAT_RULE,
  type Round,
} from '../round/round-of-runs.js';
import type { MeasuredRun } from '../program/measured-run.js';
import { decidingKey, representative } from './deciding.js';
import type { Kind } from './metric-kind.js';
import { type LoadKey, loadKeysOf, loadMetrics } from './load-metrics.js';
import { programKeysOf, programMetrics } from './program-metrics.js';
import type { Reading } from './reading.js';
import type { ExtractedMetric, Workload } from '../workload-type.js';

/** Name of the exported library function that measures programs. */
export const FUNCTION = 'execWorkloads';

/** In the order of reports. */
export function metricsOfWorkload(workload: Workload, settings: ExecSettings): MetricDefinition[] {
  const memory: Memory = { referenceC: null, failed: new Map() };
  const keys = programKeysOf(workload);
  const shared = (context: MeasureContext) =>
    context.once.get(`workload ${workload.name}`, () => measureRound(workload, settings, memory, context));
  const definition = (key: string, kind: Kind, direction: MetricDefinition['direction'], isOptional: boolean) => {
    const isFirst = key === keys[0];
    const per = kind.per && { per: kind.per };
    return {
      id: `${workload.name}/${key}`,
      name: kind.name,
      category: 'workload',
      unit: kind.unit,
      direction,
      question: kind.question,
      estimator: 'median of runs',
      delta: kind.delta,
      ...per,
      needs: [],
      functionName: FUNCTION,
      where: 'fresh-processes',
      // Not known before it ran: for the interval at which the GPU is sampled.
      seconds: { quick: 100, standard: 100, thorough: 100 },
      deadlineSeconds: deadlineOf(workload),
      measure: async (context) => {
        const round = await shared(context);
        const own = kind.details?.(round.runs);
        const details = { delta: kind.delta, ...per, ...own, ...(isFirst && detailsOf(workload, round)) };
        return measured(round, kind, isOptional, details);
      },
    } satisfies MetricDefinition;
  };
  return [
    ...keys.map((key) => {
      const metric = programMetrics[key];
      return definition(key, metric, metric.direction, metric.isOptional === true);
    }),
    ...loadKeysOf(workload).map((key) => definition(key, kindOfLoad(key), loadMetrics[key].direction, false)),
    ...workload.metrics.map((metric) => definition(metric.key, kindOf(metric), metric.direction, false)),
    ...energyMetrics(workload.metrics).map((metric) => definition(metric.key, energyKind(metric), 'lower', true)),
  ];
}

/** Divides the energy of a run by the number that it counted. */
const energyKind = ({ name, counter }: EnergyMetric): Kind => ({
  name,
  unit: 'J',
  question: 'How much energy does the whole GPU use for each that the run counted?',
  delta: programMetrics.energy.delta,
  of: (run) => {
    const [energy, count] = [programMetrics.energy.of(run), extractedOf(run, counter)];
    if ('missing' in energy) return energy;
    if ('missing' in count) return { missing: `${counter}: ${count.missing}` };
    return count.value > 0 ? { value: energy.value / count.value } : { missing: `${counter} is ${count.value}` };
  },
});

const extractedOf = ({ extracted }: MeasuredRun, key: string): Reading =>
  extracted.get(key) ?? { missing: 'it was not looked for' };

export function kindOfLoad(key: LoadKey): Kind {
  const { name, unit, question, delta } = loadMetrics[key];
  return { name, unit, question, delta, of: ({ load }) => load?.readings[key] ?? { missing: 'its load was not sent' } };
}

export const kindOf = ({ key, unit, delta, per }: ExtractedMetric): Kind => ({
  name: key,
  unit,
  question: 'What does the program say of itself?',
  delta,
  ...(per && { per }),
  of: (run) => extractedOf(run, key),
  details: (runs) => ({ numbers: runs.map((run) => numbersOf(run, key)) }),
});

/** How many numbers a run's number was chosen from; null where it has none. */
function numbersOf({ extracted }: Pick<MeasuredRun, 'extracted'>, key: string): number | null {
  const found = extracted.get(key);
  return found && 'numbers' in found ? found.numbers : null;
}

/** Notes metrics that runs printed a different number of times: their means or sums do not describe the same thing. */
function unequalNotes({ metrics }: Workload, runs: readonly MeasuredRun[]): string[] {
  return metrics.flatMap(({ key }) => {
    const counts = runs.flatMap((run) => numbersOf(run, key) ?? []);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return counts.length > 1 && least < most ? [`${key}: ${least} to ${most} numbers a run`] : [];
  });
}

export function measured(
  round: Pick<Round, 'failure' | 'invalid' | 'runs' | 'checks'>,
  kind: Kind,
  isOptional: boolean,
  details: Measured['details'],
): Measured {
  const { failure, invalid, runs, checks } = round;
  const without = (status: 'failed' | 'invalid' | 'unsupported', reason: string): Measured => ({
    ...withoutNumber(status, reason, details),
    checks,
    processes: runs.length,
  });
  if (invalid !== null) return without('invalid', invalid);
  if (failure !== null) return without('failed', failure);
  const readings = runs.map(kind.of);
  const missing = readings.flatMap((reading) => ('missing' in reading ? [reading] : []));
  const first = missing.find(({ status }) => status === 'invalid') ?? missing[0];
  if (first !== undefined) {
    const some = missing.length === runs.length ? '' : ` (in ${missing.length} of ${runs.length} runs)`;
    return without(first.status ?? (isOptional ? 'unsupported' : 'failed'), `${first.missing}${some}`);
  }
  const values = readings.flatMap((reading) => ('value' in reading ? [reading.value] : []));
  const { value, ci95 } = median(values);
  return {
    value,
    ci95,
    ciScope: 'between-processes',
    processes: runs.length,
    headline: Float64Array.from(values),
    details,
    checks,
  };
}

/** Details that a round of a workload has once, in its first metric. */
function detailsOf(workload: Workload, { runs, warmups, cvs, notes: ofRuns }: Round): Measured['details'] {
  const notes = [...ofRuns, ...unequalNotes(workload, runs)];
  const shown = representative(workload, runs);
  const timeline = shown?.run.gpu.seen.timeline ?? null;
  return {
    rule: {
      ...REPEAT_RULE,
      of: decidingKey(workload),
      cvs,
      repeats: Math.max(0, cvs.length - 1),
    },
    runs: [...warmups.map((run) => rowOf(run, true)), ...runs.map((run) => rowOf(run, false))],
    ...(notes.length > 0 && { notes }),
    ...(shown && timeline && { timeline: { run: shown.index + 1, ...timeline } }),
  };
}

export function rowOf(run: MeasuredRun, warmup: boolean) {
  const { wallSeconds, readySeconds, used, watched, gpu, load, proof, cooled, failure, extracted, checkpointed } = run;
  const { samples, energy } = gpu.seen;
  return {
    warmup,
    wallSeconds,
    readySeconds,
    cpuUserSeconds: used && used.cpuUserUs / 1e6,
    cpuSystemSeconds: used && used.cpuSystemUs / 1e6,
    largestProcessBytes: used && used.largestProcessBytes,
    residentBytes: watched.residentBytes,
    processes: new Set(watched.processes.map(({ pid }) => pid)).size,
    readings: samples,
    ...('by' in energy && { energyJ: energy.joules, energyBy: energy.by }),
    ...(load && { load: load.row }),
    ...(checkpointed && { checkpoints: checkpointed.turns }),
    temperatureC: cooled.temperatureC,
    waitedSeconds: cooled.waitedSeconds,
    proof: proof.state,
    ...(failure !== null && { failure }),
    ...Object.fromEntries([...extracted].map(([key, found]) => [key, 'value' in found ? found.value : null])),
  };
}

/** Longest deadline in seconds: Node's timers take no more than 2³¹ ms. */
export const LONGEST_S = 2e6;
const SLACK_S = 120;
/** Seconds for start, stragglers, proof and extraction of a run. */
export const PER_RUN_S = 60;

/**
 * Deadline of a workload in seconds, longer than the sum of its own time limits: it ends what hangs between them.
 * `timesEach`: programs started for a run.
 */
export function deadlineOf(
  { warmup, iterations, timeoutSeconds, coolDown, setup, teardown }: Workload,
  timesEach = 1,
): number {
  const runs = warmup + iterations * (1 + mostRepeats(iterations));
  const each = timeoutSeconds + GRACE_MS / 1_000 + coolDown.pauseSeconds + coolDown.mostSeconds + PER_RUN_S;
  return Math.min(
    LONGEST_S,
    SLACK_S + timesEach * runs * each + (setup.length + teardown.length) * (timeoutSeconds + PER_RUN_S),
  );
}
