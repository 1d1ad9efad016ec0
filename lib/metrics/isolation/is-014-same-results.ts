/** IS-014: whether kernels compute the same bits under a layer as natively. */
import * as v from 'valibot';
import type { OutputKernel, Outputs, OutputsRequest } from '../../native/addon-types.js';
import type { Check, Tier } from '../../results/document.js';
import { seededRandom } from '../../stats/random.js';
import { bareDriver } from '../../systems/proof/attestation.js';
import { describe } from '../../workers/description.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { choice, count, flag, quantity, rowOrReason, rows, text } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MeasureContext, type Measured, type MetricDefinition, withoutNumber } from '../core/metric.js';
import { rowState, type RowState, unlessFull } from '../core/row-state.js';
import { nativeStart } from '../tenants/native-start.js';
import { FIRST_ID, inScene, type MetricScene, targetOf } from '../tenants/scene.js';
import { contextOf, processContext } from '../tenants/tenants.js';
import { besideBusy, type BusyNeighbour } from './busy-neighbour.js';
import { compared, type Difference, KERNELS, outputsOf } from './kernel-outputs.js';
import { idleReason } from './shared/aggressor-menu.js';

const REPETITIONS: Record<Tier, number> = { quick: 5, standard: 25, thorough: 200 };
const SIZE = 256;
/** A simulated card computes on the host. */
const SIMULATED_SIZE = 64;
const NEIGHBOUR = 'l2Thrash';

const ARMS = ['alone', 'beside a neighbour'] as const;

const details = v.strictObject({
  kernels: rows(
    rowOrReason(
      { kernel: text('What was computed') },
      {
        number: text('Number format of the output'),
        bytes: count('Size of an output (bytes)'),
        repetitions: count('Repetitions, each with inputs of its own'),
        excluded: flag('Whether native runs differ from each other: the kernel is then not compared'),
        differences: rows(
          v.strictObject({
            arm: choice(ARMS, 'Where it ran'),
            results: count('Repetitions whose output is not the native one'),
            firstByte: count('The first byte that differs in the first of them'),
            bytes: count('Bytes of it that differ'),
            largest: v.nullable(
              quantity('1', 'Largest difference of two numbers of it; null if one of them is no number'),
            ),
          }),
          'A row where results differ from the native ones',
        ),
      },
    ),
    'A row per kernel',
  ),
  seed: count('Seed of the inputs'),
  context: v.optional(processContext),
});

export type SameResultsDetails = v.InferOutput<typeof details>;
type Row = SameResultsDetails['kernels'][number];

/** What one kernel gave in the native process, or why it cannot. */
interface Reference {
  kernel: OutputKernel;
  request: OutputsRequest;
  outputs: Outputs | null;
  state: RowState | null;
  isFixed: boolean;
}

interface Compared extends Reference {
  differences: (Difference & { arm: (typeof ARMS)[number] })[];
}

interface Played {
  all: Compared[];
  neighbours: BusyNeighbour[];
  entered: ReturnType<typeof contextOf>;
}

interface ResultsPlan {
  repetitions: number;
  size: number;
}

class NotBare extends Error {}

/** A process outside of the system, proven to be. */
async function enterNatively(context: MeasureContext, scene: MetricScene): Promise<WorkerTenant> {
  const tenant = await scene.scene.startWorker(nativeStart(context));
  scene.excuse(tenant);
  const bare = bareDriver(await describe(tenant.worker, targetOf(context), context.signal));
  const failed = bare.find(({ passed }) => passed === false);
  if (failed) throw new NotBare(`${failed.proof}: ${failed.detail}`);
  await tenant.enter(targetOf(context));
  return tenant;
}

const repeats = (outputs: Outputs, again: Outputs): boolean =>
  outputs.digests.every((digest, i) => digest === again.digests[i]);

/** Natively twice alone and once beside a native neighbour: kernels that then differ have no order of their own. */
async function findFixed(context: MeasureContext, scene: MetricScene, native: WorkerTenant, plan: ResultsPlan) {
  const random = seededRandom(context.options.seed);
  const references: Reference[] = [];
  for (const kernel of Object.keys(KERNELS) as OutputKernel[]) {
    const seed = Math.floor(random() * 2 ** 48);
    const request = { kernel, seed, size: plan.size, first: 0, repetitions: plan.repetitions };
    const reference = { kernel, request, outputs: null, state: null, isFixed: false };
    try {
      const outputs = await outputsOf(native, request);
      references.push({ ...reference, outputs, isFixed: repeats(outputs, await outputsOf(native, request)) });
    } catch (error) {
      const state = rowState(error);
      if (!state) throw error;
      references.push({ ...reference, state });
    }
  }
  const neighbour = await enterNatively(context, scene);
  const beside = await besideBusy(neighbour, NEIGHBOUR, context, async () => {
    for (const one of references)
      if (one.isFixed && one.outputs) one.isFixed = repeats(one.outputs, await outputsOf(native, one.request));
  });
  await neighbour.stop();
  return { references, beside };
}

