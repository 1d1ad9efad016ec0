// Makes dist/ from lib/: compiled, with the parts of ECharts bundled and the page's own files beside it.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCharts } from './bundle-charts.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

// What a source that is gone left behind would be tested, and shipped, for ever.
rmSync(join(root, 'dist'), { recursive: true, force: true });
try {
  const compiler = require.resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
} catch {
  process.exit(1);
}
for (const file of ['report/html/page.css', 'report/html/page.js'])
  copyFileSync(join(root, 'lib', file), join(root, 'dist', file));
await bundleCharts();
chmodSync(join(root, 'dist/cli/main.js'), 0o755);
