// Installs the packed package into an empty project, without running any script, and uses it: what a consumer gets.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'gvb-install-'));

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  console.error(`${command} ${args.join(' ')} failed:\n${error?.message ?? stderr}`);
  rmSync(project, { recursive: true, force: true });
  process.exit(1);
}

/** Relative links, `FILE: LINK`, to what is not packed. */
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

const [{ filename, size, files }] = JSON.parse(
  run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root),
);
const unwanted = files.map(({ path }) => path).filter((path) => /^(native|test|lib|binding\.gyp)/.test(path));
if (unwanted.length > 0) {
  console.error(`Expected only built files in the package but found ${unwanted.join(', ')}.`);
  process.exit(1);
}
const lost = deadLinks(files.map(({ path }) => path));
if (lost.length > 0) {
  console.error(
    `Expected every link of the package's Markdown to lead to one of its files but found ${lost.join(', ')}.`,
  );
  process.exit(1);
}
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
run('npm', ['install', '--ignore-scripts', join(project, filename)], project);
// No machine is too busy for this metric; others say that they were disturbed, which is no matter of the package.
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
rmSync(project, { recursive: true, force: true });
console.log(
  `${filename}: ${files.length} files, ${(size / 1024).toFixed(0)} KiB packed; installs and measures without a script.`,
);
