/** Layers that no pointer shows: one that patches the driver's code, one that replaces libcuda.so.1. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunDocument } from '../../lib/results/document.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { NativeSystem } from '../../lib/systems/kinds/native/native-system.js';
import { describe as describeWorker } from '../../lib/workers/description.js';
import { localStart } from '../../lib/workers/local.js';
import { Worker } from '../../lib/workers/worker.js';
import { runState } from '../unit/systems/fixtures.js';
import {
  command,
  emptyFolder,
  hasDriver,
  parseComparison,
  parseDocument,
  root,
  simulatedFolder,
} from '../cli/command.js';

const folder = emptyFolder();
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const patching = join(folder, 'patching.so');
const throughTrampoline = join(folder, 'trampoline.so');
/** How it opens the driver. */
const kinds = [
  ['eager'],
  ['lazy', '-DLAZY'],
  ['namespace', '-DNAMESPACE'],
  ['lazy-namespace', '-DLAZY', '-DNAMESPACE'],
] as const;
const forwarder = (kind: string) => join(folder, kind, 'libcuda.so.1');

const secondView = join(folder, 'second-view.so');
beforeAll(() => {
  const shared = ['-shared', '-fPIC', '-w'];
  execFileSync('cc', [...shared, '-o', secondView, fixture('second-view.c'), '-ldl']);
  for (const [target, ...flags] of [[patching], [throughTrampoline, '-DRELATIVE']] as const)
    execFileSync('cc', [...shared, ...flags, '-o', target, fixture('patching.c'), '-ldl']);
  for (const [kind, ...flags] of kinds) {
    mkdirSync(join(folder, kind));
    const driver = `-DDRIVER="${simulatedFolder}/libcuda.so.1"`;
    const names = ['-std=c++17', '-Wl,-soname,libcuda.so.1', `-I${root}/native`, driver, '-o', forwarder(kind)];
    execFileSync('c++', [...shared, ...flags, ...names, fixture('forwarding-libcuda.cpp'), '-ldl']);
  }
});

/** A folder with a libdl.so.2 whose dlsym gives out code in memory without a file. */
const otherLibdl = join(folder, 'libdl');
beforeAll(() => {
  mkdirSync(otherLibdl);
  const names = ['-Wl,-soname,libdl.so.2', `-Wl,--version-script=${fixture('trampolines.map')}`];
  const output = ['-o', join(otherLibdl, 'libdl.so.2'), fixture('trampolines.c')];
  if (process.arch === 'x64') execFileSync('cc', ['-shared', '-fPIC', '-w', ...names, ...output]);
});

const few = ['OH-002', '--iterations', '50'];
const proofOf = ({ system }: RunDocument, name: string) =>
  system.attestation.find(({ proof }) => proof.startsWith(name));

/** What the system native says of a process with these variables. */
async function asNative(layer: NodeJS.ProcessEnv) {
  const system = new NativeSystem({ name: 'native', caller: {} });
  await system.prepare(runState(emptyFolder()));
  onTestFinished(() => system.teardown());
  const environment = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: `region=native-${process.pid}` };
  const worker = await Worker.start({ start: localStart({ ...environment, ...layer }) });
  onTestFinished(() => worker.stop());
  return system.attest(await describeWorker(worker, { simulatedDriver: simulatedFolder }));
}

/** Compares native with another system, in one round. */
async function compared(system: string, environment: NodeJS.ProcessEnv = {}, how = ['--simulate']) {
  const output = ['--json', '-', '--output', join(emptyFolder(), 'out')];
  const args = ['compare', ...few, ...how, '--rounds', '1', '--system', 'native', '--system', system, ...output];
  const { stdout, code } = await command(args, environment);
  return { document: parseComparison(stdout), code };
}

