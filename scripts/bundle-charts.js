// Replaces dist/report/charts/echarts.js by a bundle that includes the imported parts of ECharts and zrender, and
// writes their licences next to it, so that installing the package installs neither.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { noticesOf } from './licences.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'dist/report/charts/echarts.js');

const folderOf = (path, from) => dirname(createRequire(from).resolve(path));
const echarts = folderOf('echarts/package.json', import.meta.url);
const zrender = folderOf('zrender/package.json', join(echarts, 'package.json'));
// tslib does not export its manifest.
const tslib = folderOf('tslib', join(zrender, 'package.json'));

const HEAD =
  'echarts.js in this folder holds parts of ECharts, ZRender and tslib, bundled and minified, otherwise unchanged.';

export async function bundleCharts() {
  const bundle = await rolldown({
    input: file,
    platform: 'node',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const banner = '/*! Parts of Apache ECharts and ZRender: see echarts.LICENSE.txt */';
  const { output } = await bundle.generate({ format: 'esm', minify: true, banner });
  await bundle.close();
  const left = output[0].imports.filter((name) => !name.startsWith('node:'));
  if (output.length !== 1 || left.length > 0)
    throw new Error(`Expected one self-contained bundle but received imports of ${left.join(', ') || 'other chunks'}.`);
  writeFileSync(file, output[0].code);
  writeFileSync(join(dirname(file), 'echarts.LICENSE.txt'), noticesOf(HEAD, [echarts, zrender, tslib]));
}
