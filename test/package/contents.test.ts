/**
 * The files that npm would publish, and which of them can be imported. Prebuilds are made in CI and not checked here.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { emptyFolder, root } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';

interface Packed {
  name: string;
  version: string;
  unpackedSize: number;
  files: { path: string; mode: number; size: number }[];
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let packed: Packed;
let paths: string[];

function pack(): Packed {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: emptyFolder() },
    timeout: WAIT_MS,
  });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  return JSON.parse(stdout)[0];
}

beforeAll(() => {
  packed = pack();
  paths = packed.files.map(({ path }) => path);
});

/** Files that Markdown links to, without the fragment. */
const linksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));

/** Files that users, the program itself, scripts and benchmarks start or import by path. */
const entries = [
  'cli/main',
  'results/call-profile',
  'results/text/category-title',
  'report/formats',
  'results/document',
  'results/text/effect-text',
  'results/upgraded',
  'index',
  'rendering',
  'all-settings',
  'run/effects/detect',
  'run/effects/family',
  'run/effects/judged',
  'metrics/core/details',
  'metrics/first-run',
  'metrics/purposes',
  'metrics/recorded-variances',
  'metrics/registry',
  'stats/jain',
  'stats/largest',
  'stats/random',
  'stats/serial',
  'stats/slope',
  'stats/figure-of-windows',
  'systems/kinds/container/container-guardian',
  'fleet/delivery',
  'fleet/plan',
  'fleet/report/document',
  'checkpoint/checkpoint-guardian',
  'systems/kinds/mps/group-guardian',
  'systems/kinds/mps/mps-guardian',
  'systems/kinds/nvshare/nvshare-guardian',
  'systems/kinds/pod/pod-guardian',
  'worker/main',
  'workers/lines',
  'workers/local',
  'workers/pod/signal-marked',
  'workers/scene',
  'workloads/metrics/program-metrics',
  'workloads/proof/witness-inside',
].map((name) => `dist/${name}.js`);
/** Files in dist/ other than compiled sources. */
const pageFiles = ['dist/report/html/fleet.css', 'dist/report/html/page.css', 'dist/report/html/page.js'];
const bundle = 'dist/report/charts/echarts.js';
const notices = ['dist/report/charts/echarts.LICENSE.txt', 'dist/packages.LICENSE.txt'] as const;

