/**
 * The metrics of a scene: ids `SCENE/VICTIM/wall` (beside the others), `SCENE/VICTIM/wall/alone`, `SCENE/VICTIM/wall/slowdown`,
 * and the same of what the victim says of itself; `SCENE/fairness` of several victims, `SCENE/switch-time` of tenants in turns. All share the runs of a round.
 */
import type { MeasureContext, Measured, MetricDefinition } from '../../metrics/core/metric.js';
import { unsupported } from '../../metrics/core/metric.js';
import { interferencePercent } from '../../stats/interference.js';
import type { Delta } from '../../stats/rule/effect.js';
import { ratioInterval } from '../../stats/rule/combined.js';
import { jain } from '../../stats/jain.js';
import { median } from '../../stats/median.js';
import { taskName } from '../settings/task-names.js';
import { deadlineOf, FUNCTION, kindOf, kindOfLoad, measured, rowOf } from '../metrics/metrics-of-workload.js';
import { decidingKey, representative } from '../metrics/deciding.js';
import type { Kind } from '../metrics/metric-kind.js';
import { loadKeysOf, loadMetrics } from '../metrics/load-metrics.js';
import { programKeysOf, programMetrics } from '../metrics/program-metrics.js';
import { type ExecSettings, REPEAT_RULE } from '../round/round-of-runs.js';
import { measureScene } from './scene-round.js';
import { type Arm, arms, type SceneMemory, type SceneRound, type VictimRuns } from './scene-runs.js';
import { type Scene, victimsOf } from './scene-type.js';
import { metricsOfTurns } from './switch-metrics.js';
import { LEAST_PRESENCE } from './together.js';
import type { Victim } from '../workload-type.js';

type Direction = MetricDefinition['direction'];

/** A metric of a victim. */
interface Asked {
  key: string;
  kind: Kind;
  direction: Direction;
  isOptional: boolean;
  /** Whether the victim's number beside the others is compared with that alone. */
  isCompared: boolean;
}

const askedOf = ({ program }: Victim): Asked[] => [
  ...programKeysOf(program).flatMap((key): Asked[] => {
    const kind = programMetrics[key];
    const { direction, isOptional = false, inScene } = kind;
    return inScene === 'none' ? [] : [{ key, kind, direction, isOptional, isCompared: inScene === 'compared' }];
  }),
  ...loadKeysOf(program).map((key): Asked => ({
    key,
    kind: kindOfLoad(key),
    direction: loadMetrics[key].direction,
    isOptional: false,
    // There may be no errors, and a ratio needs values above 0.
    isCompared: 'relative' in loadMetrics[key].delta,
  })),
  ...program.metrics.map((metric): Asked => ({
    key: metric.key,
    kind: kindOf(metric),
    direction: metric.direction,
    isOptional: false,
    isCompared: metric.direction !== 'none',
  })),
];

/** Defines the metrics of a scene, in the order of reports. */
export function metricsOfScene(scene: Scene, settings: ExecSettings): MetricDefinition[] {
  const memory: SceneMemory = { referenceC: null, failed: new Map(), invalid: new Map() };
  const play = (context: MeasureContext) =>
    context.once.get(`workload ${scene.name}`, () => measureScene(scene, settings, memory, context));
  const definition: Define = (id, of, measure) => ({
    ...of,
    id: `${scene.name}/${id}`,
    category: 'workload',
    needs: [],
    functionName: FUNCTION,
    where: 'fresh-processes',
    // Not known before it ran: for the interval at which the GPU is sampled.
    seconds: { quick: 100, standard: 100, thorough: 100 },
    deadlineSeconds: deadlineOf(scene, 2 * scene.tenants.length + 1),
    measure: async (context) => {
      const round = await play(context);
      return round.unsupported === null ? measure(round) : unsupported(round.unsupported);
    },
  });
  const all = victimsOf(scene).flatMap((victim) => metricsOfVictim(victim, definition));
  const turns = settings.hasTurns ? metricsOfTurns(definition) : [];
  const [first, ...others] = [...all, ...metricsOfAll(scene, definition), ...turns] as [
    MetricDefinition,
    ...MetricDefinition[],
  ];
  return [withDetails(first, (context) => play(context).then((round) => detailsOf(scene, round))), ...others];
}

