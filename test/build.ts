import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export default function build(): void {
  execFileSync(process.execPath, ['scripts/build-ts.js', '--if-changed'], { cwd: root, stdio: 'inherit' });
  if (process.platform === 'linux' && !existsSync(`${root}/build/Release/gpu_virt_bench.node`))
    throw new Error('The native parts are not built: run npm ci, or npm run build:native.');
}
