/** The operations of checkpoints between workers: a controller without a context, a target, and a neighbour. */
import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type {
  CheckpointAnswer,
  CheckpointCall,
  CheckpointVerified,
  CheckpointWork,
  GpuState,
  TenantMemory,
} from '../../lib/native/addon-types.js';
import { simulatedDriver } from '../../lib/native/load.js';
import { localStart } from '../../lib/workers/local.js';
import { Worker } from '../../lib/workers/worker.js';
import { WAIT_MS } from '../limits.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { Recorded, recordsIn } from './record.js';

const MIB = 2 ** 20;
const HELD = { bytes: 48 * MIB, allocations: 5 };
const WORK_MS = 400;
const CONTEXT_MIB = 500;
const target = { simulatedDriver: simulatedDriver(true), device: null, path: 'runtime' } as const;
const COSTS = {
  init_ms: 0,
  context_ms: 0,
  context_mib: CONTEXT_MIB,
  checkpoint_lock_us: 3000,
  checkpoint_fixed_us: 40_000,
  checkpoint_us_per_mib: 500,
  restore_fixed_us: 20_000,
  restore_us_per_mib: 200,
  unlock_us: 5000,
};
const workers: Worker[] = [];
const ask = <T>(worker: Worker, method: string, params?: object): Promise<T> =>
  worker.request(method, params, { deadlineMs: WAIT_MS }) as Promise<T>;

/** Processes of one simulated card; all but the controller have entered. */
function card(settings: Readonly<Record<string, number | string>> = {}) {
  const records = temporaryFolder('checkpoint');
  const all = { ...COSTS, ...settings, region: ownRegion('checkpoint'), record: records };
  const GVB_SIM = Object.entries(all)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const start = async (): Promise<Worker> => {
    const worker = await Worker.start({ start: localStart({ PATH: process.env.PATH, GVB_SIM }) });
    workers.push(worker);
    return worker;
  };
  const entered = async (): Promise<Worker> => {
    const worker = await start();
    await ask(worker, 'enter', target);
    return worker;
  };
  return { records, start, entered };
}

const controlledBy =
  (controller: Worker, { pid }: Pick<Worker, 'pid'>) =>
  (call: CheckpointCall, timeoutMs = 0): Promise<CheckpointAnswer> =>
    ask(controller, 'checkpointCall', { ...target, pid, call, timeoutMs });

const ok = { code: 0, name: 'CUDA_SUCCESS', state: null, thread: null };
const intact = { checksums: true, addresses: true, graph: true, stream: true, event: true };

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

