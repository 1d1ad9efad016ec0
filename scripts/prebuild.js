// Makes prebuilds/<platform>-<arch> of what npm run build:native made: the addon, with the name that node-gyp-build
// expects, the simulated driver, the interposer, the probe program and the files with which exec starts programs, all
// stripped. The addon uses Node-API alone, so one build serves every Node.
//   npm run prebuild                   for this machine
//   npm run prebuild -- --arch=arm64   for another one, with a cross compiler
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { builtParts, checkParts } from './built-parts.js';
import { crossBuild, toolchainOf } from './cross-build.js';
import { isCurrent } from './current.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { arch: { type: 'string', default: process.arch } } });
const isOwn = values.arch === process.arch;
const folder = `${root}prebuilds/${process.platform}-${values.arch}`;

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function build() {
  if (!isOwn) return crossBuild(values.arch);
  if (!isCurrent('native')) run(process.execPath, ['scripts/build-native.js']);
  return `${root}build/Release`;
}

const built = build();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(`${built}/gpu_virt_bench.node`, `${folder}/gpu-virt-bench.glibc.node`);
for (const part of builtParts) cpSync(`${built}/${part}`, `${folder}/${part}`, { recursive: true });
checkParts(folder);
// It can load a driver only beside the C library of this machine.
rmSync(`${folder}/probe/gvb-probe-static`);
const files = readdirSync(folder, { recursive: true })
  .map((file) => `${folder}/${file}`)
  .filter((file) => statSync(file).isFile());
run(isOwn ? 'strip' : `${toolchainOf(values.arch)}-strip`, ['--strip-all', ...files]);
console.log(`${folder}: ${readdirSync(folder, { recursive: true }).join(', ')}`);
