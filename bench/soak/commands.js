// The commands of a turn of a soak: the whole command line, each command in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const OK = [0];
/** A metric may be disturbed or a limit be broken: neither is a matter of the soak. */
const MEASURED = [0, 1, 4];

/** Arguments, and the exit codes that are right. */
function commandsOf({ simulate, ids }) {
  const sim = simulate ? ['--simulate'] : [];
  const few = ['--tier', 'quick', '--iterations', '5', '--seed', '1', ...sim];
  const two = ['--system', 'native', '--system', 'native:name=again', '--rounds', '2'];
  return [
    [['list'], OK],
    [['doctor'], MEASURED],
    [['run', ...ids, ...few, '--json', 'run.json'], MEASURED],
    [['compare', 'OH-002', ...few, ...two, '--output', 'results/compared'], MEASURED],
    [
      ['exec', '--rounds', '2', '--iterations', '3', ...sim, '--output', 'results/executed', '--', '/bin/true'],
      MEASURED,
    ],
    [['profile', '--output', 'profile.json', '--', '/bin/true'], MEASURED],
    [['monitor', '--duration', '1s', '--csv', 'monitor.csv', ...sim], OK],
    [['report', 'results/compared', '--html', 'report.html', '--csv', 'report.csv', '--junit', 'report.xml'], OK],
    [['baseline', 'save', 'soak', 'results/compared'], MEASURED],
    [
      ['gate', 'results/compared', '--baseline', 'soak'],
      [0, 1, 3],
    ],
    [['baseline', 'list'], OK],
    [['history'], OK],
    [['init', 'begun'], OK],
    [['run', 'OH-0001', ...sim], [2]],
    [['report', 'nothing.json'], [2]],
  ];
}

/** Runs them in an empty folder; resolves to what went wrong. `starting` gets each process, to end it early. */
export async function commandTurn({ simulate, ids, folder, environment, starting }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const failures = [];
  for (const [args, codes] of commandsOf({ simulate, ids })) {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (!starting(child)) return failures;
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const [code, signal] = await once(child, 'close');
    if (!codes.includes(code))
      failures.push(`${args.join(' ')}: exit ${signal ?? code}: ${stderr.trim().split('\n').slice(-3).join(' / ')}`);
  }
  return failures;
}
