// npm's `prepare`, in a checkout only: makes dist/, builds the native parts. `npx gpu-virt-bench` in a checkout makes npm
// run it again, which then finds nothing to do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isCurrent } from './current.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Its exit code. */
async function node(script) {
  const [code] = await once(spawn(process.execPath, [script], { cwd: root, stdio: 'inherit' }), 'exit');
  return code ?? 1;
}

const builds = isCurrent('ts') ? [] : ['scripts/build-ts.js'];
if (process.platform !== 'linux')
  console.log('Measuring needs Linux: the native parts are not built here. Reports and schemas work.');
else if (!isCurrent('native')) builds.push('scripts/build-native.js');
// Side by side, because each has stretches that keep one processor busy.
process.exitCode = Math.max(0, ...(await Promise.all(builds.map(node))));