describe('the package', () => {
  it('is this one', () => expect(packed).toMatchObject({ name: 'gpu-virt-bench', version: manifest.version }));

  it('contains only code, documentation and licences', () => {
    const expected =
      /^(dist\/.+\.(c?js|d\.ts)|schema\/.+\.json|profiles\/\w+\.json|prebuilds\/.+|native\/kernels\/ptx\/\w+\.ptx|docs\/[^/]+\.md|examples\/[^/]+\.(ya?ml|md|html)|examples\/(programs|openai-server|pods|pytorch)\/[^/]+\.(mjs|md|py|yaml)|README\.md|LICENSE|package\.json|sbom\.cdx\.json)$/;
    expect(paths.filter((path) => !expected.test(path) && ![...pageFiles, ...notices].includes(path))).toEqual([]);
  });

  it('contains no sources, tests or build files', () => {
    const unwanted =
      /(^|\/)(native|test|bench|scripts|build|lib|\.ci)\/|\.test\.|binding\.gyp|CMakeLists|\.(cpp|h|cu|ts)$/;
    expect(
      paths
        .filter((path) => !/^native\/kernels\/ptx\/\w+\.ptx$/.test(path))
        .filter((path) =>
          unwanted.test(path.replace(/\.d\.ts$/, '').replace(/^dist\/(systems\/kinds\/)?native\//, 'dist/')),
        ),
    ).toEqual([]);
  });

  it('contains the types in one file that says nothing again and again', () => {
    const types = packed.files.filter(({ path }) => path.endsWith('.d.ts'));
    expect(types.map(({ path }) => path)).toEqual(['dist/index.d.ts']);
    expect(types[0]?.size).toBeLessThan(320_000);
  });

  it('contains the code in few files, besides those named by path', () => {
    const others = paths.filter(
      (path) => path.startsWith('dist/') && !/^dist\/chunks\/[^/]+\.c?js$|\.d\.ts$/.test(path),
    );
    expect(others.sort()).toEqual([...entries, ...pageFiles, bundle, ...notices].sort());
    const code = paths.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
    const sources = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    expect(code.length).toBeLessThan(sources.length / 2);
  });

  it('contains all PTX', () => {
    const files = readdirSync(join(root, 'native/kernels/ptx')).map((name) => `native/kernels/ptx/${name}`);
    expect(files.length).toBeGreaterThan(20);
    expect(paths).toEqual(expect.arrayContaining(files));
  });

  it('contains the schema, the readme and the licence', () =>
    expect(paths).toEqual(
      expect.arrayContaining(['schema/run-document.schema.json', 'README.md', 'LICENSE', 'package.json']),
    ));

  it('contains every file that the README links to', () => {
    const links = linksOf(readFileSync(join(root, 'README.md'), 'utf8'));
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !paths.includes(link))).toEqual([]);
  });

  it('contains every page and example that a page of docs/ links to', () => {
    for (const page of paths.filter((path) => path.startsWith('docs/'))) {
      const links = linksOf(readFileSync(join(root, page), 'utf8'))
        .map((link) => normalize(join('docs', link)))
        .filter((link) => /^(docs|examples|README)/.test(link));
      expect({ page, missing: links.filter((link) => !paths.includes(link)) }).toEqual({ page, missing: [] });
    }
  });

  it('contains the unchanged style sheet and script of reports', () => {
    for (const path of pageFiles)
      expect(readFileSync(join(root, path), 'utf8')).toBe(
        readFileSync(join(root, path.replace(/^dist/, 'lib')), 'utf8'),
      );
  });

  it('contains charts that need no installed packages, and the licences of their bundled parts', () => {
    const code = readFileSync(join(root, bundle), 'utf8');
    expect(code.slice(0, 200)).toContain('echarts.LICENSE.txt');
    expect(code).not.toMatch(/\b(from|require\()\s*["'](?!node:)/);
    expect(code.length).toBeGreaterThan(100_000);
    expect(code.length).toBeLessThan(700_000);
    const text = readFileSync(join(root, notices[0]), 'utf8');
    for (const owed of ['Apache License', 'The Apache Software Foundation', 'Mike Bostock', 'Baidu Inc.', 'Microsoft'])
      expect(text).toContain(owed);
  });

  it('contains the licence of every package whose code is in the bundle', () => {
    const text = readFileSync(join(root, notices[1]), 'utf8');
    const named = [...text.matchAll(/^(\S+) \d\S*, /gm)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining(['cli-table3', 'commander', 'picomatch', 'valibot', 'yaml']));
    expect(named.filter((name) => name === 'node-gyp-build')).toEqual([]);
    expect(text.match(/Permission (is hereby granted|to use, copy)/g)?.length).toBeGreaterThanOrEqual(10);
  });

  it('is small', () => {
    const isText = (path: string) => /^(docs|examples)\/|\.md$/.test(path);
    const bytes = (files: typeof packed.files) => files.reduce((sum, { size }) => sum + size, 0);
    const [texts, others] = [true, false].map((kind) => packed.files.filter(({ path }) => isText(path) === kind));
    expect(bytes(texts ?? [])).toBeLessThan(1_200_000);
    expect(bytes((others ?? []).filter(({ path }) => !/^(prebuilds|native)\//.test(path)))).toBeLessThan(4_000_000);
    expect(packed.unpackedSize).toBeLessThan(40_000_000);
  });

  it('has a command line that a shell can run', () => {
    const bin = manifest.bin['gpu-virt-bench'];
    expect(paths).toContain(bin);
    expect(readFileSync(join(root, bin), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('runs no script when it is installed', () => {
    for (const hook of ['preinstall', 'install', 'postinstall']) expect(manifest.scripts).not.toHaveProperty(hook);
    // Without this setting npm would compile on its own if it finds a binding.gyp.
    expect(manifest.gypfile).toBe(false);
  });
});

it('says how to keep it out of the bundle of another program', () => {
  const app = emptyFolder();
  cpSync(join(root, 'dist'), join(app, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'));
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', version: '9.9.9', type: 'module' }));
  const text = `
    const { code, message } = await import('./dist/index.js').catch((error) => error);
    console.log(JSON.stringify({ code, message }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    cwd: app,
    encoding: 'utf8',
    timeout: WAIT_MS,
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    code: 'NO_ADDON',
    message: expect.stringContaining('--external:gpu-virt-bench'),
  });
});

describe('the exports map', () => {
  const fromWithin = `
    const paths = ['gpu-virt-bench', 'gpu-virt-bench/package.json', 'gpu-virt-bench/schema/run-document.schema.json',
      'gpu-virt-bench/dist/index.js', 'gpu-virt-bench/lib/index.ts', 'gpu-virt-bench/dist/native/load.js'];
    const seen = {};
    for (const path of paths) {
      try { seen[path] = import.meta.resolve(path); } catch (error) { seen[path] = error.code; }
    }
    seen.names = Object.keys(await import('gpu-virt-bench')).sort();
    console.log(JSON.stringify(seen));`;

  it('exposes only the library, the schema and the manifest', () => {
    // A package may import itself by name, and gets what a dependent gets.
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', fromWithin], {
      cwd: root,
      encoding: 'utf8',
      timeout: WAIT_MS,
    });
    expect(stderr).toBe('');
    const { names, ...resolved } = JSON.parse(stdout);
    const url = (path: string) => new URL(path, `file://${root}`).href;
    expect(resolved).toEqual({
      'gpu-virt-bench': url('dist/index.js'),
      'gpu-virt-bench/package.json': url('package.json'),
      'gpu-virt-bench/schema/run-document.schema.json': url('schema/run-document.schema.json'),
      'gpu-virt-bench/dist/index.js': 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      'gpu-virt-bench/lib/index.ts': 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      'gpu-virt-bench/dist/native/load.js': 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    });
    const measuring = metrics.map(({ functionName }) => functionName);
    const others = [
      'compareSystems',
      'execWorkloads',
      'getProvenance',
      'listDevices',
      'listMetrics',
      'renderReport',
      'runLoad',
      'runMetrics',
      'startMonitor',
      'summariseLoad',
    ];
    expect(names).toEqual(
      ['BenchError', 'CudaError', 'MonitorError', 'RequestFailure', 'UsageError', ...others, ...measuring].sort(),
    );
  });

  it('names files that exist and are packed', () => {
    const { types, default: main } = manifest.exports['.'];
    for (const path of [types, main, manifest.types]) {
      expect(existsSync(join(root, path))).toBe(true);
      expect(paths).toContain(path.replace(/^\.\//, ''));
    }
    expect(statSync(join(root, types)).size).toBeGreaterThan(1_000);
  });

  it('needs no development dependency', () => {
    const dependencies = Object.keys(manifest.dependencies);
    const imported = new Set(
      paths
        .filter((path) => path.startsWith('dist/') && path.endsWith('.js'))
        .flatMap((path) => [
          ...readFileSync(join(root, path), 'utf8').matchAll(
            /(?:(?:^|;)(?:import|export)\b[^;"']*\bfrom\s*|(?:^|;)import\s*|\bimport\(\s*|\brequire\(\s*)["']([^"'.][^"'\n]*)["']/gm,
          ),
        ])
        .map(([, name]) =>
          (name as string)
            .split('/')
            .slice(0, name?.startsWith('@') ? 2 : 1)
            .join('/'),
        )
        .filter((name) => !name.startsWith('node:')),
    );
    expect([...imported].filter((name) => !dependencies.includes(name))).toEqual([]);
    expect(dependencies.filter((name) => !imported.has(name))).toEqual([]);
  });
});
