// Lists the symbols of the built objects that need a glibc newer than the floor, and fails on any: prebuilds and bundle
// must run wherever the oldest supported Node does.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisedFiles } from './built-parts.js';

const FLOOR = [2, 28];
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}/prebuilds/${process.platform}-${process.arch}`;
const objects = ['gpu-virt-bench.glibc.node', ...promisedFiles].map((file) => `${folder}/${file}`).filter(existsSync);
if (objects.length === 0) {
  console.error('Expected prebuilds: run npm run prebuild first.');
  process.exit(1);
}
const { status, stdout, stderr } = spawnSync('objdump', ['-T', ...objects], { encoding: 'utf8' });
if (status !== 0) {
  console.error(`objdump failed: ${stderr}`);
  process.exit(1);
}
const newer = new Set();
for (const [, version, minor, symbol] of stdout.matchAll(/\(?(GLIBC_2\.(\d+)(?:\.\d+)?)\)?\s+(\S+)$/gm))
  if (Number(minor) > FLOOR[1]) newer.add(`${symbol} ${version}`);
if (newer.size > 0) {
  console.error(`Newer than glibc ${FLOOR.join('.')}:\n  ${[...newer].sort().join('\n  ')}`);
  process.exit(1);
}
console.log(`${objects.length} objects need nothing newer than glibc ${FLOOR.join('.')}.`);
