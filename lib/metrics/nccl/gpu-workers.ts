/** Processes that each hold a session on another GPU, all of one tenant. */
import * as v from 'valibot';
import { count, rows, text } from '../core/details.js';
import type { NativeDevice } from '../../native/addon-types.js';
import { describe } from '../../workers/description.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { System } from '../../systems/system.js';
import { type MeasureContext, type Measured, unsupported } from '../core/metric.js';
import { FIRST_ID, inScene, type MetricScene, targetOf } from '../tenants/scene.js';

const TASK_MS = 60_000;
/** Why several GPUs cannot be measured here. */
export class Unavailable extends Error {}

export interface GpuWorkers {
  scene: MetricScene;
  workers: readonly WorkerTenant[];
  /** Number of visible GPUs, of which those in `gpus` take part. */
  visible: number;
  /** In the order of the workers. */
  gpus: readonly Pick<NativeDevice, 'index' | 'uuid' | 'name'>[];
}

interface GpuWorkersPlan<First> {
  /** In addition to the variables that the system sets. */
  environment: NodeJS.ProcessEnv;
  /** How many of the visible GPUs take part; none if there are too few. */
  count: (visible: number) => number;
  /** Asked of the first worker before the others start. */
  first: (worker: WorkerTenant) => Promise<First>;
}

/** The GPUs in CUDA_VISIBLE_DEVICES, in its order and up to the first invalid entry, as the driver reads it. */
export function visibleAmong<T extends Pick<NativeDevice, 'index' | 'uuid'>>(
  devices: readonly T[],
  visible: string | undefined,
): T[] {
  if (visible === undefined) return [...devices];
  const named: T[] = [];
  for (const name of visible.split(',').map((entry) => entry.trim())) {
    const found = devices.find(({ index, uuid }) =>
      /^\d+$/.test(name) ? index === Number(name) : name !== '' && uuid.startsWith(name),
    );
    if (!found || named.includes(found)) break;
    named.push(found);
  }
  return named;
}

/** The measured GPU first. */
function inRankOrder(devices: readonly NativeDevice[], measured: number | string | null): NativeDevice[] {
  const first = devices.find(({ index, uuid }) => measured === index || measured === uuid) ?? devices[0];
  return first ? [first, ...devices.filter((device) => device !== first)] : [];
}

/** `use` gets a worker on each participating GPU. Rejects with Unavailable if there are too few. */
export async function withGpuWorkers<T, First>(
  context: MeasureContext,
  { environment, count, first }: GpuWorkersPlan<First>,
  use: (gpus: GpuWorkers, first: First) => Promise<T>,
): Promise<T> {
  const start = (scene: MetricScene) => scene.startWorker({ id: FIRST_ID }, 'victim', environment);
  // On a card that is alone, no metric but the first starts a process.
  const visible = await context.once.get('visible GPUs', () =>
    inScene(context, async (scene) => visibleGpus(context, await start(scene))),
  );
  const gpus = visible.slice(0, count(visible.length));
  if (gpus.length < 2) throw new Unavailable(tooFew(visible, context.system));
  return inScene(context, async (scene) => {
    const one = await start(scene);
    await scene.hold(one, (gpus[0] as NativeDevice).uuid);
    const found = await first(one);
    const startOn = async ({ uuid }: NativeDevice) => {
      const worker = await start(scene);
      await scene.hold(worker, uuid);
      return worker;
    };
    const others = await scene.startAll(gpus.slice(1), startOn);
    return use({ scene, workers: [one, ...others], visible: visible.length, gpus }, found);
  });
}

async function visibleGpus(context: MeasureContext, worker: WorkerTenant): Promise<NativeDevice[]> {
  const { inspection, environment } = await describe(worker.worker, targetOf(context), context.signal);
  // A worker with the variable lists only the GPUs that it leaves.
  const visible = environment.CUDA_VISIBLE_DEVICES === undefined ? process.env.CUDA_VISIBLE_DEVICES : undefined;
  const seen = visibleAmong(inspection.devices, visible);
  if (context.cards === null) return inRankOrder(seen, context.options.device);
  return context.cards.map(({ index, uuid }) => {
    const card = seen.find((device) => device.uuid === uuid);
    if (card) return card;
    throw new Unavailable(`the process does not see GPU ${index}, ${uuid}, which --device names`);
  });
}

function tooFew(gpus: readonly NativeDevice[], { name, severalGpusBy }: System): string {
  const [only] = gpus;
  const seen = only ? `the process sees one GPU, ${only.name}` : 'the process sees no GPU';
  const mig = only?.migMode === 'enabled' ? ' in MIG mode, of which a process sees one instance' : '';
  const remedy = severalGpusBy === undefined ? '' : ` (${severalGpusBy} of ${name} shows it all of them)`;
  return `several GPUs are needed; ${seen}${mig}${remedy}`;
}

/** `unsupported` where `measure` rejects with Unavailable. */
export async function unlessUnavailable<Details>(
  measure: () => Promise<Measured<Details>>,
): Promise<Measured<Details>> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof Unavailable) return unsupported(error.message);
    throw error;
  }
}

/** The smallest limit of any worker. */
export async function memoryLimit({ workers }: Pick<GpuWorkers, 'workers'>): Promise<number> {
  const limits = await Promise.all(
    workers.map(async (worker) => {
      const ask = { request: undefined, deadlineMs: TASK_MS };
      const visible = await askSession(worker, { name: 'visibleMemory', ...ask });
      const { freeBytes } = await askSession(worker, { name: 'health', ...ask });
      return [visible.freeBytes, visible.totalBytes, freeBytes].filter((bytes) => bytes !== null);
    }),
  );
  return Math.min(...limits.flat());
}

/** Schema of `describedGpus`. */
export const gpusFields = {
  visibleGpus: count('GPUs that the process sees'),
  gpus: rows(
    v.strictObject({ index: count('Index by NVML'), uuid: text('UUID'), name: text('Name') }),
    'The GPUs that take part, in the order of their ranks',
  ),
};

export const describedGpus = ({ visible, gpus }: GpuWorkers) => ({
  visibleGpus: visible,
  gpus: gpus.map(({ index, uuid, name }) => ({ index, uuid, name })),
});
