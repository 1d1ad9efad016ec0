import { describe, expect, it } from 'vitest';
import { interposerLibrary, simulatedDriverFolder } from '../../../lib/native/load.js';
import { type Expected, proofOf } from '../../../lib/workloads/proof/proof.js';
import type { DriverOwners } from '../../../lib/workloads/proof/driver-owners.js';
import type { SeenProcess } from '../../../lib/workloads/proof/seen-process.js';

const layer = interposerLibrary() as string;
const driver = `${simulatedDriverFolder()}/libcuda.so.1`;
const seen = (change: Partial<SeenProcess> = {}): SeenProcess => ({
  pid: 7,
  name: 'prog',
  files: [process.execPath],
  isElsewhere: false,
  ...change,
});
const native: Expected = { system: 'native', isBare: true, layer: null };
const layered: Expected = {
  ...{ system: 'mine', layer },
  intercepted: { byPath: { runtime: ['cuLaunchKernel'], dlsym: ['cuLaunchKernel', 'cuInit'], linked: [] } },
};
/** What the witness saw in a process: the layer owns these functions on the two paths. */
const owning = (...functions: string[]): DriverOwners => {
  const owned = functions.length > 0 ? [{ owner: layer, functions }] : [];
  return {
    looked: { runtime: 137, dlsym: 137, linked: 137 },
    owned: { runtime: owned, dlsym: owned, linked: [] },
    patched: [],
  };
};
const LAYERS = { owner: layer, functions: ['cuLaunchKernel'] };
const TRAMPOLINE = { owner: 'memory without a file', functions: ['cuLaunchKernel'] };
const witness = '/usr/lib/libgvb-witness.so';

