// Lists the symbols of the prebuilt objects that need a glibc newer than the floor, and fails on any: prebuilds and bundle
// must run wherever the oldest supported Node does.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisedFiles } from './built-parts.js';

const FLOOR = [2, 28];
const prebuilds = fileURLToPath(new URL('../prebuilds', import.meta.url));
const platforms = existsSync(prebuilds) ? readdirSync(prebuilds) : [];
if (platforms.length === 0) {
  console.error('Expected prebuilds: run npm run prebuild first.');
  process.exit(1);
}
const objects = platforms.flatMap((platform) =>
  ['gpu-virt-bench.glibc.node', ...promisedFiles].map((file) => `${prebuilds}/${platform}/${file}`),
);
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
console.log(
  `${objects.length} objects of ${platforms.join(' and ')} need nothing newer than glibc ${FLOOR.join('.')}.`,
);