describe('a layer that overwrites the beginning of cuLaunchKernel', () => {
  it.each([
    ['directly', () => patching],
    ['through a trampoline near the driver', () => throughTrampoline],
  ])('%s is named with the function', async (_, layer) => {
    const args = ['run', ...few, '--simulate', '--json', '-'];
    const document = parseDocument((await command(args, { LD_PRELOAD: layer() })).stdout);
    expect(document.system.layer).toMatchObject({ path: layer(), active: true });
    const patched = document.provenance.filter((row) => row.patched);
    expect(patched).toEqual([expect.objectContaining({ name: 'cuLaunchKernel', interposed: [] })]);
    expect(patched[0]?.patched).toEqual({ bytes: expect.stringMatching(/^(48b8|e9|50000058)/), owner: layer() });
    expect(proofOf(document, 'driver code')).toMatchObject({ passed: false });
    expect(document.warnings).toContain(`Driver code was changed in memory: cuLaunchKernel (jumps to ${layer()}).`);
    expect(document.metrics[0]?.status).toBe('ok');
  });

  it("has no pair, because the driver's own pointer also leads into the layer and would show no cost", async () => {
    const args = ['run', 'OH-005', '--iterations', '10', '--simulate', '--json', '-'];
    const { metrics } = parseDocument((await command(args, { LD_PRELOAD: patching })).stdout);
    const { missing, functions } = metrics[0]?.details as { missing: object[]; functions: { name: string }[] };
    const unsupported = `cuLaunchKernel was overwritten in the driver itself (it jumps to ${patching}): every call goes through the layer, so none can be compared.`;
    expect(missing).toEqual([{ name: 'cuLaunchKernel', unsupported }]);
    expect(functions.length).toBeGreaterThan(35);
    expect(functions.map(({ name }) => name)).not.toContain('cuLaunchKernel');
  });

  it('is shown by doctor as intercepting on every path', async () => {
    const { stdout } = await command(['doctor', '--json'], { LD_PRELOAD: patching });
    const names = ['cuLaunchKernel'];
    const { interceptors, findings } = JSON.parse(stdout);
    expect(interceptors).toEqual([
      {
        owner: patching,
        functions: names,
        byPath: { runtime: names, dlsym: names, linked: names },
        nvml: [],
        patched: names,
      },
    ]);
    expect(findings).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        text: expect.stringContaining(`cuLaunchKernel (jumps to ${patching})`),
      }),
    );
  });

  it('is the active layer of a custom system', async () => {
    const { document, code } = await compared(`custom:name=patcher,env.LD_PRELOAD=${patching}`);
    const [round] = document.systems[1] ?? [];
    expect(round?.system.layer).toMatchObject({ path: patching, active: true });
    expect([code, round?.metrics[0]?.status]).toEqual([0, 'ok']);
  });

  it('is refused as native', async () => {
    const failed = async (layer: NodeJS.ProcessEnv) => (await asNative(layer)).proofs.filter(({ passed }) => !passed);
    const code = expect.objectContaining({
      proof: expect.stringMatching(/^driver code/),
      detail: expect.stringContaining(`cuLaunchKernel (jumps to ${patching})`),
    });
    expect(await failed({})).not.toContainEqual(code);
    expect(await failed({ LD_PRELOAD: patching })).toContainEqual(code);
  });
});

describe.runIf(process.arch === 'x64')('a libdl.so.2 that gives out code in memory without a file', () => {
  const environment = { LD_LIBRARY_PATH: otherLibdl };
  const layer = join(otherLibdl, 'libdl.so.2');

  it('is named as the layer, with the pair that it costs', async () => {
    const args = ['run', ...few, 'OH-005', '--simulate', '--json', '-'];
    const document = parseDocument((await command(args, environment)).stdout);
    expect(document.system.layer).toMatchObject({ path: layer, active: true });
    expect(document.warnings.join(' ')).not.toContain('hooks no function');
    const row = document.provenance.find(({ name }) => name === 'cuMemAlloc_v2');
    expect(row).toMatchObject({ paths: { dlsym: 'memory without a file' }, interposed: ['dlsym'] });
  });

  it('is refused as native', async () => {
    const { proofs } = await asNative(environment);
    const failed = proofs.filter(({ passed }) => !passed).map(({ proof }) => proof);
    for (const proof of ['owners of the driver functions', 'no layer in the process']) expect(failed).toContain(proof);
  });
});

