/** Functions of the library refuse options that they do not have, and say which one was meant. */
import { expect, it } from 'vitest';
import * as bench from '../../lib/index.js';

type Call = (options: object) => Promise<unknown>;

it.each<[name: string, call: Call, given: object, meant: string]>([
  ['measureKernelLaunch', bench.measureKernelLaunch, { iteration: 3 }, 'iterations'],
  ['runMetrics', bench.runMetrics, { metric: ['OH-001'] }, 'metrics'],
  ['compareSystems', bench.compareSystems as Call, { system: ['native', 'mps'] }, 'systems'],
  ['execWorkloads', bench.execWorkloads as Call, { workload: [] }, 'workloads'],
  ['startMonitor', bench.startMonitor, { interval: 10 }, 'intervalMs'],
  [
    'runLoad',
    (options) => bench.runLoad({ url: 'http://127.0.0.1:1', requests: 1, concurrency: 1 }, options),
    { onRequests: () => {} },
    'onRequest',
  ],
  ['listDevices', bench.listDevices, { simulated: true }, 'simulate'],
  ['getProvenance', bench.getProvenance, { simulated: true }, 'simulate'],
])('%s refuses an option that it does not have', async (_, call, given, meant) => {
  const refused = await call(given).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TypeError);
  expect(String(refused)).toMatch(
    new RegExp(`^TypeError: Expected options out of .*\\b${meant}\\b.* but received '${Object.keys(given)[0]}'`),
  );
  expect(String(refused)).toMatch(new RegExp(`: did you mean ${meant}\\?$`));
});

it.each<[name: string, call: Call]>([
  ['compareSystems', (options) => bench.compareSystems(options as never)],
  ['execWorkloads', (options) => bench.execWorkloads({ ...options, workloads: [] } as never)],
])('%s refuses a list that is none', async (_, call) => {
  const refused = call({ systems: 'native' });
  await expect(refused).rejects.toThrow("Expected systems to be a list of systems but received 'native'.");
});
