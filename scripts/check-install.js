// Packs the package, checks what is in it, installs it into an empty project without running any script, and uses it like
// a consumer.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fail, pack, root, run, temporaryFolder } from './packed.js';

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
const { filename, tarball, size, files, platforms } = pack(project);
const paths = files.map(({ path }) => path);
const unwanted = paths.filter((path) => /^(native(?!\/kernels\/ptx\/\w+\.ptx$)|test|lib|binding\.gyp)/.test(path));
if (unwanted.length > 0) fail(`Expected only built files in the package but found ${unwanted.join(', ')}.`);
const lost = deadLinks(paths);
if (lost.length > 0)
  fail(`Expected every link of the package's Markdown to lead to one of its files but found ${lost.join(', ')}.`);

if (!paths.includes('sbom.cdx.json')) fail('Expected the package to have sbom.cdx.json.');

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
  `${filename}: ${files.length} files, ${(size / 1e6).toFixed(2)} MB with ${platforms.join(' and ')}; publint and attw find nothing; ` +
    'installs and measures without a script.',
);