/** If there is a driver, the forwarding library loads the machine's own. */
describe.skipIf(hasDriver)('a libcuda.so.1 that forwards to the driver', () => {
  it.each(kinds.map(([kind]) => kind))('is named with the driver it forwards to (%s)', async (kind) => {
    const libraries = { LD_LIBRARY_PATH: `${join(folder, kind)}:${simulatedFolder}` };
    const document = parseDocument((await command(['run', ...few, '--json', '-'], libraries)).stdout);
    const driver = `${simulatedFolder}/libcuda.so.1`;
    expect(document.driver.replaced).toEqual({
      by: forwarder(kind),
      driver,
      reason: `it is loaded in place of the driver, ${driver}`,
    });
    expect(document.gpu[0]?.simulated).toBe(true);
    expect(document.system.layer).toMatchObject({ path: forwarder(kind), active: true });
    for (const { paths } of document.provenance)
      expect(paths).toMatchObject({ runtime: forwarder(kind), bare: driver });
    expect(proofOf(document, 'libcuda.so.1')).toMatchObject({ passed: false });
    const { stdout } = await command(['doctor'], libraries);
    expect(stdout).toContain(`warning: libcuda.so.1 is not the driver's: ${forwarder(kind)}`);
  });

  it.each(['eager', 'namespace'])('is refused as native: no number, exit 5 (%s)', async (kind) => {
    const libraries = { LD_LIBRARY_PATH: `${join(folder, kind)}:${simulatedFolder}` };
    const { document, code } = await compared('custom:name=other', libraries, []);
    expect(code).toBe(5);
    const [native] = document.systems[0] ?? [];
    expect(native?.metrics.map(({ status, value }) => [status, value])).toEqual([['invalid', null]]);
    const proof = native && proofOf(native, 'libcuda.so.1');
    expect(proof).toMatchObject({ passed: false, detail: expect.stringContaining(`${forwarder(kind)} is not`) });
  });
});

it.skipIf(hasDriver)('a preloaded libcuda.so.1 that forwards is the active layer of a custom system', async () => {
  const layer = forwarder('namespace');
  const { document, code } = await compared(`custom:name=forwarder,env.LD_PRELOAD=${layer}`);
  const [round] = document.systems[1] ?? [];
  expect(round?.system.layer).toMatchObject({ path: layer, active: true });
  expect([code, round?.metrics[0]?.status]).toEqual([0, 'ok']);
});

it('does not take a second mapping of the driver for a replaced libcuda', async () => {
  const driver = `${simulatedFolder}/libcuda.so.1`;
  const copy = join(folder, 'copy.so');
  copyFileSync(driver, copy);
  const environment = { LD_PRELOAD: secondView, GVB_TEST_LIBCUDA: driver, GVB_TEST_COPY: copy };
  const document = parseDocument((await command(['run', ...few, '--simulate', '--json', '-'], environment)).stdout);
  expect(document.driver.replaced).toBeUndefined();
  expect(document.provenance[0]?.paths).toMatchObject({ runtime: driver, bare: driver });
});

it('does not take the simulated driver or a preloaded layer with driver exports for a replaced libcuda', async () => {
  const environment = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'cuMemAlloc_v2=+1us' };
  const document = parseDocument((await command(['run', ...few, '--simulate', '--json', '-'], environment)).stdout);
  expect(document.driver.replaced).toBeUndefined();
  expect(document.provenance.filter(({ patched }) => patched)).toEqual([]);
  for (const name of ['driver code', 'libcuda.so.1']) expect(proofOf(document, name)).toMatchObject({ passed: true });
});
