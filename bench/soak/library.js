// The process of a soak that does everything in itself: soak.js starts it, sends it turns, and receives its state.
import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { getHeapCodeStatistics } from 'node:v8';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import * as library from '../../dist/index.js';

const FEW = { tier: 'quick', iterations: 5, seed: 1 };
/** The monitor has a sample of every card by then. */
const FIRST_SAMPLE_MS = 5_000;
const FORMATS = ['json', 'markdown', 'html', 'csv', 'junit', 'openmetrics', 'bencher'];
const functions = Object.fromEntries((await library.listMetrics()).map(({ id, functionName }) => [id, functionName]));

function expectStatus({ id, status, reason }) {
  if (status === 'failed') throw new Error(`${id} failed: ${reason}`);
}

async function expectRefusal(promise, pattern) {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  if (!pattern.test(String(error))) throw new Error(`Expected a refusal like ${pattern} but received ${error}.`);
}

async function loaded() {
  const server = createServer((_, response) => response.end('{"ok":true}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    const result = await library.runLoad({ url, requests: 50, concurrency: 4 });
    await library.summariseLoad(result);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function monitored(simulate, work) {
  const csv = join(tmpdir(), 'monitor.csv');
  const monitor = await library.startMonitor({ simulate, intervalMs: 10, csv });
  try {
    return await work();
  } finally {
    await monitor.stop();
    rmSync(csv);
  }
}

/** Everything beside the metrics themselves, with its errors: those are where something is forgotten. */
const steps = ({ simulate }) => ({
  listDevices: () => library.listDevices({ simulate }),
  getProvenance: () => library.getProvenance({ simulate }),
  runMetrics: () =>
    monitored(simulate, async () => {
      const document = await library.runMetrics({ ...FEW, simulate, metrics: ['OH-002', 'START-005'] });
      document.metrics.forEach(expectStatus);
      for (const format of FORMATS) await library.renderReport(document, format);
    }),
  compareSystems: async () => {
    const systems = ['native', 'native:name=again'];
    const document = await library.compareSystems({ ...FEW, simulate, systems, metrics: ['OH-002'], rounds: 1 });
    document.systems.flat().forEach(({ metrics }) => metrics.forEach(expectStatus));
    for (const format of FORMATS) await library.renderReport(document, format);
  },
  execWorkloads: async () => {
    const workloads = ['/bin/true', '/bin/false'].map((file) => ({ name: file.slice(5), argv: [file], iterations: 3 }));
    const document = await library.execWorkloads({ workloads, rounds: 1, simulate });
    const failed = document.systems.flat().flatMap(({ metrics }) => metrics.filter((each) => each.status === 'failed'));
    if (failed.length === 0 || failed.some(({ id }) => !id.startsWith('false/')))
      throw new Error(`Expected /bin/false alone to fail but ${failed.map(({ id }) => id)} failed.`);
  },
  runLoad: loaded,
  'an abort within a measurement': () => {
    const signal = AbortSignal.timeout(100);
    return expectRefusal(library.measureKernelLaunch({ simulate, iterations: 10_000_000, signal }), /timeout/i);
  },
  'an abort of a run': async () => {
    const signal = AbortSignal.timeout(300);
    const options = { simulate, metrics: ['OH-001'], iterations: 10_000_000, signal };
    // Before the first worker has started, there is nothing to resolve with.
    const document = await library.runMetrics(options).catch(() => ({ completed: false }));
    if (document.completed) throw new Error('Expected an aborted run to be incomplete.');
  },
  'a device that does not exist': () =>
    expectRefusal(library.measureKernelLaunch({ simulate, device: 99 }), /device to be/),
  'a wrong option': () => expectRefusal(library.measureKernelLaunch({ simulate, iterations: -1 }), /iterations to be/),
  'an unknown system': () =>
    expectRefusal(library.compareSystems({ simulate, systems: ['native', 'nothing'] }), /nothing/),
});

async function memoryInUse(simulate) {
  const used = new Map();
  const monitor = await library.startMonitor({
    simulate,
    onSample: ({ gpu, memoryUsedMib }) => used.set(gpu, memoryUsedMib),
  });
  try {
    const until = performance.now() + FIRST_SAMPLE_MS;
    while (used.size < monitor.gpus.length && performance.now() < until) await sleep(10);
  } finally {
    await monitor.stop();
  }
  const known = [...used.values()].filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

async function state(simulate) {
  const gpuUsedMib = await memoryInUse(simulate);
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { code_and_metadata_size: machineCode, bytecode_and_metadata_size: byteCode } = getHeapCodeStatistics();
  const codeBytes = machineCode + byteCode;
  return {
    // Functions are compiled, and optimised again, for the first hour or so: no leak, and bounded by their number.
    heapBytes: heapUsed - codeBytes,
    codeBytes,
    externalBytes: external,
    rssBytes: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
    gpuUsedMib,
  };
}

async function turn({ simulate, ids }) {
  const failures = [];
  const done = async (what, work) => {
    try {
      await work();
    } catch (error) {
      failures.push(`${what}: ${error}`);
    }
  };
  for (const id of ids) await done(id, async () => expectStatus(await library[functions[id]]({ ...FEW, simulate })));
  for (const [what, work] of Object.entries(steps({ simulate }))) await done(what, work);
  return { failures, state: await state(simulate) };
}

process.on('message', (request) => {
  if (request === 'end') return process.disconnect();
  return void turn(request).then(
    (answer) => process.send(answer),
    (error) => process.send({ failures: [`state: ${error}`], state: null }),
  );
});