describe('the processes of a program', () => {
  it('are native where no layer is mapped in any', async () => {
    const all = [seen({ files: [process.execPath, driver] }), seen({ pid: 8 })];
    expect(await proofOf(all, native)).toEqual({ state: 'proven', detail: 'no layer is mapped in any of 2 processes' });
  });

  it('are not native where one maps what a layer is', async () => {
    expect(await proofOf([seen(), seen({ pid: 8, files: [layer] })], native)).toEqual({
      state: 'outside',
      detail: `${layer} is mapped in process 8 (prog), and exports what a GPU layer exports`,
    });
  });

  it('are not native where one calls what is not the driver, though no layer is mapped', async () => {
    const trampolines = { ...owning(), owned: { runtime: [], dlsym: [TRAMPOLINE], linked: [] } };
    expect(await proofOf([seen({ files: [driver], owners: trampolines })], native)).toEqual({
      state: 'outside',
      detail: 'in process 7 (prog), cuLaunchKernel on the path dlsym is in memory without a file, not in the driver',
    });
    expect(await proofOf([seen({ files: [driver], owners: owning() })], native)).toMatchObject({ state: 'proven' });
  });

  it('are under a layer that is mapped in all that used the driver, and intercepts there', async () => {
    const all = [
      seen(),
      seen({ pid: 8, files: [layer, driver], owners: owning('cuLaunchKernel') }),
      seen({ pid: 9, files: [layer] }),
    ];
    expect(await proofOf(all, layered)).toMatchObject({
      state: 'proven',
      detail: expect.stringMatching(
        /is mapped in 2 of 3 processes, and in every one that used the driver, where it intercepts as in a worker$/,
      ),
    });
  });

  it('are under a layer by patched code', async () => {
    const patched = { ...owning(), patched: [{ owner: layer, functions: ['cuLaunchKernel'] }] };
    expect(await proofOf([seen({ files: [layer, driver], owners: patched })], layered)).toMatchObject({
      state: 'proven',
    });
  });

  it.each([
    ['none', owning()],
    ['not the launch', owning('cuInit')],
    ['not on the path of the runtime', { ...owning('cuLaunchKernel'), owned: { ...owning().owned, dlsym: [LAYERS] } }],
  ])('are outside of a mapped layer that owns %s of the functions', async (_, owners) => {
    expect(await proofOf([seen({ files: [layer, driver], owners })], layered)).toEqual({
      state: 'outside',
      detail: `${layer} is mapped in process 7 (prog), but cuLaunchKernel on the path runtime is the driver's own, which the layer owns in a worker`,
    });
  });

  it('are proven by files alone where no worker was looked at', async () => {
    const server = { system: 'mine', layer };
    expect(await proofOf([seen({ files: [layer, driver] })], server)).toMatchObject({
      state: 'proven',
      detail: expect.stringMatching(/: whether it intercepts was not looked at$/),
    });
  });

  it('are proven with a fork by the process that it was forked from', async () => {
    const parent = seen({ files: [layer, driver], owners: owning('cuLaunchKernel') });
    const fork = seen({ pid: 8, files: [layer, driver, witness] });
    expect(await proofOf([parent, fork], layered)).toMatchObject({ state: 'proven' });
    expect(await proofOf([{ ...parent, owners: null }, fork], layered)).toMatchObject({ state: 'unproven' });
  });

  it.each([
    ['it was killed', { owners: null }, layered, 'its main thread did not end it by exit()'],
    ['it had no witness', {}, layered, 'it ran without libgvb-witness.so, as in a container'],
    [
      'nothing is known of a worker',
      { owners: owning('cuLaunchKernel') },
      { ...layered, intercepted: null },
      'the worker showed no function of the driver that it intercepts',
    ],
  ])('are unproven under a mapped layer where %s', async (_, look, expected, why) => {
    const { state, detail } = await proofOf([seen({ files: [layer, driver], ...look })], expected);
    expect(state).toBe('unproven');
    expect(detail).toContain(`who owns the driver's functions in process 7 (prog) could not be seen: ${why}`);
  });

  it.each([driver, '/dev/nvidia0'])('are outside where one has %s without the layer', async (file) => {
    const all = [seen({ files: [layer, driver] }), seen({ pid: 8, files: [file] })];
    expect(await proofOf(all, layered)).toMatchObject({
      state: 'outside',
      detail: expect.stringMatching(/^process 8 \(prog\) used the driver without .*libgvb-interpose\.so/),
    });
  });

  it.each([
    ['none was seen', [], native, /^no process of the program could be looked at/],
    ['the layer is mapped in none', [seen()], layered, /is mapped in none of 1 processes$/],
    ['one is in a container', [seen({ isElsewhere: true, files: [driver] })], layered, /file systems of its own/],
    ['the system shows in no file', [seen()], { system: 'x', layer: null }, /^nothing of x shows/],
  ] as const)('are unproven where %s', async (_, all, expected, detail) => {
    expect(await proofOf(all, expected)).toEqual({ state: 'unproven', detail: expect.stringMatching(detail) });
  });

  describe('in a pod', () => {
    const pod = { name: 'gvb-1', hooking: [] as string[] };
    const bare: Expected = { system: 'p', layer: null, isBare: true, pod };
    const under: Expected = { ...layered, pod };

    it.each([
      ['proven', 'nothing could be a layer', [seen({ files: [driver] })], bare, /^no layer is mapped in any of 1/],
      [
        'outside',
        'a file could be one there',
        [seen()],
        { ...bare, pod: { ...pod, hooking: [process.execPath] } },
        / is mapped in process 7 \(prog\), and exports/,
      ],
      [
        'proven',
        'the layer intercepts',
        [seen({ files: [layer, driver], owners: owning('cuLaunchKernel') })],
        under,
        /where it intercepts as in a worker/,
      ],
      ['outside', 'the driver was used without it', [seen({ files: [driver] })], under, /used the driver without/],
      ['unproven', 'only a shell loaded the layer', [seen({ files: [layer] })], under, /used the GPU, and others/],
      ['unproven', 'none that was seen used the GPU', [seen()], bare, /used the GPU, and others cannot be seen/],
      ['unproven', 'none loaded the witness', [], bare, /^not checked: no process loaded the witness/],
      ['unproven', 'nothing could be written', [], { ...bare, failed: 'no file' }, /^not checked: no file/],
      ['unproven', 'there is MPS', [seen()], { ...bare, isBare: false }, /^not checked: clients of MPS/],
    ] as const)('are %s where %s', async (state, _, all, expected, detail) => {
      const found = await proofOf(all, expected);
      expect(found).toEqual({ state, detail: expect.stringMatching(detail) });
      expect(found.detail).toMatch(/, in pod gvb-1$/);
    });
  });

  it('are unproven where there were more than could be looked at, and outside as before', async () => {
    expect(await proofOf([seen()], { ...native, unread: 3 })).toEqual({
      state: 'unproven',
      detail: 'no layer is mapped in any of 1 processes; 3 more were not looked at: there were too many',
    });
    expect(await proofOf([seen({ files: [layer] })], { ...native, unread: 3 })).toMatchObject({ state: 'outside' });
  });

  it('are unproven where the witness could not be read, and outside as before', async () => {
    const failed = 'the records are gone';
    expect(await proofOf([seen()], { ...native, failed })).toEqual({
      state: 'unproven',
      detail: 'not checked: the records are gone',
    });
    expect(await proofOf([seen({ files: [layer] })], { ...native, failed })).toMatchObject({ state: 'outside' });
  });
});
