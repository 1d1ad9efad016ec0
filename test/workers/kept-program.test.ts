import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keeperProgram } from '../../lib/native/load.js';
import { KeptProgram, type Outcome } from '../../lib/workers/kept-program.js';
import { processesOf } from '../processes.js';
import { temporaryFolder } from '../temporary.js';
import { passing } from '../waiting.js';

interface Started {
  program: KeptProgram;
  mark: string;
  printed: { stdout: string; stderr: string; bytes: number };
}

function start(
  command: readonly string[],
  { graceMs = 60_000, stragglerMs = 60_000, cwd = temporaryFolder(), waits = false } = {},
): Started {
  const mark = randomUUID();
  const program = new KeptProgram(command, {
    keeper: keeperProgram() ?? '/gvb-keeper-is-not-built',
    environment: { PATH: process.env.PATH, GVB_TEST_MARK: mark },
    cwd,
    stragglerMs,
    graceMs,
    waits,
  });
  const printed = { stdout: '', stderr: '', bytes: 0 };
  program.stdout.on('data', (chunk: Buffer) => {
    printed.bytes += chunk.length;
    if (printed.stdout.length < 10_000) printed.stdout += chunk.toString('latin1');
  });
  program.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
  return { program, mark, printed };
}

const sh = (script: string, options?: Parameters<typeof start>[1]) => start(['bash', '-c', script], options);

async function ended({ program, mark }: Started): Promise<Outcome> {
  const outcome = await program.done;
  expect(processesOf(mark)).toEqual([]);
  return outcome;
}

const saying = (started: Started, text: string) =>
  passing(() => expect(started.printed.stdout + started.printed.stderr).toContain(text));

