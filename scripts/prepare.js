// npm's `prepare`, in a checkout only: compiles TypeScript, marks the command executable, builds the native parts.
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

function node(script, ...args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

rmSync(`${root}/dist`, { recursive: true, force: true });
node(require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
chmodSync(`${root}/dist/cli/main.js`, 0o755);
if (process.platform === 'linux') node('scripts/build-native.js');
else console.log('Measuring needs Linux: the native parts are not built here. Reports and schemas work.');
