/**
 * COMPAT-001: things that real software does in its first second, each in its own process, natively and under the
 * system.
 */
import type { Check } from '../../results/document.js';
import { describe } from '../../workers/description.js';
import { measureFunction } from '../measure-function.js';
import { type Measured, type MeasureContext, type MetricDefinition, unsupported } from '../metric.js';
import { FIRST_ID, inScene, type MetricScene, targetOf } from '../scene.js';
import { escapeOf, type Reference, referenceOf } from './escape.js';
import { type Native, nativeOracle, type Oracle, probeCommand, type Settings } from './native-oracle.js';
import { nativeText, outcomeOf } from './outcome.js';
import { type ProbeRow, runProbe } from './probe-process.js';
import { inTurns } from './turns.js';

/** Each probe has at most two processes with a context, of about 600 MiB on a large card. */
const PROBE_BYTES = 2 * 2 ** 30;
const MOST_LANES = 4;
const DEADLINE_MS = 10_000;
/**
 * Longest start of a process under a layer, with a margin: the whole process takes half a second. A hang does not delay
 * the others beyond it.
 */
const START_MS = 2_000;

/** Outcome of a probe that does not work natively: `native` then has the reason. */
const NOT_RUN = 'not run';

interface Row {
  probe: string;
  issue: string;
  outcome: string;
  native: string;
  /** The call at which it deviated. */
  at?: string;
  /** Evidence that the process was not under the system. */
  escape?: string;
}

interface Comparable extends ProbeRow {
  native: Native;
}

/** A probe whose process was not under the system says nothing about it. */
function rowOf({ name, issue, native }: Comparable, own: Native['observation'], reference: Reference): Row {
  const judged = outcomeOf(native.observation, own);
  const head = { probe: name, issue, native: nativeText(native.observation) };
  const escape = judged.outcome === 'same' ? escapeOf(own, reference) : null;
  return escape === null ? { ...head, ...judged } : { ...head, outcome: 'escapes the layer', escape };
}

/** A proven worker of the system shows the layer that every probe must be under. */
async function referenceIn(context: MeasureContext, scene: MetricScene): Promise<Reference> {
  const tenant = await scene.startWorker({ id: FIRST_ID });
  const reference = referenceOf(await describe(tenant.worker, targetOf(context), context.signal), context.options.path);
  await scene.prove(tenant);
  await tenant.stop();
  return reference;
}

/** Each in its own tenant, so that a killed probe's remains in a layer's state do not affect the next. */
async function probeSystem(
  context: MeasureContext,
  scene: MetricScene,
  oracle: Oracle,
  lanes: number,
  { deadlineMs }: Settings,
): Promise<Row[]> {
  const { signal } = context;
  const reference = await referenceIn(context, scene);
  const comparable = oracle.all
    .filter(({ excluded }) => excluded === null)
    .map((native): Comparable => ({ ...native.probe, native }));
  let done = 0;
  const turns = { lanes, startMs: context.system.staggerStarts ? START_MS : null };
  return inTurns(comparable, turns, async (one, index) => {
    const start = await scene.startOf({ id: FIRST_ID + 1 + index });
    const { count } = one.native.observation;
    const more = count === null ? [] : ['--count', String(count)];
    const command = probeCommand(context, start.launcher, one.name, oracle, more);
    const own = await runProbe(start, command, { deadlineMs, signal });
    context.progress(one.name, 0.5 + (0.5 * ++done) / comparable.length);
    return rowOf(one, own, reference);
  });
}

/** As many as fit on the card and within the limit, which may count the processes of all tenants. */
async function lanesFor({ system, truth }: MeasureContext): Promise<number> {
  const free = (await truth?.cardMemory())?.freeBytes ?? Infinity;
  const room = Math.floor(Math.min(free, system.limits().memoryBytes ?? Infinity) / PROBE_BYTES);
  return Math.max(1, Math.min(MOST_LANES, room));
}

const notRun = ({ name: probe, issue }: ProbeRow, reason: string): Row => ({
  probe,
  issue,
  outcome: NOT_RUN,
  native: reason,
});

function summary(judged: readonly Row[], oracle: Oracle): Measured {
  const rowOfProbe = new Map(judged.map((row) => [row.probe, row]));
  const probes = oracle.all.map(
    ({ probe, excluded }) => rowOfProbe.get(probe.name) ?? notRun(probe, excluded ?? 'it was not run'),
  );
  if (judged.length === 0) return unsupported('no probe works natively here', { judged: 0, probes });
  const same = judged.filter(({ outcome }) => outcome === 'same').length;
  const bare: Check = {
    name: 'native runs use the bare driver',
    passed: true,
    detail: `${oracle.all.length} probes were run natively, with ${oracle.driver}`,
  };
  return {
    value: (100 * same) / judged.length,
    ci95: null,
    processes: judged.length,
    headline: null,
    details: { same, judged: judged.length, probes },
    checks: [bare],
  };
}

export const compatibilityWith = (settings: Settings): MetricDefinition => ({
  id: 'COMPAT-001',
  name: 'Compatibility',
  category: 'compatibility',
  unit: '%',
  direction: 'higher',
  question: 'Will my software start at all under this layer?',
  estimator: 'share of probes with the same exit, codes and data as natively, of those that work natively',
  delta: { absolute: 1 },
  comparedAt: { name: 'number of probes', of: ({ judged }) => judged },
  needs: ['fresh processes'],
  functionName: 'checkCompatibility',
  where: 'fresh-processes',
  seconds: { quick: 30, standard: 30, thorough: 30 },
  async measure(context) {
    const lanes = await lanesFor(context);
    const oracle = await context.once.get('COMPAT-001 native', () => nativeOracle(context, lanes, settings));
    if (oracle.notBare !== null)
      return unsupported(
        `there is nothing to compare with, because no process uses the bare driver: ${oracle.notBare}`,
      );
    return inScene(context, async (scene) =>
      summary(await probeSystem(context, scene, oracle, lanes, settings), oracle),
    );
  },
});

export const compatibility = compatibilityWith({ deadlineMs: DEADLINE_MS });

/**
 * COMPAT-001, %: probes that behave as natively. `details.probes[]` has one row per probe with its public issue and its
 * outcome: `same`, `crash SIGNAL`, `hang`, `code X instead of Y`, `wrong data`, or `not run` if it does not work
 * natively; such a probe is not counted.
 */
export const checkCompatibility = measureFunction(compatibility);
