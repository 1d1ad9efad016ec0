// Makes dist/ from lib/: compiled and joined into few files, with the parts of ECharts and the page's own files.
// With --if-changed only where something that it is made of is newer than it; with --no-check neither checks nor writes
// types, where tsc checks the whole checkout anyway. Writes generated sources first.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCharts } from './bundle-charts.js';
import { bundleProgram } from './bundle-program.js';
import { writeGeneratedSources } from './generated-sources.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

writeGeneratedSources();

/** The last that is written: without it dist/ is not whole. */
const last = join(root, 'dist/report/charts/echarts.LICENSE.txt');
const began = new Date();

/** A folder changes when a file in it comes or goes. */
function changedAt(path) {
  const stat = statSync(path);
  const below = stat.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stat.mtimeMs, ...below);
}

const sources = ['lib', 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
const isCurrent = () =>
  existsSync(last) && sources.every((name) => changedAt(join(root, name)) < statSync(last).mtimeMs);
if (process.argv.includes('--if-changed') && isCurrent()) process.exit(0);

// What a source that is gone left behind would be tested, and shipped, for ever.
rmSync(join(root, 'dist'), { recursive: true, force: true });
try {
  const compiler = require.resolve('typescript/bin/tsc');
  const unchecked = process.argv.includes('--no-check') ? ['--noCheck', '--declaration', 'false'] : [];
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', ...unchecked], {
    cwd: root,
    stdio: 'inherit',
  });
} catch {
  process.exit(1);
}
await bundleProgram();
for (const file of ['report/html/page.css', 'report/html/page.js'])
  copyFileSync(join(root, 'lib', file), join(root, 'dist', file));
chmodSync(join(root, 'dist/cli/main.js'), 0o755);
await bundleCharts();
// What changed since is not in it.
utimesSync(last, began, began);
