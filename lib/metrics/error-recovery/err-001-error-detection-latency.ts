/** ERR-001: how soon a host knows that a kernel of its process failed; one process is lost for each sample. */
import * as v from 'valibot';
import type { FaultDetection, FaultDetectionRequest, FaultKind } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { askSession } from '../../workers/session-task.js';
import { choice, count, interval, quantity, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { FIRST_ID, inScene } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { NS_PER_US } from '../core/units.js';

const DEADLINE_MS = 20_000;
const MAX_RESIDUAL_NS = 5_000;

const details = v.strictObject({
  detections: rows(
    v.strictObject({
      fault: text('What the kernel does wrong'),
      wait: choice(['query', 'synchronize'], 'Whether the host asks again and again (cuStreamQuery), or waits'),
      expectedCode: count('The error code (CUresult) that belongs to it'),
      latencyUs: v.nullable(
        quantity('us', 'Median time from the fault until the host is told; null if it was told of another error'),
      ),
      ci95: v.optional(interval('us', 'latencyUs')),
      codes: rows(v.string(), 'The different errors that hosts were told'),
      processes: count('Processes that were lost for it'),
      saidSuccessFirst: count('Processes that were told of success after the fault'),
    }),
    'A row per fault',
  ),
  mappingResidualNs: quantity('ns', 'Largest residual of a mapping of the clocks of host and device'),
  context: v.optional(processContext),
});

export type ErrorDetectionDetails = v.InferOutput<typeof details>;

interface Kind {
  name: string;
  request: FaultDetectionRequest;
  expectedCode: number;
}

const kind = (name: string, fault: FaultKind, expectedCode: number, wait: Kind['request']['wait'] = 'query'): Kind => ({
  name,
  request: { fault, wait },
  expectedCode,
});

const HEADLINE = kind('illegal address', 'outOfBounds', 700);
const OTHERS: readonly Kind[] = [
  kind('misaligned access', 'misaligned', 716),
  kind('trap', 'trap', 719),
  kind('device assert', 'assert', 710),
  kind('illegal address, waited for', 'outOfBounds', 700, 'synchronize'),
];
/** Processes, of the headline and of each other row. */
const SAMPLES: Record<Tier, readonly [headline: number, other: number]> = {
  quick: [4, 1],
  standard: [8, 3],
  thorough: [30, 30],
};

interface Row extends Kind {
  found: FaultDetection[];
}

/** In turn, so that a drift is in all rows alike. */
function planned([headline, other]: readonly [number, number]): Kind[] {
  const plan: Kind[] = [];
  for (let i = 0; i < Math.max(headline, other); i++) {
    if (i < headline) plan.push(HEADLINE);
    if (i < other) plan.push(...OTHERS);
  }
  return plan;
}

async function detectAll(context: MeasureContext) {
  const { tier, iterations } = context.options;
  const plan = planned(iterations === null ? SAMPLES[tier] : [iterations, Math.min(iterations, SAMPLES[tier][1])]);
  const rows = [HEADLINE, ...OTHERS].map((one): Row => ({ ...one, found: [] }));
  let entered: ReturnType<typeof contextOf>;
  await inScene(context, async (scene) => {
    for (const [i, { name, request }] of plan.entries()) {
      context.progress(name, i / plan.length);
      const tenant = await scene.enter({ id: FIRST_ID + i }, 'aggressor');
      // Its context will be lost: afterwards nothing more can be seen of it.
      await scene.prove(tenant);
      entered ??= contextOf(scene.scene);
      const found = await askSession(tenant, { name: 'detectFault', request, deadlineMs: DEADLINE_MS });
      rows.find((row) => row.name === name)?.found.push(found);
      await tenant.stop();
    }
  });
  return { rows, entered };
}

const latencies = ({ found }: Row): Float64Array => Float64Array.from(found, ({ latencyNs }) => latencyNs / NS_PER_US);

const isExpected =
  ({ expectedCode }: Kind) =>
  ({ code, stamped }: FaultDetection): boolean =>
    code === expectedCode && stamped;

function describe(row: Row): ErrorDetectionDetails['detections'][number] {
  const { name, request, expectedCode, found } = row;
  const head = { fault: name, wait: request.wait, expectedCode };
  const codes = [
    ...new Set(found.map(({ code, name: of }) => (code === 0 ? 'no error within 1 s' : `${of} (${code})`))),
  ];
  const successesBefore = found.filter(({ successes }) => successes > 0).length;
  const common = { codes, processes: found.length, saidSuccessFirst: successesBefore };
  if (!found.every(isExpected(row))) return { ...head, latencyUs: null, ...common };
  const { value, ci95 } = median(latencies(row));
  return { ...head, latencyUs: value, ci95, ...common };
}

function checksOf(rows: readonly Row[]): Check[] {
  const all = rows.flatMap(({ found }) => found);
  const unstamped = all.filter(({ stamped }) => !stamped).length;
  const [headline] = rows as [Row];
  const others = rows.slice(1).filter((row) => !row.found.every(isExpected(row)));
  const wrong = headline.found.filter(({ code }) => code !== headline.expectedCode);
  const told = wrong.map(({ code, name }) => (code === 0 ? 'no error within 1 s' : `${name} (${code})`));
  const early = all.filter(({ latencyNs, stamped, mapping }) => stamped && latencyNs < -mapping.bracketNs);
  return [
    {
      name: 'every kernel noted when it failed',
      passed: unstamped === 0,
      detail: `${all.length - unstamped} of ${all.length}`,
    },
    {
      name: `the host is told of error ${headline.expectedCode}`,
      passed: wrong.length === 0,
      detail: [...new Set(told)].join(', ') || `in ${headline.found.length} processes`,
    },
    {
      name: 'nobody is told before it happened',
      passed: early.length === 0,
      detail: `${early.length} of ${all.length}`,
    },
    {
      name: 'other faults have their own codes',
      passed: others.length === 0 ? true : 'not checked',
      detail: others.map(({ name }) => name).join(', ') || `${rows.length - 1} rows`,
    },
  ];
}

export const errorDetectionLatency: MetricDefinition<ErrorDetectionDetails> = {
  id: 'ERR-001',
  name: 'Error Detection Latency',
  category: 'error-recovery',
  unit: 'us',
  direction: 'lower',
  question: 'How soon can a watchdog react to a bad kernel?',
  estimator: "median over processes of the time from a kernel's illegal access until cuStreamQuery tells of it",
  delta: { relative: 0.1 },
  needs: ['fresh processes'],
  functionName: 'measureErrorDetection',
  where: 'fresh-processes',
  runsLast: true,
  details,
  seconds: { quick: 5, standard: 12, thorough: 90 },
  async measure(context) {
    const { rows: all, entered } = await detectAll(context);
    const [headline] = all as [Row];
    const residualNs = Math.max(...all.flatMap(({ found }) => found.map(({ mapping }) => mapping.residualNs)));
    const found = { detections: all.map(describe), mappingResidualNs: residualNs, context: entered };
    if (residualNs > MAX_RESIDUAL_NS)
      return unsupported(`the clocks are mapped to ${residualNs.toFixed(0)} ns, more than ${MAX_RESIDUAL_NS}`, found);
    const checks = checksOf(all);
    const samples = latencies(headline);
    return {
      ...invalidBy(checks),
      ...median(samples),
      ciScope: 'between-processes',
      processes: all.reduce((sum, row) => sum + row.found.length, 0),
      headline: samples,
      details: found,
      checks,
    };
  },
};

/**
 * ERR-001, µs: from the moment in which a kernel accesses an illegal address until a host that asks again and again is
 * told of it, by the kernel's own stamp. `details.detections[]` has one row per fault (misaligned access, trap, device
 * assert, and a host that waits inside cuStreamSynchronize) with the codes that were told. `iterations` is the number of
 * processes of the headline, each of which is lost.
 */
export const measureErrorDetection = measureFunction(errorDetectionLatency);
