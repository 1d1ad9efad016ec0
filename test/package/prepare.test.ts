/** npm's `prepare`, which npm runs again for every `npx gpu-virt-bench` in a checkout. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyFolder, root } from '../cli/command.js';

const outputs = [
  ...['dist/cli/main.js', 'dist/report/charts/echarts.LICENSE.txt'],
  ...['gpu_virt_bench.node', 'sim/libcuda.so.1', 'interpose/libgvb-count.so', 'keeper/gvb-keeper'].map(
    (file) => `build/Release/${file}`,
  ),
];

interface Current {
  sourcesOf: (name: string) => string;
  remember: (name: string, sources: string) => void;
  isCurrent: (name: string) => boolean;
}
const currentOf = (folder: string) => import(join(folder, 'scripts/current.js')) as Promise<Current>;

it('builds nothing in a checkout that was built and then copied and moved, and again after a change', async () => {
  const copy = join(emptyFolder(), 'copy');
  const manifests = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'binding.gyp'];
  for (const path of ['lib', 'scripts', 'native', ...manifests])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  for (const file of outputs) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), 'built');
  }
  const built = await currentOf(copy);
  for (const name of ['ts', 'native']) built.remember(name, built.sourcesOf(name));

  const moved = join(emptyFolder(), 'moved to');
  renameSync(copy, moved);
  // There is nothing to build with: no compiler, and no node_modules.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/prepare.js'], {
    cwd: moved,
    env: {},
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  for (const file of outputs) expect(readFileSync(join(moved, file), 'utf8')).toBe('built');

  const { isCurrent, remember, sourcesOf } = await currentOf(moved);
  appendFileSync(join(moved, 'lib/index.ts'), '\n');
  expect([isCurrent('ts'), isCurrent('native')]).toEqual([false, true]);
  appendFileSync(join(moved, 'native/keeper/main.cpp'), '\n');
  expect(isCurrent('native')).toBe(false);
  remember('ts', sourcesOf('ts'));
  rmSync(join(moved, 'dist/cli/main.js'));
  expect(isCurrent('ts')).toBe(false);
});
