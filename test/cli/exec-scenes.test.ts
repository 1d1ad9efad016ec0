/** Scenes from a file, on the command line: what is left of them, and where their results go. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdGpu, onGpu } from '../scene-programs.js';
import { passing } from '../waiting.js';
import { command, commandIn, emptyFolder, parseComparison, processesOf, start } from './command.js';

function configFile(folder: string, tenants: readonly object[]): string {
  const file = join(folder, 'scene.yaml');
  // JSON is YAML, and its numbers are texts there.
  writeFileSync(file, JSON.stringify({ workloads: [{ name: 's', folder, warmup: '0', iterations: '1', tenants }] }));
  return file;
}

const args = (config: string, output: string) => [
  ...['exec', '--simulate', '--rounds', '1', '--seed', '1', '--config', config, '--output', output],
];

describe('exec of a scene', () => {
  it('has tables, logs and thresholds of its own, and continues', async () => {
    const folder = emptyFolder();
    const victim = { name: 'v', argv: onGpu("console.log('of v'); setTimeout(() => exit(0), 300);") };
    const other = { name: 't', role: 'aggressor', argv: ['sh', '-c', 'echo of t; exec "$@"', 'sh', ...holdGpu] };
    const config = configFile(folder, [victim, other]);
    const first = await command([...args(config, join(folder, 'out')), '--json', '-']);
    expect(first.code).toBe(0);
    const document = parseComparison(first.stdout);
    expect(document.systems[0]?.[0]?.plan.options.workloads).toMatchObject([
      {
        name: 's',
        tenants: [
          { name: 'v', role: 'victim' },
          { name: 't', role: 'aggressor', program: {} },
        ],
      },
    ]);
    const logs = join(folder, 'out/logs/round-0001-system-1/s');
    expect(readdirSync(logs).sort()).toEqual(['run-0001', 'run-0001-alone']);
    expect(readFileSync(join(logs, 'run-0001/t.stdout'), 'utf8')).toBe('of t\n');
    expect(readFileSync(join(logs, 'run-0001-alone/v.stdout'), 'utf8')).toBe('of v\n');
    expect(readFileSync(join(folder, 'out/report.md'), 'utf8')).toMatch(/^\| s \| v \| wall \| native \|.*× /m);
    writeFileSync(join(folder, 'limits.yaml'), 'metrics: { "*/*/wall/slowdown": { limit: 1e-9, inconclusive: fail } }');
    const gate = await commandIn(folder, ['gate', 'out', '--config', 'limits.yaml']);
    expect(gate).toMatchObject({ code: 3, stdout: expect.stringContaining('s/v/wall/slowdown') });
    // Every tenant is in the request and in the file that measures it again.
    const resumed = await command(['exec', '--resume', join(folder, 'out'), '--json', '-']);
    expect(resumed.code).toBe(0);
    expect(parseComparison(resumed.stdout).systems[0]?.[0]?.reused).toBe(true);
    const again = await command(['exec', '--dry-run', '--simulate', '--config', join(folder, 'out/systems.yaml')]);
    expect(again.stdout).toContain('s (v, t: 0 warm-ups and 1 run, each of at most 600 s)');
  });

  it('leaves nothing of any tenant where the coordinator is killed', async () => {
    const folder = emptyFolder();
    const deaf = `trap "" TERM; setsid sleep 1000 & "$@" & while true; do sleep 0.1; done`;
    const config = configFile(folder, [
      // Alone it ends.
      {
        name: 'v',
        argv: onGpu("if (!fs.existsSync('there')) exit(0); fs.writeFileSync('up', ''); setInterval(() => {}, 1e6);"),
      },
      { name: 'deaf', role: 'aggressor', argv: ['bash', '-c', `touch there; ${deaf}`, 'bash', ...holdGpu] },
      { task: 'launch-storm' },
    ]);
    const running = start(args(config, join(folder, 'out')));
    await passing(() => expect(existsSync(join(folder, 'up'))).toBe(true));
    running.child.kill('SIGKILL');
    await passing(() => expect(processesOf(running.mark)).toEqual([]));
  });
});
