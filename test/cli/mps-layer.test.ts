/** `mps` with a layer: a stand-in for HAMi-core, which is proven as the real one is, in clients of a simulated daemon. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { passing } from '../waiting.js';
import { emptyFolder, parseComparison, processesOf, start } from './command.js';
import { pathWithMps } from './mps-control.js';

const sim = 'init_ms=1,context_ms=1';
const built = emptyFolder();
const library = join(built, 'libvgpu.so');
const idle = join(built, 'libidle.so');
const unmappable = join(built, 'libunmappable.so');
const program = join(built, 'holding');

const fixture = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const compile = (target: string, ...argv: string[]) => execFileSync('cc', ['-O1', '-o', target, ...argv, '-ldl']);

beforeAll(() => {
  const source = fixture('fixtures/hami-stand-in.c');
  compile(library, '-shared', '-fPIC', source);
  compile(idle, '-shared', '-fPIC', '-DIDLE', source);
  // The dynamic loader goes on without a library that it cannot map.
  writeFileSync(unmappable, readFileSync(library).subarray(0, 64));
  compile(program, fixture('../native/fixtures/holding.c'));
});

interface Given {
  fault?: string;
  card?: string;
  command?: readonly string[];
  after?: readonly string[];
}

const measured = ['compare', 'OH-002', '--tier', 'quick', '--iterations', '20', '--system', 'native'];
const executed = ['exec', '--warmup', '0', '--iterations', '1'];

/** TMPDIR is the test's own, so that anything left behind is seen. */
async function run(system: readonly string[], { fault, card = '', command = measured, after = [] }: Given = {}) {
  const temporary = emptyFolder();
  const output = ['--json', '-', '--output', join(emptyFolder(), 'out')];
  const args = [...command, '--simulate', '--rounds', '1', ...output, ...system, ...after];
  const process = start(args, { PATH: pathWithMps(fault), TMPDIR: temporary }, `${sim}${card}`);
  const { code, stdout, stderr } = await process.done;
  await passing(() => expect(processesOf(process.mark)).toEqual([]));
  expect(readdirSync(temporary)).toEqual([]);
  return { code, stderr, round: stdout === '' ? undefined : parseComparison(stdout).systems.at(-1)?.[0] };
}

const under = (layer: string, mps = ''): string[] => [
  '--system',
  `mps:${mps}layer.kind=hami-core,layer.library=${layer},layer.memory=10GiB`,
];

/** YAML has no form of its own for the command line's `layer.…`. */
function fromFile(text: string): string[] {
  const file = join(emptyFolder(), 'systems.yaml');
  writeFileSync(file, text);
  return ['--config', file];
}

