/** Conditions in a host program that the addon must survive or report. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { command, emptyFolder, parseDocument } from '../cli/command.js';
import { addonFile, attempt, type Ended, hasDriver, measure, root, script, simulatedFolder } from './child.js';

const folder = emptyFolder();
const library = (name: string) => join(folder, `${name}.so`);

beforeAll(() => {
  const fixtures = [['hiding'], ['hiding-proc', 'hiding', '-DHIDE_PROC'], ['no-thread'], ['blocking']] as const;
  for (const [name, file = name, ...flags] of fixtures) {
    const source = fileURLToPath(new URL(`fixtures/${file}.c`, import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-w', ...flags, '-o', library(name), source, '-ldl']);
  }
});

/** A module's text that imports the library and its addon. */
function module(text: string, options: Parameters<typeof script>[2] = {}): Promise<Ended> {
  const prelude = `
    import * as library from ${JSON.stringify(join(root, 'dist/index.js'))};
    import { Worker, isMainThread, parentPort } from 'node:worker_threads';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { createRequire } from 'node:module';
    const load = () => createRequire(import.meta.url)(${JSON.stringify(addonFile)});
    const target = { simulatedDriver: ${JSON.stringify(simulatedFolder)}, device: null, path: 'runtime' };`;
  const file = join(emptyFolder(), 'scenario.mjs');
  writeFileSync(file, `${prelude}\n${text}\n`);
  return script(file, [], options);
}

const said = ({ code, signal, stdout, stderr }: Ended): unknown => {
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  return JSON.parse(stdout);
};

it('stays loaded when every worker_thread that loaded it has ended while a call is stuck', async () => {
  const ended = await module(
    `if (isMainThread) {
      const worker = new Worker(new URL(import.meta.url));
      await new Promise((resolve) => worker.once('message', resolve));
      await sleep(200);
      await worker.terminate();
      // The call returns after this: into code that must still be there.
      await sleep(4000);
      console.log('true');
    } else {
      load().inspect(target);
      parentPort.postMessage('inspecting');
    }`,
    { sim: { init_ms: 13_000 } },
  );
  expect(said(ended)).toBe(true);
});

it('rejects with NO_THREAD if its thread cannot be created, and does not end the process', async () => {
  const answers = await attempt([['measureMemoryAllocation'], ['measureColdStart', { iterations: 1 }]], {
    environment: { LD_PRELOAD: library('no-thread') },
  });
  for (const { error } of answers) {
    expect(error).toMatchObject({ name: 'BenchError', code: 'NO_THREAD' });
    expect(error?.message).toMatch(/^The measuring thread could not be started: .*ulimit -u/);
  }
});

describe('the addon itself refuses', () => {
  const refused = (call: string) =>
    module(`const addon = load();
      const session = await addon.openSession(target);
      const free = { bytes: 4096, live: 1, order: 'fifo', count: 1, warmup: 0, seed: 1 };
      try { await (${call}); console.log('"accepted"'); } catch (error) { console.log(JSON.stringify(error.message)); }
      await addon.closeSession(session);`);

  it.each([
    [
      'no live block to free',
      'addon.freeBlock(session, { ...free, live: 0 })',
      'Expected a positive integer for live.',
    ],
    [
      'a number that 32 bits would cut',
      'addon.freeBlock(session, { ...free, count: 2 ** 32 + 1 })',
      'Expected an integer of at most 4294967295 for count.',
    ],
    ['a session of another number', 'addon.health(session + 2 ** 32)', "Expected a session's number."],
  ])('%s', async (_, call, message) => expect(said(await refused(call))).toBe(message));

  it('no valid call', async () => expect(said(await refused('addon.freeBlock(session, free)'))).toBe('accepted'));
});

it('ends a wait for a start in the far future when it is cancelled', async () => {
  const ended = await module(`const addon = load();
    const session = await addon.openSession(target);
    const window = addon.window(session, { operation: 'memGetInfo', bytes: 0, startAtNs: addon.now() + 3600e9,
      windowNs: 1000, warmup: 0, mostSamples: 10 });
    const kind = window.then(() => 'measured', (error) => error.kind);
    await sleep(100);
    addon.cancel(session);
    console.log(JSON.stringify(await kind));
    await addon.closeSession(session);`);
  expect(said(ended)).toBe('aborted');
});

describe('how the host waits in the context', () => {
  it('is recorded', async () => {
    const [result] = await measure([['measureMemoryAllocation', { iterations: 20 }]]);
    expect(result?.details.scheduling).toBe('spin');
    expect(result?.checks).toContainEqual({ name: 'the context spins while it waits', passed: true, detail: 'spin' });
  });

  it('is a warning if the host program created a blocking context', async () => {
    const environment = { LD_PRELOAD: library('blocking') };
    const [result] = await measure([['measureMemoryAllocation', { iterations: 20 }]], { environment });
    expect(result?.details.scheduling).toBe('blocking');
    const args = ['run', 'OH-002', '--simulate', '--iterations', '20', '--json', '-'];
    const { warnings } = parseDocument((await command(args, environment)).stdout);
    expect(warnings).toContainEqual(
      expect.stringMatching(/^the context does not spin while it waits: OH-002 \(blocking; /),
    );
  });
});

describe('a function that a layer hides', () => {
  it.each([
    ["the layer's cuGetProcAddress", 'hiding-proc', 'runtime'],
    ["the layer's dlsym", 'hiding', 'dlsym'],
  ] as const)('by %s is blamed on the layer, not on the age of the driver', async (_, layer, path) => {
    const [result] = await measure([['measureMemoryAllocation', { iterations: 20, path }]], {
      environment: { LD_PRELOAD: library(layer) },
    });
    const rows = result?.details.sizes as { api: string; unsupported?: string }[];
    expect(rows.find(({ api }) => api === 'cuMemAllocAsync')?.unsupported).toBe(
      `cuMemAllocAsync is not given out by ${library(layer)} on the ${path} path, though the driver has it: use a version of ${library(layer)} that passes it on, or measure without it.`,
    );
  });
});

it.skipIf(hasDriver)('simulates as the error about a missing driver advises, in the same process', async () => {
  const [missing, simulated] = await attempt([
    ['measureMemoryAllocation', { iterations: 20, simulate: false }],
    ['measureMemoryAllocation', { iterations: 20, simulate: true }],
  ]);
  expect(missing?.error).toMatchObject({ code: 'NO_DRIVER', message: expect.stringContaining('{ simulate: true }') });
  expect(simulated?.error).toBeUndefined();
  expect(simulated?.result?.status).toBe('ok');
});
