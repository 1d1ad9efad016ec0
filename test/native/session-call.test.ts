/** Functions of the addon as requests to a worker: with the session that it holds, or one of its own. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AllocationBlock, AllocationRequest, DeviceTarget, ReportedMemory } from '../../lib/native/addon-types.js';
import { localStart } from '../../lib/workers/local.js';
import type { Sent } from '../../lib/workers/protocol.js';
import { Worker } from '../../lib/workers/worker.js';
import { WAIT_MS } from '../limits.js';
import { emptyFolder, simulatedFolder } from './child.js';

const on: DeviceTarget = { simulatedDriver: simulatedFolder, device: null, path: 'runtime' };
const pairs: AllocationRequest = { api: 'cuMemAlloc', bytes: 1_024, live: 0, count: 3, warmup: 0, bare: false };
let worker: Worker;

beforeAll(async () => {
  worker = await Worker.start({ start: localStart({ PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: '' }) });
});
afterAll(() => worker.stop());

const ask = (method: string, params?: object) => worker.request(method, params, { deadlineMs: WAIT_MS });

it('needs a session', async () => {
  await expect(ask('reportedMemory')).rejects.toThrow('This worker was not asked to enter.');
});

it('has a session of its own on the device that the request names', async () => {
  const { bareMultiprocessors } = (await ask('reportedMemory', { on })) as ReportedMemory;
  expect(bareMultiprocessors).toBeGreaterThan(0);
});

it('has the session of a worker that entered, and answers with plain samples', async () => {
  await ask('enter', on);
  const { allocNs } = (await ask('allocationBlock', pairs)) as Sent<AllocationBlock>;
  expect(allocNs).toEqual([1, 2, 3].map(() => expect.any(Number)));
});

it.each(['noSuchFunction', 'toString'])('refuses %s, which the addon does not have', async (name) => {
  await expect(ask(name, { on })).rejects.toThrow(`This worker knows no request named ${name}.`);
});
