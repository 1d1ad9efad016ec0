import { describe, expect, it } from 'vitest';
import { interposerLibrary, simulatedDriverFolder } from '../../lib/native/load.js';
import { type Expected, proofOf } from '../../lib/workloads/proof.js';
import type { SeenProcess } from '../../lib/workloads/seen-process.js';

const layer = interposerLibrary() as string;
const driver = `${simulatedDriverFolder()}/libcuda.so.1`;
const seen = (change: Partial<SeenProcess> = {}): SeenProcess => ({
  pid: 7,
  name: 'prog',
  files: [process.execPath],
  isElsewhere: false,
  ...change,
});
const native: Expected = { system: 'native', kind: 'native', layer: null };
const layered: Expected = { system: 'mine', kind: 'custom', layer };

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

  it('are under a layer that is mapped in all that used the driver', async () => {
    const all = [seen(), seen({ pid: 8, files: [layer, driver] }), seen({ pid: 9, files: [layer] })];
    expect(await proofOf(all, layered)).toMatchObject({
      state: 'proven',
      detail: expect.stringContaining('is mapped in 2 of 3 processes, and in every one that used the driver'),
    });
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
    ['the system shows in no file', [seen()], { system: 'x', kind: 'custom', layer: null }, /^nothing of x shows/],
  ] as const)('are unproven where %s', async (_, all, expected, detail) => {
    expect(await proofOf(all, expected)).toEqual({ state: 'unproven', detail: expect.stringMatching(detail) });
  });

  it('are unproven where there were more than could be looked at, and outside as before', async () => {
    expect(await proofOf([seen()], { ...native, unread: 3 })).toEqual({
      state: 'unproven',
      detail: 'no layer is mapped in any of 1 processes; 3 more were not looked at: there were too many',
    });
    expect(await proofOf([seen({ files: [layer] })], { ...native, unread: 3 })).toMatchObject({ state: 'outside' });
  });
});
