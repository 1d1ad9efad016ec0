// What a build has beside the addon, as folders of build/Release, and the files that must be in them. Prebuilds and the bundle hold
// all of it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const builtParts = ['sim', 'interpose', 'probe', 'keeper'];

export const promisedFiles = [
  'sim/libcuda.so.1',
  'sim/libnvidia-ml.so.1',
  'sim/nccl/libnccl.so.2',
  'interpose/libgvb-interpose.so',
  'interpose/libgvb-count.so',
  'probe/gvb-probe',
  'keeper/gvb-keeper',
  'keeper/libgvb-witness.so',
];

/** Exits with 1 if `folder` lacks one of them. */
export function checkParts(folder) {
  const missing = promisedFiles.filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return;
  console.error(`Expected ${folder} to hold ${missing.join(', ')}: run npm run build:native first.`);
  process.exit(1);
}
