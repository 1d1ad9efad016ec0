import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

export default function build(): void {
  // What a source that is gone left behind would be tested, and shipped, for ever.
  rmSync(`${root}/dist`, { recursive: true, force: true });
  execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  chmodSync(`${root}/dist/cli/main.js`, 0o755);
  if (process.platform === 'linux' && !existsSync(`${root}/build/Release/gpu_virt_bench.node`))
    throw new Error('The native parts are not built: run npm ci, or npm run build:native.');
}
