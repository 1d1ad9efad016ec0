// The programs that only bench/ needs, built on demand.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const path = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** The path of one of them. */
export function program(name) {
  const { status } = spawnSync(process.execPath, [path('scripts/build-native.js'), '--bench'], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  return path(`build/Release/${name}`);
}
