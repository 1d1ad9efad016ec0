/** Metrics of a scene whose tenants take turns on the card: `SCENE/switches`, `SCENE/switch-time`, … */
import { type Measured, type MetricDefinition, unsupported, withoutNumber } from '../../metrics/core/metric.js';
import { restoring, rotationIn } from '../../metrics/tenants/rotation-details.js';
import type { Delta } from '../../stats/rule/effect.js';
import { median } from '../../stats/median.js';
import type { AnsweredSwitch, SceneTurns } from './answered-switches.js';
import type { SceneRound } from './scene-runs.js';

type Fields = Pick<MetricDefinition, 'name' | 'unit' | 'direction' | 'question' | 'estimator' | 'delta'>;

interface TurnsMetric extends Fields {
  key: string;
  delta: Delta;
  /** Its median is the number; or why there is none. */
  of: (turns: SceneTurns) => readonly number[] | string;
  details?: (turns: SceneTurns) => Measured['details'];
}

const NONE = 'no tenant had to wait for another';
const orNone = (values: readonly number[], why = NONE): readonly number[] | string =>
  values.length > 0 ? values : why;
const all = ({ runs }: SceneTurns): AnsweredSwitch[] => runs.flat();
const seconds = (ms: number): number => ms / 1_000;

const metrics: readonly TurnsMetric[] = [
  {
    key: 'switches',
    name: 'switches of the tenant on the card',
    unit: 'switches',
    direction: 'none',
    delta: { relative: 0.02 },
    estimator: 'median of runs together',
    question: 'How often did another tenant get the card?',
    of: ({ runs }) => runs.map(({ length }) => length),
  },
  {
    key: 'switch-time',
    name: 'time of a switch',
    unit: 's',
    direction: 'lower',
    delta: { relative: 0.05 },
    estimator: 'median of switches to a tenant that was checkpointed',
    question: 'For how long does nobody have the card when the tenants change?',
    of: (turns) => orNone(restoring(all(turns)).map(({ wholeMs }) => seconds(wholeMs))),
    details: ({ sliceMs, runs, mostUsedBytes }) => ({
      rotation: rotationIn({ sliceMs, switches: runs.flat(), mostUsedBytes }) ?? null,
    }),
  },
  {
    key: 'switch-answer',
    name: 'first answer after a switch',
    unit: 's',
    direction: 'lower',
    delta: { relative: 0.05 },
    estimator: 'median of switches to a victim that answered in its turn',
    question: 'How long after the lock of the one does the other answer?',
    of: (turns) =>
      orNone(
        restoring(all(turns)).flatMap(({ answerMs }) => (answerMs === null ? [] : [seconds(answerMs)])),
        'after no switch a victim answered in its turn: give it a load, or let it print what it does',
      ),
    details: (turns) => ({ answers: answersOf(all(turns)) }),
  },
  {
    key: 'switch-memory',
    name: 'most memory in use on the card',
    unit: 'bytes',
    direction: 'lower',
    delta: { relative: 0.02 },
    estimator: 'largest of the looks around every switch',
    question: 'How much of the card do tenants need that are never on it together?',
    of: ({ mostUsedBytes }) =>
      mostUsedBytes === null ? 'NVML does not say how much memory is in use' : [mostUsedBytes],
  },
];

/** How often each victim was let on again and answered, and how soon. */
function answersOf(switches: readonly AnsweredSwitch[]) {
  const msOf = new Map<string, number[]>();
  for (const { victim, answerMs } of restoring(switches))
    if (victim !== null && answerMs !== null) msOf.set(victim, [...(msOf.get(victim) ?? []), answerMs]);
  return [...msOf].map(([victim, ms]) => ({ victim, switches: ms.length, medianMs: median(ms).value }));
}

export const metricsOfTurns = (
  define: (id: string, of: Fields, measure: (round: SceneRound) => Measured) => MetricDefinition,
): MetricDefinition[] =>
  metrics.map(({ key, of, details, ...fields }) =>
    define(key, fields, (round) => measured(round, fields.delta, of, details)),
  );

function measured(
  { turns, invalid, failure, checks }: SceneRound,
  delta: Delta,
  of: TurnsMetric['of'],
  more: TurnsMetric['details'],
): Measured {
  if (invalid !== null) return { ...withoutNumber('invalid', invalid, { delta }), checks };
  if (failure !== null) return { ...withoutNumber('failed', failure, { delta }), checks };
  if (turns === null) return unsupported('its tenants are on the card at the same time, and take no turns', { delta });
  const values = of(turns);
  const details = { delta, ...more?.(turns) };
  if (typeof values === 'string') return unsupported(values, details);
  const { value, ci95 } = median(values);
  return {
    value,
    ci95,
    ciScope: 'within-process',
    headline: Float64Array.from(values),
    processes: turns.runs.length,
    details,
    checks,
  };
}