function play(context: MeasureContext, plan: ResultsPlan): Promise<Played> {
  return inScene(context, async (scene) => {
    const native = await enterNatively(context, scene);
    const { references, beside: besideNative } = await findFixed(context, scene, native, plan);
    const own = await scene.enter({ id: FIRST_ID }, 'victim');
    const all: Compared[] = references.map((reference) => ({ ...reference, differences: [] }));
    const compareAll = async (arm: (typeof ARMS)[number]) => {
      for (const one of all) {
        if (!one.isFixed || !one.outputs) continue;
        context.progress(`${KERNELS[one.kernel]}, ${arm}`, (ARMS.indexOf(arm) + all.indexOf(one) / all.length) / 2);
        const outputs = await outputsOf(own, one.request);
        const difference = await compared(
          { tenant: native, outputs: one.outputs },
          { tenant: own, outputs },
          one.request,
        );
        if (difference === 'unfixed') {
          one.isFixed = false;
          one.differences = [];
        } else if (difference) one.differences.push({ arm, ...difference });
      }
    };
    await compareAll('alone');
    const neighbour = await scene.enter({ id: FIRST_ID + 1 }, 'aggressor');
    const beside = await besideBusy(neighbour, NEIGHBOUR, context, () => compareAll('beside a neighbour'));
    return {
      all,
      neighbours: [besideNative, beside],
      entered: contextOf({ contexts: [own.context].flatMap((one) => one ?? []) }),
    };
  });
}

function rowOf({ kernel, request, outputs, state, isFixed, differences }: Compared): Row {
  const name = { kernel: KERNELS[kernel] };
  if (!outputs) return { ...name, ...(state as RowState) };
  const { number, bytes } = outputs;
  return { ...name, number, bytes, repetitions: request.repetitions, excluded: !isFixed, differences };
}

const restReason = ({ aggression, lasted }: BusyNeighbour): string | null =>
  idleReason(aggression) ?? (lasted ? null : 'it ended before the comparison did');

function judge({ all, neighbours, entered }: Played, seed: number): Measured<SameResultsDetails> {
  const fixed = all.filter(({ isFixed }) => isFixed);
  const idle = neighbours.map(restReason).find((reason) => reason !== null);
  const checks: Check[] = [
    {
      name: 'kernels have an order of their own',
      passed: fixed.length > 0,
      detail: `${fixed.length} of ${all.length} give the same bits in native runs`,
    },
    { name: 'the neighbour worked', passed: idle === undefined, detail: idle ?? 'natively and under the system' },
  ];
  return {
    ...invalidBy(checks),
    value: fixed.every(({ differences }) => differences.length === 0) ? 1 : 0,
    ci95: null,
    noInterval: 'an exact value',
    processes: 4,
    headline: null,
    details: { kernels: all.map(rowOf), seed, context: entered },
    checks,
  };
}

/** With a given plan, for tests; without one the tier decides. */
export const sameResultsBy =
  (plan?: ResultsPlan): MetricDefinition<SameResultsDetails>['measure'] =>
  async (context) => {
    const { tier, seed } = context.options;
    const size = context.simulatedDriver === null ? SIZE : SIMULATED_SIZE;
    const played = play(context, plan ?? { repetitions: REPETITIONS[tier], size });
    try {
      return await unlessFull(
        'two tenants',
        played.then((all) => judge(all, seed)),
      );
    } catch (error) {
      if (error instanceof NotBare) return withoutNumber('invalid', `the reference is not native: ${error.message}`);
      throw error;
    }
  };

export const sameResults: MetricDefinition<SameResultsDetails> = {
  id: 'IS-014',
  name: 'Same Results',
  category: 'isolation',
  unit: 'boolean',
  direction: 'higher',
  question: 'Does the layer change what a program computes?',
  estimator: '1 if every kernel with a fixed order gives the native bits, alone and beside a busy neighbour, else 0',
  delta: { absolute: 0.5 },
  values: 'exact',
  needs: ['two tenants'],
  functionName: 'measureSameResults',
  where: 'fresh-processes',
  details,
  seconds: { quick: 5, standard: 6, thorough: 30 },
  impossible: ({ value, unit }) => (value === 0 || value === 1 ? null : `${value} ${unit}`),
  measure: sameResultsBy(),
};

/**
 * IS-014: 1 if kernels of LLM-001, LLM-003, LLM-004 and OH-010, and sums in a fixed order, give bit by bit the results of
 * a native process, alone and beside a busy neighbour; else 0. Every repetition has inputs of its own: 5 at tier `quick`,
 * 25 at `standard`, 200 at `thorough`. `details.kernels[]` has where results differ and by how much, and which kernels
 * are excluded because native runs differ from each other. `iterations`, `warmup` and `resolution` do not apply.
 */
export const measureSameResults = measureFunction(sameResults);
