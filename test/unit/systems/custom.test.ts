import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystem } from '../../../lib/systems/kinds.js';
import { FIRST_LOOK } from '../../../lib/systems/system.js';
import type { RawMap } from '../../../lib/config/raw.js';
import { description, GIB, gpu, libraryFile, probe, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
const layer = libraryFile(folder, 'layer.so');
const create = (raw: RawMap) =>
  createSystem('custom', { name: 'mine', ...raw }, { caller: { PATH: process.env.PATH ?? '' }, folder });

async function prepared(raw: RawMap) {
  const system = create(raw);
  const run = runState(folder);
  onTestFinished(() => system.teardown().catch(() => {}));
  await system.prepare(run);
  return { system, directory: join(run.directory, 'mine') };
}

describe('a custom system', () => {
  it('fills placeholders in variables and prefix', async () => {
    const { system, directory } = await prepared({
      env: {
        STATE: '{runDir}/state-{tenant}',
        LIMITS: '{memoryBytes} {memoryMiB} {smPercent}',
        GPU: '{gpuUuid} {gpuIndex}',
      },
      limits: { memory: '10GiB', sm: '25' },
      prefix: ['taskset', '-c', '{tenant}'],
    });
    expect(system.environment({ id: 3 })).toMatchObject({
      STATE: `${directory}/state-3`,
      LIMITS: `${10 * GIB} 10240 25`,
      GPU: `${gpu.uuid} 0`,
    });
    expect(system.argvPrefix({ id: 3 })).toEqual(['taskset', '-c', '3']);
  });

  it('refuses to preload from a run directory whose path LD_PRELOAD would split', async () => {
    const system = create({ env: { LD_PRELOAD: '{runDir}/layer.so' } });
    const run = { ...runState(folder), directory: join(folder, 'with space') };
    mkdirSync(run.directory);
    onTestFinished(() => system.teardown().catch(() => {}));
    await expect(system.prepare(run)).rejects.toThrow(
      /Expected \{runDir\} in LD_PRELOAD of mine.*received '.*with space.*': LD_PRELOAD separates paths at spaces\. Set TMPDIR/,
    );
  });

  it('drops inherited variables, and may use its own MPS daemon', async () => {
    const { system } = await prepared({ unsetEnv: ['PATH'], env: { CUDA_MPS_PIPE_DIRECTORY: '{runDir}/p' } });
    expect(system.environment().PATH).toBeUndefined();
    expect(system.environment().CUDA_MPS_PIPE_DIRECTORY).toMatch(/\/mine\/p$/);
  });

  it('does not put a secret into a document', async () => {
    const { system } = await prepared({ env: { MY_TOKEN: 'hush', LAYER: 'on' } });
    expect(system.settings).toEqual({ MY_TOKEN: '(not recorded)', LAYER: 'on' });
  });

  it('runs its commands without a shell and without the layer', async () => {
    const print = 'require("fs").writeFileSync(process.argv[1], process.argv[2] + process.env.LD_PRELOAD)';
    const { directory } = await prepared({
      env: { LD_PRELOAD: layer },
      setup: [process.execPath, '-e', print, '{runDir}/out', '$(id);`id` {gpuIndex} '],
    });
    expect(readFileSync(join(directory, 'out'), 'utf8')).toBe('$(id);`id` 0 undefined');
  });

  it('names the failed command and its error, and cleans up after it', async () => {
    const system = create({ setup: [[process.execPath, '-e', 'console.log("no disk"); process.exit(3)']] });
    const run = runState(folder);
    await expect(system.prepare(run)).rejects.toThrow(
      /^setup of mine \(unverified\): .* ended with exit code 3: no disk\.$/,
    );
    await system.teardown();
    expect(existsSync(join(run.directory, 'mine'))).toBe(false);
  });

  it('names the command that could not be started', () =>
    expect(create({ setup: ['/nonexistent/tool'] }).prepare(runState(folder))).rejects.toThrow(/could not be started/));

  it('removes its folder if a teardown command fails, and reports the failure', async () => {
    const { system, directory } = await prepared({ teardown: [['false'], ['touch', '{runDir}/x']] });
    await expect(system.teardown()).rejects.toThrow(
      /could not be cleaned up: teardown of mine \(unverified\): false ended with exit code 1/,
    );
    expect(existsSync(directory)).toBe(false);
  });

  it("reaps a tenant's state files and keeps those of others", async () => {
    const { system, directory } = await prepared({ stateFiles: ['{runDir}/s-{tenant}', '{runDir}/all'] });
    const file = (name: string) => join(directory, name);
    for (const id of [1, 2]) await system.prepareTenant({ id });
    for (const name of ['s-1', 's-2', 'all']) writeFileSync(file(name), '');
    await system.reap({ id: 1 });
    expect(['s-1', 's-2', 'all'].map((name) => existsSync(file(name)))).toEqual([false, true, true]);
  });
});

describe('the description of a custom system', () => {
  it.each<[RawMap, RegExp]>([
    [{ setup: 'rm -rf /' }, /^Expected setup of custom to be a command as a list of arguments/],
    [{ setup: [['a', ['b']]] }, /setup of custom to be a command/],
    [{ setup: [[]] }, /setup of custom to be a command/],
    [{ setup: ['x', '{tenant}'] }, /received {tenant}: it runs once for all tenants/],
    [{ env: { A: '{memoryBytes}' } }, /received {memoryBytes}: set limits\.memory/],
    [{ env: { A: '{runDr}' } }, /received {runDr}: did you mean {runDir}\?/],
    [{ env: { 'A=B': 'x' } }, /A=B is none/],
    [{ env: { LD_PRELOAD: '/nowhere/x.so' } }, /LD_PRELOAD of mine to be a shared library.*there is no such file/],
    [{ stateFiles: ['/'] }, /stateFiles of custom to be files this run may delete/],
    [{ stateFiles: ['{runDir}/../../etc'] }, /it has \. or \.\./],
    [{ stateFiles: ['/tmp/*'] }, /it is a pattern/],
    [{ limits: { memory: '0' } }, /memory of limits of custom to be a size above 0/],
    [{ limits: { cpu: '1' } }, /a key of limits of custom but received 'cpu': it has memory, sm\./],
    [{ capabilities: { memLimit: 'soft' } }, /memLimit of capabilities of custom/],
    [{ verify: [{ symbolOwner: { symbol: 'cuInit' } }] }, /symbolOwner of entry 1 of verify of custom to have matches/],
    [
      { verify: [{ symbolOwner: { symbol: 'cuInit', matches: '(' } }] },
      /to be a regular expression but received '\(': .*Unterminated group/,
    ],
    [
      { verify: [{ symbolOwner: { symbol: 'cuLaunchKernl', matches: '.' } }] },
      /^Expected symbol of symbolOwner of entry 1 of verify of custom to be a function .* 'cuLaunchKernl': did you mean cuLaunchKernel\?$/,
    ],
    [{ verify: [{ symbolOwner: { symbol: 'CuInit', matches: '.' } }] }, /did you mean cuInit\?/],
    [{ verify: [{ symbolOwner: { symbol: 'malloc', matches: '.' } }] }, /there are cuInit, .*nvmlInit/],
    [{ verify: [{ symbolOwned: 'a' }] }, /did you mean symbolOwner\?/],
    [{ verify: [{ smCount: ['5', '1'] }] }, /two integers, the smaller first/],
    [{ verify: [{ command: { argv: 'true' } }] }, /argv of command of entry 1 of verify of custom to be a command/],
    [{ verify: 'all' }, /a list of steps/],
    [{ stateFile: ['x'] }, /did you mean stateFiles\?/],
    [{ name: '../x' }, /at most 40 letters, digits/],
  ])('refuses %j', (raw, message) => expect(() => create(raw)).toThrow(message));
});

describe('the proofs of a custom system', () => {
  const attest = async (verify: RawMap[], change: Parameters<typeof description>[1] = {}, seen = probe()) => {
    const { system } = await prepared({ verify });
    return system.attest(description(layer, change), { ...FIRST_LOOK, probe: seen });
  };

  it('are missing without steps, which its label shows', async () => {
    const { system } = await prepared({});
    expect(system.name).toBe('mine (unverified)');
    expect((await system.attest(description(layer))).invalid).toBeUndefined();
  });

  it('fail if the preload was not loaded, even for an unverified system', async () => {
    const { system } = await prepared({});
    const seen = { ...description(null), preload: [{ entry: layer, source: 'LD_PRELOAD' as const, mapped: null }] };
    expect((await system.attest(seen)).invalid).toMatch(/layer\.so is not mapped/);
  });

  it('fail if a named library intercepts nothing, unless it is declared not to', async () => {
    const inert = { ...description(layer, { paths: [] }) };
    for (const raw of [{}, { env: { LAYER_HOOKS: layer } }, { verify: [{ smCount: ['1', '132'] }] }]) {
      const { system } = await prepared(raw as RawMap);
      const { invalid, layer: seen } = await system.attest(inert);
      expect(invalid).toMatch(
        /^layer not active: the named libraries intercept: .*nothing intercepts: .*interposes: false/,
      );
      expect(seen).toMatchObject({ path: layer, active: false });
    }
    const { system } = await prepared({ interposes: 'false' });
    const { invalid, warnings } = await system.attest(inert);
    expect(invalid).toBeUndefined();
    expect(warnings).toEqual([
      expect.stringMatching(/^mine \(unverified\): observed: nothing intercepts: .*Not verified: /),
    ]);
  });

  it('accept any kind of interception, except by a layer in every process', async () => {
    const { system } = await prepared({ env: { LAYER: layer } });
    const seen = description(layer, { paths: [] });
    const nvml = [{ name: 'nvmlInit_v2', owners: { dlsym: layer, bare: 'ml' }, interposed: ['dlsym'] }];
    const onNvml = { ...seen, provenance: { ...seen.provenance, nvml } };
    expect((await system.attest(onNvml)).invalid).toBeUndefined();
    const everywhere = onNvml.preload.map((entry) => ({ ...entry, source: '/etc/ld.so.preload' as const }));
    expect((await system.attest({ ...onNvml, preload: everywhere })).invalid).toMatch(/nothing intercepts/);
  });

  it('fail if a library intercepts that the system does not name', async () => {
    const { system } = await prepared({ env: { LD_PRELOAD: layer } });
    const foreign = libraryFile(folder, 'foreign.so');
    const seen = { ...description(foreign), preload: description(layer).preload };
    const { invalid, layer: found } = await system.attest(seen);
    expect(invalid).toContain(`${layer} intercepts nothing; another library does: ${foreign} owns 4 of 4 functions`);
    expect(invalid).toContain('Name the library that intercepts');
    expect(found).toMatchObject({ path: layer, active: false });
    const { system: unnamed } = await prepared({});
    expect((await unnamed.attest({ ...seen, preload: [] })).invalid).toBeUndefined();
  });

  it('accept a library by another name of its file, or by its base name', async () => {
    const link = join(folder, 'link.so');
    symlinkSync(layer, link);
    for (const LAYER of [link, 'layer.so']) {
      const { system } = await prepared({ env: { LAYER } });
      const { invalid, layer: found } = await system.attest({ ...description(layer), preload: [] });
      expect([invalid, found?.active]).toEqual([undefined, true]);
    }
  });

  it('accept a preloaded libcuda.so.1 that is not the driver, although no pointer differs', async () => {
    const forwarder = libraryFile(folder, 'libcuda.so.1');
    const { system } = await prepared({ env: { LD_PRELOAD: forwarder } });
    const seen = description(forwarder, { paths: [] });
    const attested = async (carriesKernelVersion: boolean) => {
      const libcuda = { ...seen.provenance.libcuda, loaded: forwarder, driver: forwarder, carriesKernelVersion };
      return system.attest({ ...seen, provenance: { ...seen.provenance, libcuda } });
    };
    const { invalid, layer: found, proofs } = await attested(false);
    expect(invalid).toBeUndefined();
    expect(found).toMatchObject({ path: forwarder, active: true });
    expect(proofs[0]?.detail).toMatch(
      /libcuda\.so\.1 replaces the driver's libcuda\.so\.1: it has another version than the kernel module/,
    );
    expect((await attested(true)).invalid).toMatch(/nothing intercepts/);
  });

  it('are not required of a system without a library', async () => {
    const { system } = await prepared({ env: { LAYER_LIMIT: '4G' } });
    expect((await system.attest(description(null))).invalid).toBeUndefined();
  });

  it('read the actual environment of the worker, not the requested one', async () => {
    const { system } = await prepared({ env: { LIMIT: '4G' }, verify: [{ env: { name: 'LIMIT', value: '4G' } }] });
    const seen = (LIMIT: string) => system.attest({ ...description(null), environment: { LIMIT } });
    expect((await seen('4G')).invalid).toBeUndefined();
    expect((await seen('8G')).invalid).toMatch(/LIMIT in the worker's environment: it has another value/);
  });

  it('pass for every step of the documentation', async () => {
    const steps: RawMap[] = [
      { symbolOwner: { symbol: 'cuLaunchKernel', matches: 'layer\\.so' } },
      { env: { name: 'PATH', value: process.env.PATH ?? '' } },
      { smCount: ['1', '132'] },
      { totalMemory: ['1GiB', '141GiB'] },
      { allocationCanary: '11GiB' },
      { command: { argv: ['true'], exit: '0', matches: '' } },
    ];
    const { invalid, proofs, notChecked } = await attest(
      steps,
      {},
      probe({ allocations: [{ bytes: 11 * GIB, code: 2 }] }),
    );
    expect({ invalid, notChecked }).toEqual({ invalid: undefined, notChecked: [] });
    // The other proof: that the library intercepts.
    expect(proofs).toHaveLength(7);
  });

  it.each<[RawMap, RegExp]>([
    [
      { symbolOwner: { symbol: 'cuLaunchKernel', matches: 'other' } },
      /owner of cuLaunchKernel matches other: .*layer\.so owns it on runtime/,
    ],
    [{ symbolOwner: { symbol: 'cuGraphLaunch', matches: '.' } }, /no library owns it/],
    [{ symbolExported: 'some_symbol' }, /by none of 1 preloaded/],
    [{ env: { name: 'PATH', value: 'x' } }, /it has another value/],
    [{ smCount: ['1', '66'] }, /the worker sees 132 of 132/],
    [{ totalMemory: ['1GiB', '2GiB'] }, /the worker sees 10240 MiB/],
    [{ command: { argv: ['false'] } }, /it ended with exit code 1/],
    [{ command: { argv: ['/nonexistent/x'] } }, /could not be started/],
    [{ command: { argv: ['echo', 'no'], matches: 'yes' } }, /output matching yes/],
    [
      { command: { argv: ['sh', '-c', 'echo yes; head -c 70000 /dev/zero'], matches: 'yes' } },
      /exit code 0; only the end of its output is kept and was looked at/,
    ],
    [
      { command: { argv: ['printf', '0'.repeat(60)], matches: '^(0+)+$x' } },
      /matching \^\(0\+\)\+\$x took more than 5 s and was stopped: nested repetition/,
    ],
  ])('fail for %j', async (step, reason) => expect((await attest([step])).invalid).toMatch(reason));

  it('fail if nothing could be checked', async () =>
    expect((await attest([{ allocationCanary: '11GiB' }])).invalid).toMatch(/nothing could be checked/));

  it('check the measured path', async () => {
    const { system } = await prepared({ verify: [{ symbolOwner: { symbol: 'cuInit', matches: 'layer' } }] });
    const seen = description(layer, { paths: ['dlsym'] });
    expect((await system.attest(seen)).invalid).toMatch(/libcuda\.so\.1 owns it on runtime/);
    expect((await system.attest(seen, { ...FIRST_LOOK, path: 'dlsym' })).invalid).toBeUndefined();
  });
});
