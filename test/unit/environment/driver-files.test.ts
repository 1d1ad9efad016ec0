/** The kernel module's files in /proc. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDriverFiles } from '../../../lib/environment/driver-files.js';
import { temporaryFolder } from '../../temporary.js';

it.each([
  ['NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@host)', '580.159.04'],
  ['NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82  Wed Oct 27 21:21:55 UTC 2021', '470.82'],
  ['GCC version: gcc 12.3.0', null],
])('reads the version from %j', (line, version) => {
  const folder = temporaryFolder('proc');
  writeFileSync(join(folder, 'version'), `${line}\nGCC version:  gcc version 12.3.0\n`);
  for (const [gpu, model] of [
    ['0000:1b:00.0', 'NVIDIA H200'],
    ['0000:3b:00.0', 'NVIDIA H100 80GB HBM3'],
  ] as const) {
    mkdirSync(join(folder, 'gpus', gpu), { recursive: true });
    writeFileSync(join(folder, 'gpus', gpu, 'information'), `Model: \t\t ${model}\nIRQ:   \t\t 18\n`);
  }
  expect(readDriverFiles(folder)).toEqual({ version, gpus: ['NVIDIA H200', 'NVIDIA H100 80GB HBM3'] });
});

it('is empty if there is no module', () => expect(readDriverFiles('/nowhere')).toEqual({ version: null, gpus: [] }));
