/** The system `nvshare` with stand-ins for its library and its scheduler. The real ones were tried by hand (docs/systems.md). */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nvshareStandIn, standInLibrary } from '../nvshare.js';
import { passing } from '../waiting.js';
import { emptyFolder, loadsDriver, parseComparison, processesOf, start } from './command.js';

const sim = 'init_ms=1,context_ms=1';

/** TMPDIR is the test's own, so that anything left behind is seen. */
function compare(system: string) {
  const temporary = emptyFolder();
  const measured = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--iterations', '20', '--rounds', '1'];
  const args = [
    ...measured,
    '--json',
    '-',
    '--system',
    'native',
    '--system',
    system,
    '--output',
    join(emptyFolder(), 'out'),
  ];
  return { temporary, ...start(args, { TMPDIR: temporary }, sim) };
}

async function compared(stand: ReturnType<typeof nvshareStandIn>, library: string, more = '') {
  const { scheduler, socket } = stand;
  const run = compare(`nvshare:library=${library},scheduler=${scheduler},socket=${socket}${more}`);
  const outcome = await run.done;
  await passing(() => expect([...processesOf(run.mark), ...runs(scheduler)]).toEqual([]));
  expect(readdirSync(run.temporary)).toEqual([]);
  return outcome;
}

const runs = (program: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program);
    } catch {
      return false;
    }
  });

const reasonOf = (stdout: string) => parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason;

describe.concurrent('nvshare', () => {
  it('measures proven clients of a scheduler of its own, which ends with its socket and the folder it made', async () => {
    const stand = nvshareStandIn();
    const { code, stdout } = await compared(stand, standInLibrary(stand), ',quantum=3s');
    expect(code).toBe(0);
    const { system, metrics } = parseComparison(stdout).systems[1]?.[0] ?? {};
    expect(metrics?.[0]?.status).toBe('ok');
    expect(system?.attestation.filter(({ passed }) => !passed)).toEqual([]);
    expect(system?.attestation.map(({ proof }) => proof)).toEqual(
      expect.arrayContaining([
        'owners of the driver functions',
        'free memory as nvshare shows it',
        'the scheduler of this run, and whether it gives turns',
      ]),
    );
    expect(readFileSync(stand.told, 'utf8')).toBe('8 3\n2 \n');
    expect(existsSync(dirname(stand.socket))).toBe(false);
  });

  it('measures programs of exec, except one that leaves the library behind', async () => {
    const stand = nvshareStandIn();
    const { scheduler, socket } = stand;
    const program = [process.execPath, '-e', loadsDriver(1_000)];
    const config = join(emptyFolder(), 'workloads.json');
    const named = [
      { name: 'kept', argv: program },
      { name: 'left', argv: ['env', '-u', 'LD_PRELOAD', ...program] },
    ];
    writeFileSync(config, JSON.stringify({ workloads: named }));
    const few = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', '--config', config];
    const system = `nvshare:library=${standInLibrary(stand)},scheduler=${scheduler},socket=${socket}`;
    const output = ['--json', '-', '--output', join(emptyFolder(), 'out')];
    const { code, stdout } = await start(['exec', ...few, '--system', system, ...output], {}, sim).done;
    const { metrics = [] } = parseComparison(stdout).systems[0]?.[0] ?? {};
    const wall = (name: string) => metrics.find(({ id }) => id === `${name}/wall`);
    expect(wall('kept')?.status).toBe('ok');
    expect(wall('left')).toMatchObject({
      status: 'invalid',
      reason: expect.stringMatching(
        /^layer not active: process \d+ \(node\) used the driver without .*libnvshare/,
      ) as string,
    });
    expect(code).toBe(5);
  });

  it.each([
    ['owns nothing', 'IDLE', /^layer not active: .*owns none of cuInit, cuMemAlloc, cuMemGetInfo, cuLaunchKernel/],
    ['owns everything and changes nothing', 'SHOWS_ALL', /^layer not active: free memory as nvshare shows it/],
  ])('publishes nothing under a library that %s', async (_, macro, reason) => {
    const stand = nvshareStandIn();
    const { code, stdout } = await compared(stand, standInLibrary(stand, macro));
    expect(code).toBe(5);
    expect(reasonOf(stdout)).toMatch(reason);
  });

  it('publishes nothing where the scheduler still gives turns that were switched off', async () => {
    const stand = nvshareStandIn('stubborn');
    const { code, stdout } = await compared(stand, standInLibrary(stand), ',turns=false');
    expect(code).toBe(5);
    expect(reasonOf(stdout)).toMatch(/turns are on, not as set/);
  });

  it('says why the scheduler did not start', async () => {
    const stand = nvshareStandIn('ends');
    const { code, stderr } = await compared(stand, standInLibrary(stand));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /The scheduler of nvshare did not start: .*ended with exit code 1\. \[NVSHARE\]\[FATAL\]: no right to/,
      ) as string,
    });
  });

  it('leaves a scheduler alone that runs already, and says so', async () => {
    const stand = nvshareStandIn();
    const other = spawn(stand.scheduler, [], { stdio: 'ignore' });
    try {
      await passing(() => expect(existsSync(stand.socket)).toBe(true));
      const { socket } = stand;
      const { scheduler } = nvshareStandIn();
      const run = compare(`nvshare:library=${standInLibrary(stand)},scheduler=${scheduler},socket=${socket}`);
      const { code, stderr } = await run.done;
      expect(code).toBe(2);
      expect(stderr).toMatch(/Expected nobody to listen on .*: end that scheduler first/);
      expect({ exit: other.exitCode, socket: existsSync(socket) }).toEqual({ exit: null, socket: true });
    } finally {
      other.kill();
    }
  });

  it('is unavailable without its scheduler', async () => {
    const stand = nvshareStandIn();
    const { code, stderr } = await compare(`nvshare:library=${standInLibrary(stand)}`).done;
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/nvshare-scheduler is not in PATH: name it with scheduler=FILE/) as string,
    });
  });

  it('ends its scheduler when the run is killed', async () => {
    const stand = nvshareStandIn();
    const { scheduler, socket } = stand;
    const library = standInLibrary(stand);
    const run = compare(`nvshare:library=${library},scheduler=${scheduler},socket=${socket}`);
    await passing(() => expect(existsSync(stand.told)).toBe(true));
    run.child.kill('SIGKILL');
    await run.done;
    await passing(() =>
      expect({ runs: runs(scheduler), socket: existsSync(socket) }).toEqual({ runs: [], socket: false }),
    );
  });
});