type Fields = Pick<MetricDefinition, 'name' | 'unit' | 'direction' | 'question' | 'estimator' | 'delta' | 'per'>;
type Define = (id: string, of: Fields, measure: (round: SceneRound) => Measured) => MetricDefinition;

/** Adds the details that a round has once, whether or not the metric has a value. */
const withDetails = (
  definition: MetricDefinition,
  details: (context: MeasureContext) => Promise<Measured['details']>,
): MetricDefinition => ({
  ...definition,
  measure: async (context) => {
    const result = await definition.measure(context);
    return { ...result, details: { ...result.details, ...(await details(context)) } };
  },
});

function metricsOfVictim(victim: Victim, define: Define): MetricDefinition[] {
  const runsOf = ({ victims }: SceneRound) => victims.get(victim.name) as VictimRuns;
  return askedOf(victim).flatMap((asked, place) => {
    const { key, kind, direction, isOptional, isCompared } = asked;
    const id = `${victim.name}/${key}`;
    const { unit, delta } = kind;
    // What the program costs is what it costs where it runs: beside the others.
    const perOf = (which: Arm) => (which === 'alone' ? { per: 'none' as const } : kind.per && { per: kind.per });
    const arm = (which: Arm) => (round: SceneRound) =>
      measured({ ...round, runs: runsOf(round)[which] }, kind, isOptional, { delta, ...perOf(which) });
    const beside = define(
      id,
      {
        name: `${kind.name}, beside the others`,
        unit,
        direction,
        delta,
        estimator: 'median of runs',
        question: kind.question,
        ...perOf('together'),
      },
      place === 0 ? (round) => withTimeline(arm('together')(round), victim, runsOf(round)) : arm('together'),
    );
    if (!isCompared) return [beside];
    const alone = { name: `${kind.name}, alone`, unit, direction, delta, estimator: 'median of runs' };
    const ratio: Fields = {
      name: `slowdown by ${kind.name}`,
      unit: 'ratio',
      direction: 'lower',
      delta: ratioDelta(delta),
      estimator: 'median beside the others ÷ median alone, or the inverse where more is better',
      question: 'How many times as slow is the program beside the others as alone?',
    };
    return [
      beside,
      define(`${id}/alone`, { ...alone, question: kind.question, ...perOf('alone') }, arm('alone')),
      define(`${id}/slowdown`, ratio, (round) => slowdownResult(round, runsOf(round), asked)),
    ];
  });
}

/** Adds what the GPU did in the run that stands for the others. */
function withTimeline(result: Measured, { program }: Victim, { together }: VictimRuns): Measured {
  const shown = representative(program, together);
  const timeline = shown?.run.gpu.seen.timeline ?? null;
  if (!shown || !timeline) return result;
  return { ...result, details: { ...result.details, timeline: { run: shown.index + 1, ...timeline } } };
}

const ratioDelta = (delta: Delta): Delta => ('relative' in delta ? delta : { relative: 0.02 });

/** Divides a victim's number beside the others by that alone, so that more than 1 is worse. */
function slowdownResult(round: SceneRound, runs: VictimRuns, asked: Asked): Measured {
  const { kind, direction, isOptional } = asked;
  const details = { delta: ratioDelta(kind.delta) };
  const both = arms.map((arm) => measured({ ...round, runs: runs[arm] }, kind, isOptional, details));
  const without = both.find(({ value }) => value === null);
  if (without) return without;
  const [alone, together] = both.map(({ headline }) => Array.from(headline ?? [])) as [number[], number[]];
  if ([...alone, ...together].some((value) => value <= 0))
    return unsupported('not every value is above 0, and a ratio says nothing of the others', details);
  const [before, beside] = [median(alone), median(together)];
  const [more, less] = direction === 'higher' ? [before, beside] : [beside, before];
  return {
    value: more.value / less.value,
    // Runs are processes of their own, and independent.
    ci95: ratioInterval(more, less),
    ciScope: 'between-processes',
    processes: alone.length + together.length,
    headline: null,
    details,
    checks: round.checks,
  };
}

