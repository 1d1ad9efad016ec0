/** ERR-003: whether software that handles errors keeps working: each kind of error in a process of its own, as natively. */
import * as v from 'valibot';
import type { Tier } from '../../results/document.js';
import { nativeOracle, type Oracle, type Settings } from '../compatibility/native-oracle.js';
import {
  bareCheck,
  deathCheck,
  judgedProbe,
  type JudgedProbe,
  lanesFor,
  notBare,
  noneWorks,
  notRun,
  probeSystem,
  SAME,
  wasRun,
} from '../compatibility/probe-system.js';
import { count, rows } from '../core/details.js';
import { outside } from '../core/impossible.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { inScene } from '../tenants/scene.js';

const DEADLINE_MS = 10_000;
/** All must pass. */
const REPETITIONS: Record<Tier, number> = { quick: 1, standard: 1, thorough: 3 };

const details = v.strictObject({
  passed: count('Scenarios that were as natively in every repetition'),
  judged: count('Scenarios that were compared: those that work natively and apply to the system'),
  probes: rows(
    v.strictObject({
      ...judgedProbe.entries,
      passed: count('Repetitions in which it was as natively'),
      repetitions: count('Repetitions'),
    }),
    'A row per scenario',
  ),
});

export type GracefulDegradationDetails = v.InferOutput<typeof details>;
type Scenario = GracefulDegradationDetails['probes'][number];

/** Takes the first repetition of each scenario that went another way, in the order of the native runs. */
function scenariosOf(rounds: readonly JudgedProbe[][], oracle: Oracle): Scenario[] {
  return oracle.all.map(({ probe, excluded }) => {
    const own = rounds.flatMap((rows) => rows.find(({ probe: name }) => name === probe.name) ?? []);
    const shown = own.find(({ outcome }) => outcome !== SAME) ?? own[0] ?? notRun(probe, excluded ?? 'it was not run');
    return { ...shown, passed: own.filter(({ outcome }) => outcome === SAME).length, repetitions: own.length };
  });
}

const sentence = ({ probe, outcome, at, escape }: Scenario): string =>
  `${probe}: ${outcome}${at === undefined ? '' : ` in ${at}`}${escape === undefined ? '' : ` (${escape})`}`;

function judge(rounds: readonly JudgedProbe[][], oracle: Oracle): Measured<GracefulDegradationDetails> {
  const probes = scenariosOf(rounds, oracle);
  const deaths = deathCheck(oracle, rounds.flat());
  const judged = probes.filter(wasRun);
  if (judged.length === 0) return unsupported(noneWorks('no scenario', probes), { judged: 0, probes });
  const bad = judged.filter(({ passed, repetitions }) => passed < repetitions);
  return {
    ...invalidBy([deaths]),
    value: (100 * (judged.length - bad.length)) / judged.length,
    ci95: null,
    processes: judged.reduce((sum, { repetitions }) => sum + repetitions, 0),
    headline: null,
    details: { passed: judged.length - bad.length, judged: judged.length, probes },
    checks: [bareCheck(oracle), deaths],
    violations: bad.map(sentence),
  };
}

interface DegradationSettings extends Settings {
  /** Default: the tier's. */
  repetitions?: number;
}

export const gracefulDegradationWith = (
  settings: DegradationSettings,
): MetricDefinition<GracefulDegradationDetails> => ({
  id: 'ERR-003',
  name: 'Graceful Degradation Score',
  category: 'error-recovery',
  unit: '%',
  direction: 'higher',
  question: 'Does software that handles CUDA errors correctly keep working when virtualised?',
  estimator: 'share of error scenarios with the same exit, codes and data as natively and a working kernel afterwards',
  delta: { absolute: 1 },
  values: 'exact',
  impossible: outside(0, 100),
  comparedAt: { name: 'number of scenarios', of: ({ judged }) => judged },
  needs: ['fresh processes'],
  functionName: 'measureGracefulDegradation',
  where: 'fresh-processes',
  runsLast: true,
  details,
  seconds: { quick: 12, standard: 12, thorough: 35 },
  async measure(context) {
    const repetitions = settings.repetitions ?? REPETITIONS[context.options.tier];
    const lanes = await lanesFor(context);
    const oracle = await context.once.get('ERR-003 native', () => nativeOracle(context, lanes, settings));
    if (oracle.notBare !== null) return unsupported(notBare(oracle.notBare));
    return inScene(context, async (scene) => {
      const rounds: JudgedProbe[][] = [];
      for (let i = 0; i < repetitions; i++) {
        const progress = { from: 0.3 + (0.7 * i) / repetitions, to: 0.3 + (0.7 * (i + 1)) / repetitions };
        const first = i * (oracle.all.length + 1);
        rounds.push(await probeSystem(context, scene, oracle, { lanes, settings, first, progress }));
      }
      return judge(rounds, oracle);
    });
  },
});

export const gracefulDegradation: MetricDefinition<GracefulDegradationDetails> = gracefulDegradationWith({
  deadlineMs: DEADLINE_MS,
  of: ({ errors }) => errors,
});

/**
 * ERR-003, %: error scenarios (memory of every kind exhausted, launches too large, corrupt modules, memory freed twice,
 * thousands of streams, fork after initialisation, the layer's own file deleted, read-only or stale) that end as they do
 * natively: no crash, no hang, the same codes, and a kernel that works afterwards. `details.probes[]` has one row per
 * scenario; one that does not work natively, or does not apply to the system, is `not run` and not counted. Each of the
 * others is a violation. One that a signal ends runs again; if it ends otherwise then, the result is `invalid`. One that is a
 * probe of COMPAT-001 too runs once for both in a round. `iterations` and `resolution` do not apply.
 */
export const measureGracefulDegradation = measureFunction(gracefulDegradation);