describe('a kept program', () => {
  it('has its output passed on, and its exit, end time and resource use reported', async () => {
    const cwd = temporaryFolder();
    const before = Number(process.hrtime.bigint());
    const started = sh('pwd; echo $GVB_TEST_MARK >&2; exit 3', { cwd });
    const begun = await started.program.begun;
    const { main, lastNs, used, ...others } = await ended(started);
    expect(started.printed).toMatchObject({ stdout: `${cwd}\n`, stderr: `${started.mark}\n` });
    expect(others).toEqual({ refused: null, left: null, stuck: null });
    expect(main).toMatchObject({ how: 'ended with exit code 3', exitCode: 3, signal: null });
    expect(begun?.atNs).toBeGreaterThan(before);
    expect(main?.atNs).toBeGreaterThan(begun?.atNs as number);
    expect(main?.atNs).toBeLessThan(Number(process.hrtime.bigint()));
    expect(lastNs).toBe(main?.atNs);
    expect(used?.largestProcessBytes).toBeGreaterThan(1e6);
  });

  it('gets pipes that it may open by path, as a shell script does', async () => {
    const started = sh('echo out > /dev/stdout; echo err > /dev/stderr');
    expect((await ended(started)).main?.exitCode).toBe(0);
    expect(started.printed).toMatchObject({ stdout: 'out\n', stderr: 'err\n' });
  });

  it('ends at a closed pipe, as without the keeper', async () => {
    const started = sh('yes | head -n 1');
    await ended(started);
    expect(started.printed).toMatchObject({ stdout: 'y\n', stderr: '' });
  });

  it('has the CPU time of all its processes, including daemonised ones', async () => {
    const burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done';
    const [alone, away] = [sh(burn), sh(`(setsid bash -c '${burn}' &) ; ${burn}`)];
    const time = ({ used }: Outcome) => (used ? used.cpuUserUs + used.cpuSystemUs : Number.NaN);
    expect(time(await ended(away))).toBeGreaterThan(1.3 * time(await ended(alone)));
  });

  it('has the memory of its largest process, without that of its parent', async () => {
    const small = (await ended(start(['true']))).used?.largestProcessBytes as number;
    expect(small).toBeLessThan(process.memoryUsage.rss() / 2);
    const large = start([process.execPath, '-e', 'const all = Buffer.alloc(200e6, 1); console.log(all.length)']);
    expect((await ended(large)).used?.largestProcessBytes).toBeGreaterThan(200e6);
  });

  it('loses no output of one gigabyte', async () => {
    const started = sh('head -c 1000000000 /dev/zero');
    await ended(started);
    expect(started.printed.bytes).toBe(1_000_000_000);
  });

  it('has its daemonised processes killed and named', async () => {
    const started = sh('setsid sleep 1000 > /dev/null 2>&1 & exit 0', { stragglerMs: 200, graceMs: 200 });
    const { main, left } = await ended(started);
    expect(main?.exitCode).toBe(0);
    expect(left).toEqual({ count: 1, named: expect.stringMatching(/^\d+:sleep$/) });
  });

  it('is waited for until processes that end shortly after it have ended', async () => {
    const started = sh('setsid sleep 0.3 > /dev/null 2>&1 & exit 0');
    const { main, lastNs, left } = await ended(started);
    expect(left).toBeNull();
    expect(lastNs).toBeGreaterThan(main?.atNs as number);
  });

  it('is terminated with all its descendants', async () => {
    const started = sh('trap "echo bye; exit 7" TERM; sleep 1000 & echo ready; wait');
    await saying(started, 'ready');
    started.program.stop();
    expect((await ended(started)).main?.exitCode).toBe(7);
    expect(started.printed.stdout).toBe('ready\nbye\n');
  });

  it('is killed if it ignores SIGTERM', async () => {
    const started = sh('trap "" TERM; echo deaf; while true; do sleep 0.05; done', { graceMs: 200 });
    await saying(started, 'deaf');
    started.program.stop();
    expect((await ended(started)).main).toMatchObject({ how: 'was killed by signal 9', exitCode: null, signal: 9 });
  });

  it('is killed at once on request', async () => {
    const started = sh('trap "" TERM; (trap "" TERM; setsid sleep 1000) & echo deaf; wait; sleep 1000');
    await saying(started, 'deaf');
    started.program.kill();
    expect((await ended(started)).main?.signal).toBe(9);
  });

  it('leaves no process if its keeper is killed', async () => {
    const started = sh('setsid sleep 1000 & echo started; sleep 1000');
    await saying(started, 'started');
    process.kill(started.program.keeperPid as number, 'SIGKILL');
    expect(await ended(started)).toMatchObject({ main: null, used: null });
  });

  it.each([
    [['/no/such/program'], 'no such file or directory'],
    [['no-such-program'], 'no such file or directory'],
    [['/'], 'permission denied'],
  ])('is refused with the reason if %j cannot be started', async (command, refused) => {
    const started = start(command);
    expect(await started.program.begun).toBeNull();
    expect(await ended(started)).toMatchObject({ refused, main: null });
  });

  it('that waits is started when it is begun, or not at all', async () => {
    const waiting = sh('echo there', { waits: true });
    expect(waiting.program.hasBegun).toBe(false);
    waiting.program.begin();
    expect((await ended(waiting)).main).toMatchObject({ exitCode: 0 });
    expect(waiting.printed.stdout).toBe('there\n');
    const cancelled = sh('echo there', { waits: true });
    cancelled.program.cancel();
    expect((await ended(cancelled)).main).toBeNull();
    expect(cancelled.printed.stdout).toBe('');
  });

  it('that is given to a guardian is ended by nobody else', async () => {
    const started = sh('trap "" TERM; echo up; sleep 1; exit 7', { graceMs: 50 });
    await saying(started, 'up');
    expect(await started.program.giveToGuardian()).toBe(true);
    started.program.stop();
    started.program.kill();
    expect((await ended(started)).main).toMatchObject({ exitCode: 7, signal: null });
  });

  it('that is being ended is not given to a guardian', async () => {
    const started = sh('trap "" TERM; echo up; sleep 600 & wait', { graceMs: 1_000 });
    await saying(started, 'up');
    started.program.stop();
    expect(await started.program.giveToGuardian()).toBe(false);
    expect((await ended(started)).main).toMatchObject({ signal: 9 });
    expect(await started.program.giveToGuardian()).toBe(false);
  });

  it('is refused with the folder that it cannot enter', async () => {
    const started = start(['true'], { cwd: '/no/such/folder' });
    expect((await ended(started)).refused).toMatch(/working directory cannot be entered: no such file/);
  });

  it('is away from the terminal: Ctrl-C does not reach it, and it cannot ask there', () => {
    // `script` gives its command a terminal; the keeper reads an empty environment, and control stays open meanwhile.
    const open = '(: < /dev/tty) 2>&1 && echo terminal';
    const group = 'read -r _ _ _ _ group _ < /proc/self/stat; echo "group $group"';
    const program = `${open}; ${group}`;
    const command = `${open}; ${group}; (printf '\\0\\0\\0\\0'; sleep 1) | "$KEEPER" / 1000 200 /bin/sh -c "$PROGRAM" 3> /dev/null`;
    const printed = execFileSync('script', ['-qec', command, '/dev/null'], {
      encoding: 'utf8',
      env: { ...process.env, SHELL: '/bin/sh', KEEPER: keeperProgram() as string, PROGRAM: program },
    });
    const [seen, group1, refused, group2, ...rest] = printed.trim().split(/\r?\n/);
    expect([seen, rest]).toEqual(['terminal', []]);
    expect(refused).toMatch(/No such device or address/);
    expect(group1).toMatch(/^group \d+$/);
    expect(group2).toMatch(/^group \d+$/);
    expect(group2).not.toBe(group1);
  });

  it('ends with the process that started it', async () => {
    const mark = randomUUID();
    const script = `
      const { spawn } = require('node:child_process');
      const keeper = spawn(process.argv[1], ['/', '1000', '200', 'bash', '-c', 'trap "" TERM; setsid sleep 1000 & echo up; sleep 1000'], { stdio: ['pipe', 'pipe', 'inherit', 'pipe'], env: {} });
      const block = Buffer.from('PATH=' + process.env.PATH + '\\0GVB_TEST_MARK=${mark}\\0');
      const length = Buffer.alloc(4); length.writeUInt32LE(block.length);
      keeper.stdin.write(Buffer.concat([length, block]));
      keeper.stdout.once('data', () => process.kill(process.pid, 'SIGKILL'));
    `;
    expect(() =>
      execFileSync(process.execPath, ['-e', script, keeperProgram() as string], { stdio: 'ignore' }),
    ).toThrow();
    await passing(() => expect(processesOf(mark)).toEqual([]));
  });
});
