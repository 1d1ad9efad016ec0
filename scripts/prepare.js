// npm's `prepare`, in a checkout only: makes dist/, builds the native parts. `npx gpu-virt-bench` in a checkout makes npm
// run it again, which then finds nothing to do.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isCurrent } from './current.js';

const root = fileURLToPath(new URL('..', import.meta.url));

function node(script) {
  const { status } = spawnSync(process.execPath, [script], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!isCurrent('ts')) node('scripts/build-ts.js');
if (process.platform === 'linux') {
  if (!isCurrent('native')) node('scripts/build-native.js');
} else console.log('Measuring needs Linux: the native parts are not built here. Reports and schemas work.');
