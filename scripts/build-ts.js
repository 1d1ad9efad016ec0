// Makes dist/ from lib/: compiled and joined into few files, with the parts of ECharts and the page's own files.
// With --if-changed it does nothing unless a source is newer than dist/. With --no-check it neither checks nor writes
// types, for callers that run tsc on the whole checkout anyway. Writes generated sources first.
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

/** The file that is written last: without it dist/ is incomplete. */
const last = join(root, 'dist/report/charts/echarts.LICENSE.txt');
const began = new Date();

/** Latest change of a file, or of a folder and everything in it; a folder changes when a file is added or removed. */
function changedAt(path) {
  const stat = statSync(path);
  const below = stat.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stat.mtimeMs, ...below);
}

const sources = ['lib', 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
const isCurrent = () =>
  existsSync(last) && sources.every((name) => changedAt(join(root, name)) < statSync(last).mtimeMs);
if (process.argv.includes('--if-changed') && isCurrent()) process.exit(0);

// Otherwise the output of a deleted source would still be tested and shipped.
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
// Marks dist/ as older than any change that was made during the build.
utimesSync(last, began, began);
