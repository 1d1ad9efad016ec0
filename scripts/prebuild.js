// Makes prebuilds/<platform>-<arch>: the addon as node-gyp-build looks for it, with the simulated driver, the
// interposer, the probe program and what exec starts programs with beside it.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildEnvironment } from './build-environment.js';
import { builtParts, checkParts } from './built-parts.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const { status } = spawnSync(
  process.execPath,
  [require.resolve('prebuildify/bin.js'), '--napi', '--strip', '--tag-libc', '-t', process.versions.node],
  { cwd: root, stdio: 'inherit', env: buildEnvironment },
);
if (status !== 0) process.exit(status ?? 1);

const folder = `${root}/prebuilds/${process.platform}-${process.arch}`;
// prebuildify takes every shared object of the build along; only the addon belongs here.
for (const file of readdirSync(folder)) if (!file.endsWith('.node')) rmSync(`${folder}/${file}`, { recursive: true });
for (const part of builtParts) cpSync(`${root}/build/Release/${part}`, `${folder}/${part}`, { recursive: true });
const made = readdirSync(folder, { recursive: true });
const addon = 'gpu-virt-bench.glibc.node';
if (!made.includes(addon)) {
  console.error(`Expected prebuilds to hold ${addon} but they hold ${made.join(', ')}.`);
  process.exit(1);
}
checkParts(folder);
console.log(`${folder}: ${made.join(', ')}`);
