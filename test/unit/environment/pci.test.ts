import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { mpsState } from '../../../lib/environment/mps.js';
import { nvidiaOnPciBus } from '../../../lib/environment/pci.js';
import { temporaryFolder } from '../../temporary.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

it.each([
  ['0x10de', true],
  ['0x8086', false],
])('knows the vendor %s', (vendor, nvidia) => {
  mkdirSync(join(folder, '0000:00:01.0'));
  writeFileSync(join(folder, '0000:00:01.0', 'vendor'), `${vendor}\n`);
  expect(nvidiaOnPciBus(folder)).toBe(nvidia);
});

it('is unknown if there is no bus to read', () => expect(nvidiaOnPciBus(join(folder, 'none'))).toBeNull());

it('finds the control pipe of an MPS daemon by the environment', () => {
  const environment = { CUDA_MPS_PIPE_DIRECTORY: folder };
  expect(mpsState(environment)).toEqual({ pipeDirectory: folder, controlPipe: false });
  writeFileSync(join(folder, 'control'), '');
  expect(mpsState(environment)).toEqual({ pipeDirectory: folder, controlPipe: true });
});
