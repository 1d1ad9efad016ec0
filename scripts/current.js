// Whether what is built was made from today's sources, by their content: times change when a checkout is copied or moved.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `last`: the files that a build makes last; `folder`: where they are. */
const builds = {
  ts: {
    folder: 'dist',
    sources: ['lib', 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'],
    last: ['dist/cli/main.js', 'dist/report/charts/echarts.LICENSE.txt'],
  },
  native: {
    folder: 'build',
    sources: ['native', 'scripts', 'binding.gyp', 'package.json', 'package-lock.json'],
    last: ['gpu_virt_bench.node', 'sim/libcuda.so.1', 'interpose/libgvb-count.so', 'keeper/gvb-keeper'].map(
      (file) => `build/Release/${file}`,
    ),
  },
};

const recordOf = (name) => join(root, builds[name].folder, 'built-from');

function addTo(hash, path) {
  const file = join(root, path);
  if (!statSync(file).isDirectory()) return hash.update(`${path}\0`).update(readFileSync(file)).update('\0');
  for (const name of readdirSync(file).sort()) if (name !== '__pycache__') addTo(hash, join(path, name));
}

/** Digest of everything that the build reads. */
export function sourcesOf(name) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\0`);
  for (const path of builds[name].sources) addTo(hash, path);
  return hash.digest('hex');
}

export function isCurrent(name) {
  if (![...builds[name].last.map((file) => join(root, file)), recordOf(name)].every(existsSync)) return false;
  return readFileSync(recordOf(name), 'utf8') === sourcesOf(name);
}

/** To be called before a build: one that fails leaves nothing that looks complete. */
export const forget = (name) => rmSync(recordOf(name), { force: true });

/** `sources`: before the build, so that a change during it is seen. */
export function remember(name, sources) {
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(recordOf(name), sources);
}
