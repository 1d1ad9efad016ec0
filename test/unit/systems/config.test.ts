import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../lib/systems/input/config.js';
import { libraryFile, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
libraryFile(folder);
libraryFile(folder, 'layer.so');

async function read(text: string) {
  const file = join(folder, 'systems.yaml');
  writeFileSync(file, text);
  return (await readConfig(file)).systems;
}
const refusal = async (text: string): Promise<string> =>
  read(text).then(
    () => 'accepted',
    (error: Error) => error.message.replace(`${folder}/`, ''),
  );

describe('a configuration', () => {
  it('reads the example of the documentation', async () => {
    const systems = await read(`
systems:
  - native
  - name: hami-50
    kind: hami-core
    library: libvgpu.so
    memory: 10GiB
    sm: 50
  - name: mine
    kind: custom
    env: { LD_PRELOAD: ${folder}/layer.so, LAYER_STATE: "{runDir}/state" }
    stateFiles: ["{runDir}/state"]
    prefix: [taskset, -c, "0"]
    verify:
      - symbolOwner: { symbol: cuLaunchKernel, matches: "layer\\\\.so" }
      - symbolExported: some_symbol
      - env: { name: LAYER_STATE, value: "…" }
      - smCount: [1, 132]
      - totalMemory: [1GiB, 141GiB]
      - allocationCanary: 11GiB          # must be refused
      - command: { argv: [true], exit: 0, matches: "" }
`);
    expect(systems.map(({ name }) => name)).toEqual(['native', 'hami-50', 'mine']);
    const [, hami] = systems;
    await hami?.prepare(runState(folder));
    expect(hami?.environment()).toMatchObject({ LD_PRELOAD: join(folder, 'libvgpu.so'), CUDA_DEVICE_SM_LIMIT: '50' });
    await hami?.teardown();
  });

  it('reads vgpu-manager and MPS partitions', async () => {
    const [vgpu, mps] = await read(`
systems:
  - name: vgpu-aimd
    kind: vgpu-manager
    library: libvgpu.so
    memory: 20GiB
    cores: 30
    soft-cores: 60
    controller: aimd
  - kind: mps
    memory: 50%
    partition: 4
`);
    await vgpu?.prepare(runState(folder));
    expect(vgpu?.environment()).toMatchObject({
      CUDA_MEM_LIMIT_0: '20480Mi',
      CUDA_CORE_LIMIT_0: '30',
      CUDA_CORE_SOFT_LIMIT_0: '60',
      CUDA_SM_CONTROLLER: 'aimd',
    });
    await vgpu?.teardown();
    expect(mps?.capabilities).toMatchObject({ memLimit: 'perProcess', computeLimit: 'hardware' });
    // No tenant can be given another share of the SMs.
    expect(mps?.limitsCoexist).toBe(false);
    await mps?.prepare(runState(folder));
    expect(mps?.limits({ id: 1, limits: { smPercent: 30 } }).smPercent).toBeNull();
    await mps?.teardown();
  });

  it('names the library that LD_PRELOAD splits, not its parts', async () => {
    libraryFile(folder, 'with space.so');
    const custom = (preload: string) => `systems:\n  - { kind: custom, name: a, env: { LD_PRELOAD: "${preload}" } }`;
    for (const preload of [`${folder}/with space.so`, `${folder}/layer.so:${folder}/with space.so`])
      expect(await refusal(custom(preload))).toMatch(/with space\.so': LD_PRELOAD separates paths at spaces: give/);
    expect(await refusal(custom(`${folder}/layer.so:${folder}/libvgpu.so`))).toBe('accepted');
  });

  it('reads JSON', async () =>
    expect(await read('{"systems": [{"kind": "fcsp", "sm": 50, "uvm": true, "env": {"A": 1}}]}')).toHaveLength(1));

  it.each([
    ['systems: [native', /^systems\.yaml:1:\d+: Expected YAML but /],
    ['systems:\n  - native\n - x: [', /^systems\.yaml:3:\d+: Expected YAML but /],
    ['systems:\n  - native\nsystems: []', /^systems\.yaml:3:1: Expected YAML but .*unique/],
    [
      'systems:\n  - kind: hami-core\n    memory: 4XB',
      /^systems\.yaml:3:13: Expected memory of hami-core to be a size/,
    ],
    [
      'systems:\n  - kind: hami-core\n    memry: 4GB',
      /^systems\.yaml:3:12: Expected a key of hami-core but received 'memry': did you mean memory\?/,
    ],
    [
      'systems:\n  - kind: custom\n    name: a\n    verify:\n      - smCount: [9, 1]',
      /^systems\.yaml:5:18: Expected smCount/,
    ],
    [
      'systems:\n  - kind: custom\n    name: a\n    setup: rm -rf /',
      /^systems\.yaml:4:12: Expected setup of custom to be a command as a list/,
    ],
    ['systems:\n  - name: a', /^systems\.yaml:2:5: Expected a system to have kind/],
    ['systems:\n  - nativ', /^systems\.yaml:2:5: .*did you mean native/],
    ['systems:\n  - native\n  - native', /^systems\.yaml:2:3: Expected systems of different names/],
    [
      'sistems: []',
      /^systems\.yaml:1:10: Expected a key of the configuration but received 'sistems': did you mean systems\?/,
    ],
    ['systems: []', /^systems\.yaml:1:10: Expected systems of the configuration to be a list/],
    ['systems:', /Expected systems of the configuration to be a list/],
    ['', /Expected a map with the key systems/],
    ['- native', /Expected a map with the key systems/],
    ['systems:\n  - kind: custom\n    name: a\n    __proto__: { polluted: yes }', /received '__proto__'/],
    ['a: 1\n---\nb: 2', /Expected YAML but /],
    [
      'systems:\n  - kind: fcsp\n    sm:',
      /^systems\.yaml:3:\d+: Expected sm of fcsp to be an integer from 1 to 100 but received ''/,
    ],
    ['systems:\n  -', /^systems\.yaml:2:\d+: Expected a/],
    ['systems:\n  - kind: custom\n    name: a\n    env: ', /Expected env of custom to be a map/],
    ['? [a, b]\n: x', /Expected/],
    ['systems: !!js/function "x"', /Expected/],
  ])('is refused with its line: %j', async (text, message) => expect(await refusal(text)).toMatch(message));

  it('limits the expansion of aliases', async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
    expect(await refusal(['l0: &l0 [x, x]', ...levels, 'systems: *l9'].join('\n'))).toMatch(
      /^systems\.yaml:7:9: Expected at most 1048576 values, with what aliases name/,
    );
  });

  it('limits the depth of nesting', async () =>
    expect(await refusal(`systems: ${'['.repeat(50_000)}`)).toMatch(
      /^systems\.yaml:1:110: Expected YAML of at most 100 levels but it is nested deeper\.$/,
    ));

  it.each([
    [
      '/nowhere/x.yaml',
      /Expected --config to be a YAML file but received '\/nowhere\/x\.yaml': there is no such file\.$/,
    ],
    ['/dev/zero', /it is not a regular file/],
  ])('is refused as %s', async (file, message) => {
    await expect(readConfig(file)).rejects.toThrow(message);
  });
});