/** Metrics of the scene as a whole. */
function metricsOfAll(scene: Scene, define: Define): MetricDefinition[] {
  const victims = victimsOf(scene);
  if (victims.length < 2) return [];
  const fairness = define(
    'fairness',
    {
      name: 'fairness',
      unit: 'ratio',
      direction: 'higher',
      delta: { absolute: 0.01 },
      estimator: "Jain's index of what each victim keeps of its own speed",
      question: 'Do all programs lose the same part of their speed?',
    },
    (round) => ofKept(round, victims, { absolute: 0.01 }, jain),
  );
  if (scene.tenants.length > 2) return [fairness];
  const interference = define(
    'interference',
    {
      name: 'interference',
      unit: '%',
      direction: 'lower',
      delta: { absolute: 3 },
      estimator: 'time together between that of the longer alone (0) and that of both in turn (100)',
      question: 'Is it better to run both at once than one after the other?',
    },
    (round) =>
      ofKept(round, victims, { absolute: 3 }, ([first = 0, second = 0]) =>
        interferencePercent({ together: 1, firstAlone: first, secondAlone: second }),
      ),
  );
  return [fairness, interference];
}

/**
 * Computes a figure from what each victim keeps: the inverse of its slowdown by its deciding number, e.g. wall time.
 */
function ofKept(
  round: SceneRound,
  victims: readonly Victim[],
  delta: Delta,
  figure: (kept: readonly number[]) => number | null,
): Measured {
  const each = victims.map((victim) => {
    const asked = askedOf(victim).find(({ key }) => key === decidingKey(victim.program)) as Asked;
    return slowdownResult(round, round.victims.get(victim.name) as VictimRuns, asked);
  });
  const without = each.find(({ value }) => value === null);
  if (without) return { ...without, details: { delta } };
  const kept = each.map(({ value }) => 1 / (value as number));
  return {
    value: figure(kept),
    ci95: null,
    ciScope: 'between-processes',
    headline: null,
    processes: each.reduce((sum, { processes = 0 }) => sum + processes, 0),
    details: { delta, kept: Object.fromEntries(victims.map(({ name }, place) => [name, kept[place]])) },
    checks: round.checks,
  };
}

/** Details that a round of a scene has once, in its first metric. */
function detailsOf(scene: Scene, round: SceneRound): Measured['details'] {
  const { victims, warmups, cvs, notes, together, limits } = round;
  const rows = (runs: SceneRound['victims'], isWarmup: boolean) =>
    [...runs].flatMap(([victim, byArm]) =>
      arms.flatMap((arm) => byArm[arm].map((run) => ({ victim, arm, ...rowOf(run, isWarmup) }))),
    );
  return {
    rule: { ...REPEAT_RULE, leastPresence: LEAST_PRESENCE, cvs, repeats: Math.max(0, cvs.length - 1) },
    tenants: scene.tenants.map((tenant, place) => ({
      name: tenant.name,
      role: tenant.role,
      ...('task' in tenant && { task: taskName(tenant.task) }),
      ...(limits[place] && { memoryBytes: limits[place].memoryBytes, smPercent: limits[place].smPercent }),
    })),
    runs: [...rows(warmups, true), ...rows(victims, false)],
    neighbours: together.flatMap(({ presences, least }, run) => [
      ...presences.map(({ name, role, use, starts, operations }) => ({ run, name, role, use, starts, operations })),
      ...[...least].map(([victim, { running, onGpu }]) => ({ run, victim, leastRunning: running, leastOnGpu: onGpu })),
    ]),
    ...(notes.length > 0 && { notes }),
  };
}
