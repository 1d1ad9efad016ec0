// Makes prebuilds/<platform>-<arch> of what npm run build:native made: the addon, stripped, with the name that node-gyp-build
// expects, the simulated driver, the interposer, the probe program and the files with which exec starts programs. The
// addon uses Node-API alone, so one build serves every Node.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtParts, checkParts } from './built-parts.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = `${root}build/Release`;
const folder = `${root}prebuilds/${process.platform}-${process.arch}`;
const addon = `${folder}/gpu-virt-bench.glibc.node`;

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, ['scripts/build-native.js']);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(`${built}/gpu_virt_bench.node`, addon);
run('strip', ['--strip-all', addon]);
for (const part of builtParts) cpSync(`${built}/${part}`, `${folder}/${part}`, { recursive: true });
checkParts(folder);
console.log(`${folder}: ${readdirSync(folder, { recursive: true }).join(', ')}`);
