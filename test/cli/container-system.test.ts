/** The whole path of a container system, with a runtime that is a script of ours. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { sha256 } from '../../lib/systems/proof/file-hash.js';
import { passing } from '../waiting.js';
import { emptyFolder, parseComparison, processesOf, start } from './command.js';
import { cannotUnshare, fakeRuntime } from './containers.js';

const cannot = cannotUnshare('systems of kind container with a fake runtime');
const layer = interposerLibrary() as string;

const system = (program: string, more = '', image = 'there') =>
  `container:name=boxed,runtime=${program},runtimeOptions=--runtime-option=1,args=--ulimit=nofile=1024,image=${image}${more}`;

function exec(container: string, program: readonly string[], more: readonly string[] = []) {
  const output = join(emptyFolder(), 'out');
  const few = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', ...more];
  return start(['exec', ...few, '--system', container, '--output', output, '--json', '-', '--', ...program]);
}

describe.skipIf(cannot)('a container system', () => {
  it('runs workers and programs in containers, proves it, and leaves nothing', async () => {
    const runtime = fakeRuntime();
    const preload = `,layer.kind=custom,layer.env.LD_PRELOAD=${layer},layer.env.GVB_INTERPOSE=cuLaunchKernel=+1us`;
    const script = 'echo "n=7 $SECRET_KEY $HOME $GVB_CONTAINER"; for i in $(seq 20); do sleep 0.05; done';
    const running = exec(system(runtime.program, preload), ['bash', '-c', script], ['--env', 'SECRET_KEY=hush']);
    const { code, stdout } = await running.done;
    expect(code).toBe(0);
    const [round] = parseComparison(stdout).systems[0] ?? [];
    const { attestation, settings, processes, kind } = round?.system ?? {};
    expect({ kind, settings }).toMatchObject({
      kind: 'container',
      settings: {
        'container.runtime': 'podman version 99.0',
        'container.image': 'there',
        'container.digest': 'sha256:0123 ["there@sha256:0123"]',
        LD_PRELOAD: layer,
      },
    });
    const detail = (proof: string) => attestation?.find((each) => each.proof.startsWith(proof) && each.passed)?.detail;
    expect(detail('in a container')).toMatch(/^container id-of-gvb-\S+ of podman, PID \d+: own namespaces mnt$/);
    expect(detail('the worker is in this container')).toMatch(/^PID \d+ has mount namespace mnt:\[\d+\]$/);
    expect(detail(`SHA-256 of ${layer} inside`)).toBe(await sha256(layer));
    expect(detail('the GPU inside is the GPU outside')).toMatch(/^GPU-.*, 1 in the container$/);
    // The program, which alone gave numbers.
    expect(processes).toEqual({ proven: 1, of: 1 });
    const cpu = round?.metrics.find(({ id }) => id === 'bash/cpu');
    expect(cpu?.status).toBe('ok');
    const check = cpu?.checks.find(({ name }) => name === 'processes of the program under the system');
    expect(check).toMatchObject({ passed: true, detail: expect.stringMatching(/, in container id-of-gvb-/) });

    expect(runtime.containers()).toEqual([]);
    expect(processesOf(running.mark)).toEqual([]);
    const runs = runtime.calls().filter((call) => call[1] === 'run');
    for (const call of runs) {
      expect(call.slice(0, 4)).toEqual(['--runtime-option=1', 'run', '--rm', '--pull=never']);
      expect(call).toContain('--ulimit=nofile=1024');
      expect(call.join('\n')).not.toContain('hush');
    }
    // The trial, the worker before, the program, the worker after.
    expect(runs).toHaveLength(4);
    expect(runs.map((call) => call.includes('--interactive'))).toEqual([true, true, false, true]);
  });

  it('gives the program what it was given and nothing of the host', async () => {
    const runtime = fakeRuntime();
    const output = join(emptyFolder(), 'out');
    const few = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1'];
    const program = ['bash', '-c', 'echo "$A|$SECRET_KEY|$HOME|${GVB_CONTAINER%%-*}|$PWD"; exit 3'];
    const variables = ['--env', 'A=two\nlines', '--env', 'SECRET_KEY=hush'];
    const cwd = emptyFolder();
    const { code } = await start(
      ['exec', ...few, ...variables, '--system', system(runtime.program), '--output', output, '--', ...program],
      {},
      '',
      cwd,
    ).done;
    // The exit code is the program's.
    expect(code).toBe(1);
    const log = readdirSync(join(output, 'logs'), { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('run-0001.stdout'),
    ) as string;
    expect(readFileSync(join(output, 'logs', log), 'utf8')).toBe(`two\nlines|hush||gvb|${cwd}\n`);
  });

  it('publishes nothing of a runtime that makes no container', async () => {
    const runtime = fakeRuntime();
    writeFileSync(join(runtime.state, 'same'), '');
    const { code, stdout } = await exec(system(runtime.program), ['true']).done;
    expect(code).toBe(5);
    const [round] = parseComparison(stdout).systems[0] ?? [];
    for (const { status, value, reason } of round?.metrics ?? []) {
      expect({ status, value }).toEqual({ status: 'invalid', value: null });
      expect(reason).toMatch(
        /^layer not active: in a container, by its namespaces seen from outside: .*own namespaces none/,
      );
    }
  });

  it('says in the words of the runtime why nothing starts', async () => {
    const runtime = fakeRuntime();
    const { code, stdout } = await exec(system(runtime.program, '', 'absent'), ['true']).done;
    expect(code).toBe(5);
    const [round] = parseComparison(stdout).systems[0] ?? [];
    expect(round?.metrics[0]?.reason).toBe(
      `layer not active: the container could not be started (exit code 125 of ${runtime.program}): Error: absent: image not known. Load or pull the image first: nothing is fetched here.`,
    );
  });

  it('ends a program that ignores SIGTERM by its container', async () => {
    const runtime = fakeRuntime();
    const { code, stdout } = await exec(
      system(runtime.program),
      ['bash', '-c', 'trap "" TERM; echo up; while :; do sleep 0.1; done'],
      ['--timeout', '1'],
    ).done;
    expect(code).toBe(1);
    const [round] = parseComparison(stdout).systems[0] ?? [];
    expect(round?.metrics[0]?.reason).toMatch(/had not ended after 1 s and was stopped/);
    expect(runtime.containers()).toEqual([]);
  });

  it('leaves no container when it is killed', async () => {
    const runtime = fakeRuntime();
    const up = join(emptyFolder(), 'up');
    const running = exec(system(runtime.program), ['bash', '-c', `touch ${up}; sleep 1000`]);
    await passing(() => expect(existsSync(up)).toBe(true));
    expect(runtime.containers()).toHaveLength(1);
    running.child.kill('SIGKILL');
    await passing(() => expect(runtime.containers()).toEqual([]));
    await passing(() => expect(processesOf(running.mark)).toEqual([]));
  });
});

describe('a container system without its runtime', () => {
  it('is unsupported, with what to install', async () => {
    const { code, stderr } = await exec('container:runtime=nerdctl,image=there', ['true']).done;
    expect(code).toBe(2);
    expect(stderr).toContain('nerdctl is not installed: install nerdctl, or give its path with runtime=');
  });
});
