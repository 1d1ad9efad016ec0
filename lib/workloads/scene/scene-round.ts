/** One round of a scene under one system: limits of its tenants, set-up, runs, tear-down. */
import { attested, withoutOwnTenant } from '../../metrics/core/other-limits.js';
import { inScene, type MetricScene } from '../../metrics/tenants/scene.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import { BenchError } from '../../errors/bench-error.js';
import type { Tenant } from '../../systems/system.js';
import { memoryCheck } from '../round/health.js';
import { RoundMonitor } from '../round/round-monitor.js';
import { commandsFailure, type ExecSettings, gpuReader } from '../round/round-of-runs.js';
import { noRuns, type SceneMemory, type SceneRequest, type SceneRound } from './scene-runs.js';
import { SceneRunner } from './scene-runner.js';
import type { Scene } from './scene-type.js';
import { limitedTenants } from './tenant-limits.js';

const empty = (scene: Scene, why: Partial<Pick<SceneRound, 'failure' | 'invalid' | 'unsupported'>>): SceneRound => ({
  failure: null,
  invalid: null,
  unsupported: null,
  ...why,
  victims: noRuns(scene),
  warmups: noRuns(scene),
  cvs: [],
  together: [],
  turns: null,
  limits: [],
  checks: [],
  notes: [],
});

/** Measures one round of a scene. Rejects only with the reason of the signal. */
export async function measureScene(
  scene: Scene,
  settings: ExecSettings,
  memory: SceneMemory,
  context: MeasureContext,
): Promise<SceneRound> {
  const { system } = context;
  const before = earlier(memory, system.name);
  if (before && !settings.keepGoing) return empty(scene, before);
  const readGpu = gpuReader(context);
  const stateBefore = await readGpu();
  const limited = limitedTenants(scene, system, stateBefore?.totalBytes ?? null);
  if ('unsupported' in limited) return empty(scene, limited);
  const { tenants } = limited;
  const play = () => setUpAndPlay({ scene, settings, memory, context, tenants, readGpu });
  const round = await (tenants.some(({ limits }) => limits) ? withoutOwnTenant(context, play) : play());
  const { failure, invalid } = round;
  if (failure !== null) memory.failed.set(system.name, failure);
  if (invalid !== null) memory.invalid.set(system.name, invalid);
  return { ...round, checks: [...round.checks, memoryCheck(stateBefore, await readGpu())] };
}

function earlier({ failed, invalid }: SceneMemory, system: string): Pick<SceneRound, 'failure' | 'invalid'> | null {
  const again = (why: string | undefined) =>
    why === undefined
      ? null
      : `${why.replace(/\.$/, '')}. Not run again after a round in which that was so; --keep-going runs it.`;
  const [failure, why] = [again(failed.get(system)), again(invalid.get(system))];
  return failure === null && why === null ? null : { failure, invalid: why };
}

async function setUpAndPlay(request: Omit<SceneRequest, 'monitor'>): Promise<SceneRound> {
  const { scene, settings, context, tenants } = request;
  try {
    const failure = await commandsFailure('setup', scene, settings, context.signal);
    if (failure !== null) return empty(scene, { failure });
    const use = async (metricScene: MetricScene) => {
      for (const tenant of tenants) {
        await metricScene.startOf(tenant);
        if (tenant.limits) await proveLimits(context, metricScene, tenant);
      }
      return play(request, metricScene);
    };
    return await inScene(context, use, true);
  } catch (error) {
    if (context.signal.aborted || !(error instanceof BenchError) || error.code !== 'INVALID_RESULT') throw error;
    return empty(scene, { invalid: error.message });
  } finally {
    const failure = await commandsFailure('teardown', scene, settings, undefined);
    if (failure !== null) context.leftBehind(failure);
  }
}

/** Runs the scene under the monitor, whose records are complete once it has ended. */
async function play(request: Omit<SceneRequest, 'monitor'>, metricScene: MetricScene): Promise<SceneRound> {
  const { card, simulatedDriver } = request.context;
  const gpu = card && { uuid: card.uuid, simulate: simulatedDriver !== null };
  const monitor = await RoundMonitor.start(gpu, request.scene.monitor.intervalMs);
  const runner = new SceneRunner({ ...request, monitor }, metricScene);
  let unwritten: string[] = [];
  try {
    await runner.all();
  } finally {
    unwritten = await monitor.stop();
  }
  const round = runner.round();
  return { ...round, notes: [...round.notes, ...unwritten] };
}

/** Proves by a worker, before the runs, that the limits of its tenant are in force. */
async function proveLimits(context: MeasureContext, metricScene: MetricScene, tenant: Tenant): Promise<void> {
  const worker = await metricScene.startWorker(tenant, 'bystander');
  try {
    await attested(context, tenant, worker);
  } finally {
    metricScene.excuse(worker);
    await worker.stop();
  }
}