describe.concurrent('mps with a layer', () => {
  it('measures processes that are proven clients, and proven to be under the layer', async () => {
    const { code, stderr, round } = await run(under(library, 'sm=25,'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Round 1, mps') as string });
    expect(round?.metrics[0]?.status).toBe('ok');
    expect(round?.gpu[0]).toMatchObject({ mpsClient: true, multiprocessors: 33 });
    const { attestation = [], layer, settings, name, kind } = round?.system ?? {};
    expect({ name, kind, layer }).toMatchObject({ name: 'mps', kind: 'mps', layer: { path: library, active: true } });
    expect(settings).toMatchObject({
      LD_PRELOAD: library,
      CUDA_DEVICE_MEMORY_LIMIT: '10240m',
      CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '25',
    });
    expect(settings?.CUDA_DEVICE_MEMORY_SHARED_CACHE).toContain('/mps/layer/');
    expect(attestation.filter(({ passed }) => !passed)).toEqual([]);
    const names = attestation.map(({ proof }) => proof);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(
      expect.arrayContaining([
        'MPS attribute (CU_DEVICE_ATTRIBUTE_MPS_ENABLED)',
        'the daemon whose pipes the process names',
        'library identity (path, SHA-256)',
        'memory limit read back',
        'allocation of 10496 MiB is refused',
        'allocation of 7040 MiB is granted',
      ]),
    );
    expect(round?.warnings.join(' ')).toContain('its compute limit is off. Under MPS, sm of mps limits compute.');
  });

  it('is described in YAML, and proves the smaller limit of memory: that of mps', async () => {
    const layer = `{ kind: hami-core, library: ${library}, memory: 10GiB }`;
    const systems = `systems:\n  - native\n  - { kind: mps, name: both, memory: 6GiB, layer: ${layer} }\n`;
    const { code, round } = await run(fromFile(systems), { command: measured.slice(0, -2) });
    expect(code).toBe(0);
    expect(round?.system).toMatchObject({
      name: 'both',
      settings: { CUDA_DEVICE_MEMORY_LIMIT: '10240m', CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=6144M' },
    });
    const names = round?.system.attestation.map(({ proof }) => proof);
    expect(names).toContain('allocation of 6400 MiB is refused');
    expect(names).not.toContain('allocation of 7040 MiB is granted');
    expect(round?.warnings.join(' ')).not.toContain('is not checked');
  });

  it('says that the larger limit of mps is not checked', async () => {
    const { code, round } = await run(under(library, 'memory=20GiB,'));
    expect(code).toBe(0);
    expect(round?.warnings).toContain(
      "memory of mps (20480 MiB) is not checked: the layer's limit is no larger, and refuses first.",
    );
    expect(round?.system.attestation.map(({ proof }) => proof)).not.toContain('allocation of 20736 MiB is refused');
  });

  it('has a layer that its user describes, and takes over that it is not verified', async () => {
    const preload = `layer.kind=custom,layer.env.LD_PRELOAD=${interposerLibrary() ?? ''}`;
    const { code, round } = await run(['--system', `mps:${preload},layer.env.GVB_INTERPOSE=cuMemAlloc_v2=+1us`]);
    expect(code).toBe(0);
    expect(round?.system).toMatchObject({ name: 'mps (unverified)', layer: { active: true } });
    const proven = round?.system.attestation.filter(({ passed }) => passed).map(({ proof }) => proof);
    expect(proven).toContain('MPS attribute (CU_DEVICE_ATTRIBUTE_MPS_ENABLED)');
    expect(proven).toContain('the named libraries intercept');
  });

  it('is measured on a MIG instance', async () => {
    const layer = `layer.layer.kind=hami-core,layer.layer.library=${library},layer.layer.memory=4GiB`;
    const card = ',devices=2,card@0=h200,card@1=h200,mig@0=1g.18gb';
    const system = ['--system', `mig:profile=1g.18gb,layer.kind=mps,layer.sm=50,${layer}`];
    const { code, round } = await run(system, { card });
    expect(code).toBe(0);
    expect(round?.gpu[0]).toMatchObject({ mpsClient: true, multiprocessors: 8 });
    const names = round?.system.attestation.filter(({ passed }) => passed).map(({ proof }) => proof);
    expect(names).toEqual(
      expect.arrayContaining(['the process sees its MIG instance alone', 'allocation of 4352 MiB is refused']),
    );
  });

  it.each([
    ['is no client', library, 'fault-lost', /^layer not active: MPS attribute .*: 0: it runs without MPS/, /library/],
    ['does not map the layer', unmappable, undefined, /^layer not active: library identity .*not mapped/, /MPS attr/],
    ['has a layer without exports', idle, undefined, /^layer not active: exported driver functions/, /MPS attr/],
  ])('publishes nothing of a process that %s', async (_, layer, fault, says, holds) => {
    const { code, round } = await run(under(layer), { ...(fault !== undefined && { fault }) });
    expect(code).toBe(5);
    expect(round?.metrics[0]).toMatchObject({ status: 'invalid', value: null });
    expect(round?.metrics[0]?.reason).toMatch(says);
    expect(round?.system.attestation).toContainEqual(
      expect.objectContaining({ passed: true, proof: expect.stringMatching(holds) as string }),
    );
  });

  it('names both where a process is neither', async () => {
    const { code, round } = await run(under(unmappable), { fault: 'fault-lost' });
    expect(code).toBe(5);
    expect(round?.metrics[0]?.reason).toMatch(/MPS attribute .*; and layer not active: library identity/);
  });

  it.each<[string, readonly string[], number, boolean, RegExp]>([
    ['proves programs', [program, '3000'], 0, true, /libvgpu\.so is mapped in .*; NVML listed .* as clients of MPS/],
    ['disowns one without the layer', ['env', '-u', 'LD_PRELOAD', program, '3000'], 5, false, /without .*libvgpu\.so/],
    ['disowns one without the daemon', ['env', '-u', 'CUDA_MPS_PIPE_DIRECTORY', program, '3000'], 5, false, /not as a client of MPS/], // prettier-ignore
  ])('%s of exec', async (_, argv, exit, passed, says) => {
    const { code, round } = await run(under(library), { command: executed, after: ['--', ...argv] });
    const checks = round?.metrics[0]?.checks ?? [];
    const check = checks.find(({ name }) => name === 'processes of the program under the system');
    expect({ code, passed: check?.passed ?? false }).toEqual({ code: exit, passed });
    expect(passed ? check?.detail : round?.metrics[0]?.reason).toMatch(says);
  });

  it('starts nothing where the library is not there', async () => {
    const { code, stderr } = await run(under('/nowhere/libvgpu.so'));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('there is no such file') as string });
  });
});
