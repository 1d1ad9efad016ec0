/** `exec` checkpoints programs in containers of podman, with a runtime that is a script of ours and keeps podman's contract. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { moments } from '../moments.js';
import { passing } from '../waiting.js';
import { emptyFolder, parseComparison, processesOf, start } from './command.js';
import { cannotUnshare, fakeRuntime } from './containers.js';

const cannot = cannotUnshare('checkpoints of programs in containers with a fake runtime');

/** Prints where it is, and goes on from there when it is started again; that it is written at once, whenever it is killed. */
const COUNTING =
  'n=$(cat n 2>/dev/null); while :; do n=$((n+1)); echo "step $n"; echo $n >new; mv new n; sleep 0.02; done';

interface Faults {
  /** Number of the first checkpoint that is refused. */
  checkpoint?: number;
  restore?: true;
  info?: string;
  /** What `criu --version` says; null: there is none. */
  criu?: string | null;
}

function boxed(settings: object, { checkpoint, restore, info, criu = 'Version: 4.1' }: Faults = {}) {
  const runtime = fakeRuntime();
  const state = (name: string) => join(runtime.state, name);
  if (checkpoint !== undefined) writeFileSync(state('refuse-checkpoint'), `${checkpoint}`);
  if (restore) writeFileSync(state('refuse-restore'), '');
  if (info !== undefined) writeFileSync(state('info'), info);
  const bin = emptyFolder();
  if (criu !== null) writeFileSync(join(bin, 'criu'), `#!/bin/sh\necho '${criu}'\n`, { mode: 0o755 });
  const folder = emptyFolder();
  const workload = {
    ...{ name: 'w', argv: ['bash', '-c', COUNTING], folder, ready: { line: 'step 3' } },
    ...{ warmup: 0, iterations: 1, monitor: false, stopAfter: 0, checkpoint: { repeat: 2, answer: { line: 'step' } } },
    ...settings,
  };
  const systems = [{ kind: 'container', name: 'boxed', runtime: runtime.program, image: 'there' }];
  const config = join(emptyFolder(), 'w.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ systems, workloads: [workload] }));
  const output = join(emptyFolder(), 'out');
  const args = ['exec', '--simulate', '--rounds', '1', '--config', config, '--output', output, '--json', '-'];
  // This machine may have a CRIU itself.
  const others = (process.env.PATH ?? '').split(':').filter((each) => !existsSync(join(each, 'criu')));
  const running = start(args, { PATH: [bin, ...others].join(':') });
  return {
    running,
    output,
    ...runtime,
    isRestored: () => readdirSync(state('live')).length > 0,
    /** Names of containers that were killed when they had been restored and were running. */
    killed: () => (existsSync(state('killed')) ? readFileSync(state('killed'), 'utf8') : ''),
    async results() {
      const { code, stdout, stderr } = await running.done;
      const metrics = parseComparison(stdout).systems[0]?.[0]?.metrics ?? [];
      return { code, stderr, result: (key: string) => metrics.find(({ id }) => id === `w/${key}`) };
    },
  };
}

/** Ends what a test leaves on purpose. */
function endLeft({ containers, state }: ReturnType<typeof boxed>): void {
  for (const name of containers()) process.kill(-Number(readFileSync(join(state, 'boxes', `${name}.pid`), 'utf8')), 9);
}

describe.skipIf(cannot)('a checkpointed program in a container', () => {
  it('has the times of the commands, goes on after each restore, and is ended by a checkpoint', async () => {
    const box = boxed({});
    const { code, result } = await box.results();
    expect(code).toBe(0);
    for (const key of ['checkpoint-time', 'restore-time', 'restore-answer', 'ready'])
      expect(result(key)).toMatchObject({ status: 'ok', unit: 's' });
    const value = (key: string) => result(key)?.value ?? NaN;
    for (const key of ['checkpoint-time', 'restore-time']) expect(value(key)).toBeGreaterThanOrEqual(0.05);
    expect(value('restore-answer')).toBeGreaterThanOrEqual(0.05);
    for (const key of ['checkpoint-lock', 'restore-unlock'])
      expect(result(key)).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(/one command each/) });
    expect(result('checkpoint-freed')).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(/NVML/) });
    const log = readdirSync(box.output, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('1.stdout'),
    );
    const lines = readFileSync(join(box.output, log ?? ''), 'utf8')
      .trim()
      .split('\n');
    // Killed before it noted a step, it prints that one again: once for each of two restores.
    const steps = lines.filter((line, index) => line !== lines[index - 1]);
    expect(lines.length - steps.length).toBeLessThanOrEqual(2);
    expect(steps).toEqual(steps.map((_, index) => `step ${index + 1}`));
    // Two turns, and the one that ends it.
    expect(readFileSync(join(box.state, 'checkpoints'), 'utf8')).toBe('1\n1\n1\n');
    expect(box.killed()).toBe('');
    expect(box.containers()).toEqual([]);
    expect(processesOf(box.running.mark)).toEqual([]);
  });

  it('may end by itself after its work', async () => {
    const argv = ['bash', '-c', 'for n in 1 2 3; do echo "step $n"; done; sleep 10; exit 3'];
    const box = boxed({ argv, stopAfter: undefined, exit: [3], checkpoint: { repeat: 1 } });
    const { code, result } = await box.results();
    expect({ code, wall: result('wall')?.status }).toEqual({ code: 0, wall: 'ok' });
    expect(box.killed()).toBe('');
    expect(box.containers()).toEqual([]);
  });

  it.each([
    ['no CRIU', { criu: null }, /no criu is in PATH/],
    ['an old CRIU', { criu: 'Version: 3.17.1' }, /the criu in PATH is 3\.17\.1/],
    ['a podman without root', { info: 'true false runc runc version 1.1' }, /rootless/],
  ] as const)('is measured without checkpoints, and says why: %s', async (_, faults, reason) => {
    const { code, result } = await boxed({}, faults).results();
    expect(result('restore-time')).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(reason) });
    expect({ code, ready: result('ready')?.status }).toEqual({ code: 0, ready: 'ok' });
  });

  it('says what podman said of a program that takes no SIGTERM either, as the first of a PID namespace', async () => {
    const { result } = await boxed({ argv: ['bash', '-c', `trap '' TERM; ${COUNTING}`] }, { checkpoint: 1 }).results();
    expect(result('checkpoint-time')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/CRIU says no/),
    });
    expect(result('ready')).toMatchObject({ status: 'ok' });
  });

  it.each([
    ['the checkpoint', { checkpoint: 1 }, /podman container checkpoint failed: Error: CRIU says no/],
    ['the restore', { restore: true }, /podman container restore failed: Error: CRIU cannot restore/],
  ] as const)('fails with the words of podman when it refuses %s, and leaves nothing', async (_, faults, reason) => {
    const box = boxed({}, faults);
    const { result } = await box.results();
    expect(result('restore-time')).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) });
    expect(box.killed()).toBe('');
    expect(box.containers()).toEqual([]);
    expect(processesOf(box.running.mark)).toEqual([]);
  });

  it('is left alive and said where it cannot be checkpointed again', async () => {
    const box = boxed({}, { checkpoint: 2 });
    const { code, result, stderr } = await box.results();
    expect(code).toBe(1);
    const left =
      /was left as it is, because a live restored process is never killed: its checkpoint failed: Error: CRIU says no/;
    expect(result('ready')).toMatchObject({ status: 'failed', reason: expect.stringMatching(left) });
    expect(stderr).toMatch(left);
    expect(box.containers()).toHaveLength(1);
    expect(box.isRestored()).toBe(true);
    expect(box.killed()).toBe('');
    endLeft(box);
  });
});

describe.skipIf(cannot)('a run of a checkpointed program in a container that is killed', () => {
  const endless = { checkpoint: { repeat: 1_000 } };

  it.each(moments(400))('leaves nothing, and kills none that is live and restored (%i ms later)', async (ms) => {
    const box = boxed(endless);
    await passing(() => expect(box.isRestored()).toBe(true));
    await sleep(ms);
    box.running.child.kill('SIGKILL');
    await passing(() => expect(box.containers()).toEqual([]));
    await passing(() => expect(processesOf(box.running.mark)).toEqual([]));
    expect(box.killed()).toBe('');
  });

  it.each([1, 2])('leaves nothing after %i times Ctrl-C either', async (times) => {
    const box = boxed(endless);
    await passing(() => expect(box.isRestored()).toBe(true));
    for (let n = 0; n < times; n++) {
      box.running.child.kill('SIGINT');
      await sleep(50);
    }
    if (box.running.child.exitCode === null) await once(box.running.child, 'exit');
    await passing(() => expect(box.containers()).toEqual([]));
    expect(box.killed()).toBe('');
  });
});
