// Unpacks the bundle that scripts/bundle.js made here and uses it where no Node is in PATH: what a GPU server gets.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const name = `gpu-virt-bench-linux-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), 'gvb-unpacked-'));

function fail(message) {
  console.error(message);
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}

function run(command, args, cwd) {
  const env = { PATH: '/usr/bin:/bin', TMPDIR: tmpdir() };
  const { status, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) fail(`${command} ${args.join(' ')} failed:\n${error?.message ?? stderr}`);
}

run('tar', ['-xJf', join(process.cwd(), `${name}.tar.xz`), '-C', folder], folder);
if (existsSync(join(folder, name, 'app/node_modules/typescript')))
  fail('Expected no TypeScript in the bundle: it runs compiled code.');
const program = join(folder, name, 'gpu-virt-bench');
const once = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1'];
run(program, ['exec', ...once, '--output', 'out', '--', '/bin/true'], folder);
const { systems } = JSON.parse(readFileSync(join(folder, 'out/summary.json'), 'utf8'));
const [{ system, metrics }] = systems[0];
const wall = metrics.find(({ id }) => id === 'true/wall');
if (wall?.status !== 'ok' || system.processes.proven !== 1)
  fail(`Expected exec of the bundle to measure and prove /bin/true but received ${wall?.status}: ${wall?.reason}`);
// It reads a call profile of the package.
const systemsOf = ['--system', 'native:name=a', '--system', 'native:name=b'];
run(program, ['compare', 'OH-005', ...systemsOf, '--simulate', '--profile', 'eager', '--dry-run'], folder);
// The studies lie beside it.
run(program, ['study', join(name, 'app/studies/mps-restore'), '--dry-run'], folder);
rmSync(folder, { recursive: true, force: true });
console.log(`${name}.tar.xz: exec, compare and study work unpacked.`);