describe('a checkpoint between workers', () => {
  it('moves the memory of a target away and back, as its neighbour sees', async () => {
    const { records, start, entered } = card();
    const [held, neighbour, controller] = await Promise.all([entered(), entered(), start()]);
    const control = controlledBy(controller, held);
    expect(await ask(held, 'checkpointHold', HELD)).toEqual(HELD);
    const freeBytes = async () => (await ask<TenantMemory>(neighbour, 'tenantMemory')).freeBytes;
    const listed = async () => (await ask<GpuState>(neighbour, 'health')).processes?.map(({ pid }) => pid).sort();
    const before = await freeBytes();
    expect(await control('state')).toMatchObject({ code: 0, state: 0 });
    expect(await control('checkpoint')).toMatchObject({ code: 401, name: 'CUDA_ERROR_ILLEGAL_STATE', state: null });
    expect(await control('lock')).toMatchObject(ok);
    const verifying = ask<CheckpointVerified>(held, 'checkpointVerify');
    expect(await control('checkpoint')).toMatchObject(ok);
    expect(await control('state')).toMatchObject({ state: 2 });
    // The controller has initialised the driver and is not listed: it has no context.
    expect(await listed()).toEqual([neighbour.pid]);
    const givenBack = (await freeBytes()) - before;
    expect(givenBack).toBeGreaterThanOrEqual(HELD.bytes + CONTEXT_MIB * MIB);
    expect(givenBack).toBeLessThan(HELD.bytes + (CONTEXT_MIB + 1) * MIB);
    expect(await control('restore')).toMatchObject(ok);
    expect(await freeBytes()).toBe(before);
    expect(await listed()).toEqual([held.pid, neighbour.pid].sort());
    expect(readdirSync(records)).toContain(`restored-${held.pid}`);
    expect(await control('unlock')).toMatchObject(ok);
    expect(await verifying).toMatchObject(intact);
    expect(await control('lock')).toMatchObject(ok);
    expect(await control('checkpoint')).toMatchObject(ok);
    expect(readdirSync(records)).not.toContain(`restored-${held.pid}`);
  });

  it('says of each call how long it took', async () => {
    const { records, start, entered } = card();
    const [held, controller] = await Promise.all([entered(), start()]);
    await ask(held, 'checkpointHold', HELD);
    const control = controlledBy(controller, held);
    const calls = ['lock', 'checkpoint', 'restore', 'unlock'] as const;
    const answers: (CheckpointAnswer & { waitedNs: number })[] = [];
    for (const call of calls) {
      const asked = process.hrtime.bigint();
      const answer = await control(call);
      answers.push({ ...answer, waitedNs: Number(process.hrtime.bigint() - asked) });
    }
    const recorded = new Recorded(recordsIn(records).filter(({ pid }) => pid === controller.pid));
    for (const [i, call] of calls.entries()) {
      const [made] = recorded.named(`cuCheckpointProcess${call[0]?.toUpperCase()}${call.slice(1)}`);
      const { entered: from = 0, left = 0 } = made ?? {};
      expect(answers[i]?.tookNs).toBeGreaterThanOrEqual(left - from);
      expect(answers[i]?.tookNs).toBeLessThanOrEqual(answers[i]?.waitedNs ?? 0);
    }
    const [, checkpointed] = answers;
    expect(checkpointed?.tookNs).toBeGreaterThan((COSTS.checkpoint_fixed_us + 48 * COSTS.checkpoint_us_per_mib) * 1e3);
  });

  it('shows that memory was changed', async () => {
    const { start, entered } = card({ checkpoint_corrupts: 1 });
    const [held, controller] = await Promise.all([entered(), start()]);
    await ask(held, 'checkpointHold', HELD);
    expect(await ask(held, 'checkpointVerify')).toMatchObject(intact);
    const control = controlledBy(controller, held);
    for (const call of ['lock', 'checkpoint', 'restore', 'unlock'] as const)
      expect(await control(call)).toMatchObject(ok);
    expect(await ask(held, 'checkpointVerify')).toMatchObject({ ...intact, checksums: false });
  });

  it('waits for submitted work, or gives up after a time', async () => {
    const { start, entered } = card();
    const [held, controller] = await Promise.all([entered(), start()]);
    await ask(held, 'checkpointHold', { bytes: 0, allocations: 0 });
    const control = controlledBy(controller, held);
    await control('state');
    const { submittedNs, estimatedNs } = await ask<CheckpointWork>(held, 'checkpointWork', { ms: WORK_MS });
    expect(estimatedNs).toBe(WORK_MS * 1e6);
    const refused = await control('lock', 10);
    expect(refused).toMatchObject({ code: 600, name: 'CUDA_ERROR_NOT_READY' });
    expect(await control('state')).toMatchObject({ state: 0 });
    expect(await control('lock')).toMatchObject(ok);
    const { nowNs } = await ask<{ nowNs: number }>(controller, 'clock', {});
    expect(nowNs - submittedNs).toBeGreaterThanOrEqual(estimatedNs);
    expect(await control('unlock')).toMatchObject(ok);
    expect(await ask(held, 'checkpointRelease')).toEqual({ bytes: 0, allocations: 0 });
  });

  it('is refused with the name of the function by a driver that is too old', async () => {
    const { start } = card({ driver: 565 });
    const controller = await start();
    await expect(controlledBy(controller, controller)('state')).rejects.toThrow(
      /^cuCheckpointProcessGetState is not offered by this driver .*12\.8 \(branch 570\) or later\.$/,
    );
  });

  it('answers as a driver does that a process is no target', async () => {
    const { start } = card();
    const [controller, idle] = await Promise.all([start(), start()]);
    expect(await controlledBy(controller, controller)('state')).toMatchObject({ code: 0, state: 0 });
    const control = controlledBy(controller, idle);
    for (const call of ['restore-thread', 'lock'] as const)
      expect(await control(call)).toMatchObject({ code: 3, name: 'CUDA_ERROR_NOT_INITIALIZED', thread: null });
    expect(await controlledBy(controller, { pid: 2 ** 31 - 1 })('state')).toMatchObject({ code: 304, state: null });
    await expect(ask(controller, 'checkpointCall', { ...target, pid: 0, call: 'state', timeoutMs: 0 })).rejects.toThrow(
      /pid/,
    );
  });
});

it('a target that holds nothing cannot be verified', async () => {
  const worker = await card().entered();
  await expect(ask(worker, 'checkpointVerify')).rejects.toThrow(/checkpointHold/);
});
