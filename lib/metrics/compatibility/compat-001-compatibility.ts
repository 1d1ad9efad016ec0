/** COMPAT-001: what real software does in its first second, in processes of its own, natively and under the system. */
import * as v from 'valibot';
import { count, rows } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type Measured, type MetricDefinition, unsupported } from '../core/metric.js';
import { inScene } from '../tenants/scene.js';
import { nativeOracle, type Oracle, type Settings } from './native-oracle.js';
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
} from './probe-system.js';

const DEADLINE_MS = 10_000;

const details = v.strictObject({
  same: count('Probes with the same outcome as natively'),
  judged: count('Probes that were compared: those that work natively and apply to the system'),
  probes: rows(judgedProbe, 'A row per probe'),
});

export type CompatibilityDetails = v.InferOutput<typeof details>;

function summary(judged: readonly JudgedProbe[], oracle: Oracle): Measured<CompatibilityDetails> {
  const rowOfProbe = new Map(judged.map((row) => [row.probe, row]));
  const probes = oracle.all.map(
    ({ probe, excluded }) => rowOfProbe.get(probe.name) ?? notRun(probe, excluded ?? 'it was not run'),
  );
  if (judged.length === 0) return unsupported(noneWorks('no probe', probes), { judged: 0, probes });
  const deaths = deathCheck(oracle, judged);
  const same = judged.filter(({ outcome }) => outcome === 'same').length;
  return {
    ...invalidBy([deaths]),
    value: (100 * same) / judged.length,
    ci95: null,
    processes: judged.length,
    headline: null,
    details: { same, judged: judged.length, probes },
    checks: [bareCheck(oracle), deaths],
  };
}

export const compatibilityWith = (settings: Settings): MetricDefinition<CompatibilityDetails> => ({
  id: 'COMPAT-001',
  name: 'Compatibility',
  category: 'compatibility',
  unit: '%',
  direction: 'higher',
  question: 'Will my software start at all under this layer?',
  estimator: 'share of probes with the same exit, codes and data as natively, of those that work natively',
  delta: { absolute: 1 },
  values: 'exact',
  comparedAt: { name: 'number of probes', of: ({ judged }) => judged },
  needs: ['fresh processes'],
  functionName: 'measureCompatibility',
  where: 'fresh-processes',
  details,
  seconds: { quick: 30, standard: 30, thorough: 30 },
  async measure(context) {
    const { provesByKernels = false, whyNoPrograms = '' } = context.system;
    if (provesByKernels) return unsupported(whyNoPrograms);
    const lanes = await lanesFor(context);
    const oracle = await context.once.get('COMPAT-001 native', () => nativeOracle(context, lanes, settings));
    if (oracle.notBare !== null) return unsupported(notBare(oracle.notBare));
    return inScene(context, async (scene) => {
      const progress = { from: 0.5, to: 1 };
      return summary(await probeSystem(context, scene, oracle, { lanes, settings, first: 0, progress }), oracle);
    });
  },
});

export const compatibility: MetricDefinition<CompatibilityDetails> = compatibilityWith({
  deadlineMs: DEADLINE_MS,
  of: ({ compatibility: one }) => one,
});

/**
 * COMPAT-001, %: probes that behave as natively. `details.probes[]` has one row per probe with its public issue and its
 * outcome: `same`, `crash SIGNAL`, `hang`, `code X instead of Y`, `wrong data`, or `not run` if it does not work
 * natively; such a probe is not counted. One that a signal ends runs again; if it ends otherwise then, the result is
 * `invalid`.
 */
export const measureCompatibility = measureFunction(compatibility);
