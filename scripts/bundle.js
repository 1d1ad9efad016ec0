// Makes gpu-virt-bench-linux-<arch>.tar.xz: Node, compiled code, run-time dependencies, addon and simulated driver, for
// a GPU server with no Node and no network. Unpack it there and run ./gpu-virt-bench doctor.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtParts, checkParts } from './built-parts.js';

const MAX_MIB = 32;
const root = fileURLToPath(new URL('..', import.meta.url));
const name = `gpu-virt-bench-linux-${process.arch}`;
const archive = join(process.cwd(), `${name}.tar.xz`);

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', ...options });
  if (result.status !== 0) {
    console.error(`${command} ${args.join(' ')} failed: ${result.error?.message ?? result.stderr}`);
    process.exit(1);
  }
  return result.stdout;
}

for (const built of ['dist/cli/main.js', 'build/Release/gpu_virt_bench.node']) {
  if (existsSync(join(root, built))) continue;
  console.error(`Expected ${built} to be built: run npm ci first.`);
  process.exit(1);
}

checkParts(join(root, 'build/Release'));
run(process.execPath, ['scripts/sbom.js']);

const staging = mkdtempSync(join(tmpdir(), 'gvb-bundle-'));
try {
  const app = join(staging, name, 'app');
  mkdirSync(app, { recursive: true });
  // Caches, and what a user put into the folder of a study.
  const notOurs = /(^|\/)__pycache__$|^.*\/studies\/[^/]+\/local$/;
  const copy = (path) =>
    cpSync(join(root, path), join(app, path), { recursive: true, filter: (each) => !notOurs.test(each) });
  // What the package has, with the build in the place of its prebuilds.
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const path of ['package.json', ...files.filter((each) => !each.startsWith('!') && each !== 'prebuilds')])
    copy(path);
  copy('studies');
  copy('build/Release/gpu_virt_bench.node');
  for (const part of builtParts) copy(`build/Release/${part}`);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  // `devOptional`: installed here for development, and a peer that a dependency can do without, such as TypeScript.
  for (const [path, { dev, devOptional }] of Object.entries(packages))
    if (path !== '' && !dev && !devOptional) copy(path);
  cpSync(process.execPath, join(staging, name, 'node'));
  const launcher = join(staging, name, 'gpu-virt-bench');
  writeFileSync(
    launcher,
    '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/node" "$here/app/dist/cli/main.js" "$@"\n',
  );
  chmodSync(launcher, 0o755);
  rmSync(archive, { force: true });
  run('tar', ['-cJf', archive, '--owner=0', '--group=0', '-C', staging, name], {
    env: { ...process.env, XZ_OPT: '-6 -T0' },
  });
} finally {
  rmSync(staging, { recursive: true, force: true });
}
const mib = statSync(archive).size / 2 ** 20;
console.log(`${relative(process.cwd(), archive)}: ${mib.toFixed(1)} MiB`);
if (mib > MAX_MIB) {
  console.error(`Expected a bundle of at most ${MAX_MIB} MiB.`);
  process.exit(1);
}
