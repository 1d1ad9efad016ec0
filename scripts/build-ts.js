// Makes dist/ from lib/: compiled and joined into few files and one of types, with the parts of ECharts and the page's own files.
// With --if-changed it does nothing unless a source has changed since. With --no-check it neither checks nor writes
// types, for callers that run tsc on the whole checkout anyway. Writes generated sources: those that list files first,
// those of settings from dist/, which is made again if they changed.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import { bundleCharts } from './bundle-charts.js';
import { bundleProgram } from './bundle-program.js';
import { bundleTypes } from './bundle-types.js';
import { forget, isCurrent, remember, sourcesOf } from './current.js';
import { writeGeneratedSources } from './generated-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const isChecked = !process.argv.includes('--no-check');

/** What tsc emits without its checks, file by file, which `isolatedModules` allows; it takes a tenth of the time. */
function stripTypes() {
  const lib = join(root, 'lib');
  for (const name of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const file = join(lib, name);
    const typescript = { onlyRemoveTypeImports: true };
    const { code, errors } = transformSync(file, readFileSync(file, 'utf8'), { target: 'es2022', typescript });
    if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`);
    const target = join(root, 'dist', name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
}

/** Makes all of dist/; returns the digest of what it was made from. */
async function build() {
  const sources = sourcesOf('ts');
  forget('ts');
  // Otherwise the output of a deleted source would still be tested and shipped.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  if (isChecked) {
    // That of version 7 takes a third of the time; other tools here still need the API of version 5.
    const args = [join(root, 'node_modules/typescript7/bin/tsc'), '-p', 'tsconfig.build.json'];
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(1);
    await bundleTypes();
  } else {
    stripTypes();
  }
  await bundleProgram();
  for (const file of ['report/html/page.css', 'report/html/fleet.css', 'report/html/page.js'])
    copyFileSync(join(root, 'lib', file), join(root, 'dist', file));
  chmodSync(join(root, 'dist/cli/main.js'), 0o755);
  await bundleCharts();
  return sources;
}

await writeGeneratedSources();
if (process.argv.includes('--if-changed') && isCurrent('ts')) process.exit(0);
let sources = await build();
const { writeSettings } = await import('./settings.js');
if (await writeSettings()) sources = await build();
// Without types it is not complete.
if (isChecked) remember('ts', sources);
