// Packs the package, checks what is in it, installs it into an empty project without running any script, and uses it like
// a consumer. It must not be larger than users are willing to download.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fail, pack, root, run, temporaryFolder } from './packed.js';

/** Megabytes: with the prebuilds of one architecture, and what those of another may add. */
const LARGEST = 4;
const LARGEST_PREBUILD = 3;

/** Relative links, `FILE: LINK`, to files that are not packed. */
function deadLinks(packed) {
  const known = new Set(packed);
  return packed
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, link]) => link)
        .filter((link) => !link.includes('://') && !known.has(posix.join(posix.dirname(path), link)))
        .map((link) => `${path}: ${link}`),
    );
}

const project = temporaryFolder('gvb-install-');
const { filename, tarball, size, files } = pack(project);
const paths = files.map(({ path }) => path);
const unwanted = paths.filter((path) => /^(native|test|lib|binding\.gyp)/.test(path));
if (unwanted.length > 0) fail(`Expected only built files in the package but found ${unwanted.join(', ')}.`);
const lost = deadLinks(paths);
if (lost.length > 0)
  fail(`Expected every link of the package's Markdown to lead to one of its files but found ${lost.join(', ')}.`);

const prebuilds = new Set(paths.flatMap((path) => /^prebuilds\/([^/]+)\//.exec(path)?.[1] ?? []));
if (prebuilds.size === 0) fail('Expected prebuilds in the package: run npm run prebuild first.');
const largest = LARGEST + (prebuilds.size - 1) * LARGEST_PREBUILD;
const megabytes = (size / 1e6).toFixed(2);
if (size > largest * 1e6)
  fail(
    `Expected a package with ${[...prebuilds].join(' and ')} of at most ${largest} MB but packed ${megabytes} MB. ` +
      'npm pack --dry-run --json lists the files with their sizes.',
  );

run('npx', ['--no', '--', 'publint', '--strict', tarball], root);
// Node from 20.19 and 22.12 loads modules by require; what older ones say is in README.md (check-consumers.js tests both).
run('npx', ['--no', '--', 'attw', tarball, '--ignore-rules', 'cjs-resolves-to-esm'], root);

writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
run('npm', ['install', '--ignore-scripts', tarball], project);
// A busy machine does not disturb this metric. Others may report a disturbance, which says nothing about the package.
run('npx', ['gpu-virt-bench', 'run', 'OH-002', '--simulate', '--json', 'run.json'], project);
run('npx', ['gpu-virt-bench', 'exec', '--simulate', '--rounds', '1', '--iterations', '1', '--', '/bin/true'], project);
writeFileSync(
  join(project, 'use.js'),
  `import { measureMemoryAllocation } from 'gpu-virt-bench';
const { status, value } = await measureMemoryAllocation({ simulate: true });
if (status !== 'ok' || !(value > 0)) throw new Error(status);
`,
);
run(process.execPath, ['use.js'], project);
console.log(
  `${filename}: ${files.length} files, ${megabytes} MB with ${[...prebuilds].join(' and ')}; publint and attw find nothing; ` +
    'installs and measures without a script.',
);
