/** `profile` with a program that makes known numbers of calls, and how `compare` and `report` use a profile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import type { CallProfile } from '../../lib/results/call-profile.js';
import { readProfile } from '../../lib/results/read-profile.js';
import { countedProgram } from '../native/counted-program.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { passing } from '../waiting.js';
import { undisturbed } from '../undisturbed.js';
import { callProfile, phase } from '../unit/profile-fixtures.js';
import {
  command,
  commandIn,
  emptyFolder,
  main,
  parseComparison,
  processesOf,
  root,
  type Running,
  start,
} from './command.js';
import { expectRefusal, refused } from './refused.js';

let program = '';
beforeAll(() => {
  program = countedProgram();
});

const profiled = async (way: string, options: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) => {
  const file = join(emptyFolder(), 'out.json');
  const outcome = await command(['profile', '--output', file, ...options, '--', program, way], environment);
  return { ...outcome, file, read: () => readProfile(file) };
};

const callsIn = ({ phases }: CallProfile) => phases.map(({ name, steps, calls }) => [name, steps, calls]);

describe('profile', () => {
  it('writes how often a program called each function, per second and in total', async () => {
    const { code, stderr, read, file } = await profiled('steps', [
      '--steps',
      '40',
      '--name',
      'decode',
      '--origin',
      'x',
    ]);
    expect(code).toBe(0);
    const written = await read();
    expect(callsIn(written)).toEqual([
      [
        'all',
        40,
        {
          cuCtxGetCurrent: 240,
          cuMemGetInfo_v2: 80,
          cuGetProcAddress_v2: 5,
          cuCtxSetCurrent: 1,
          cuDevicePrimaryCtxRetain: 1,
          cuInit: 1,
        },
      ],
    ]);
    const { origin, processes, name } = written;
    expect({ name, processes }).toEqual({ name: 'decode', processes: { calling: 1, of: 1 } });
    expect(origin).toMatchObject({ note: 'x', command: [program, 'steps'], ended: 'exit code 0', simulated: true });
    expect(origin.driver.libcuda).toMatch(/libcuda\.so\.1$/);
    expect(stderr).toMatch(/^cuCtxGetCurrent +240 +6\.000 +\S+ +73\.17 %$/m);
    const schema: unknown = JSON.parse(readFileSync(join(root, 'schema/call-profile.schema.json'), 'utf8'));
    const ajv = new Ajv({ strict: false, validateFormats: false });
    expect(ajv.validate(schema as object, JSON.parse(readFileSync(file, 'utf8'))), ajv.errorsText()).toBe(true);
  });

  it('counts the processes that a program starts, and leaves only the profile behind', async () => {
    const folder = emptyFolder();
    const temporary = temporaryFolder('tmp');
    const running = start(['profile', '--', program, 'fork'], { TMPDIR: temporary }, '', folder);
    expect((await running.done).code).toBe(0);
    expect(readdirSync(folder)).toEqual(['profile.json']);
    expect(readdirSync(temporary)).toEqual([]);
    const written = await readProfile(join(folder, 'profile.json'));
    expect(callsIn(written)).toEqual([['all', null, { cuDriverGetVersion: 12 }]]);
    expect(written).toMatchObject({ name: 'counted', processes: { calling: 2, of: 2 } });
  });

  it('has the exit code of a program that fails, and the calls that it made', async () => {
    const failed = await profiled('fail');
    expect(failed.code).toBe(3);
    expect(failed.stderr).toMatch(/^warning: the program ended with exit code 3: /m);
    expect((await failed.read()).phases[0]?.calls.cuInit).toBe(1);
    const killed = await profiled('kill');
    expect(killed.code).toBe(137);
    expect(await killed.read()).toMatchObject({ origin: { ended: 'SIGKILL' } });
  });

  it('counts between marks in the output, which it forwards', async () => {
    const file = join(emptyFolder(), 'out.json');
    const child = spawn(process.execPath, [main, 'profile', '--marks', '--output', file, '--', program, 'marked'], {
      env: { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: `region=${ownRegion('cli')}` },
      stdio: 'pipe',
    });
    let [stdout, stderr, answered] = ['', '', 0];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
      // The program continues once a mark has been counted.
      const marks = stderr.match(/^phase decode (begins|ends)$/gm)?.length ?? 0;
      for (; answered < marks; answered++) child.stdin.write('\n');
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    expect(stdout).toBe('gvb:begin decode\ngvb:end 4\ngvb:begin decode\ngvb:end 4\n');
    expect(callsIn(await readProfile(file))).toEqual([['decode', 8, { cuDriverGetVersion: 40 }]]);
  });

  it('reports why nothing was counted, and writes nothing', async () => {
    const folder = emptyFolder();
    const nothing = await commandIn(folder, ['profile', '--', program, 'none']);
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toMatch(/^error: No driver call was counted: no process .* uses no CUDA/m);
    const cleared = await commandIn(folder, ['profile', '--', 'env', '-i', program, 'linked']);
    expect(cleared.code).toBe(1);
    expect(cleared.stderr).toMatch(/^error: No driver call was counted: no process .* clears LD_PRELOAD/m);
    const unmarked = await commandIn(folder, ['profile', '--marks', '--', program, 'linked']);
    expect(unmarked.stderr).toMatch(/the driver was called, but no phase began/);
    const late = await commandIn(folder, ['profile', '--from', '1000', '--', program, 'linked']);
    expect(late.stderr).toMatch(/with --from it has to run for longer/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says which processes could not be counted', async () => {
    const limited = ['sh', '-c', `${program} linked; ulimit -f 0; ${program} dlsym`];
    const file = join(emptyFolder(), 'out.json');
    const { code, stderr } = await command(['profile', '--output', file, '--', ...limited]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: the calls of one process are not in the profile: .*: File too large\./m);
    expect(await readProfile(file)).toMatchObject({ processes: { calling: 1, of: 1 } });
  });

  it('forwards an interruption, and writes the counts so far', async () => {
    const folder = emptyFolder();
    const shell = ['sh', '-c', `${program} linked; echo waiting >&2; exec sleep 1000`];
    const running = start(['profile', '--', ...shell], {}, '', folder);
    await running.said('waiting');
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    await expect.poll(() => processesOf(running.mark)).toEqual([]);
    const written = await readProfile(join(folder, 'profile.json'));
    expect(written).toMatchObject({ origin: { ended: 'SIGINT' }, phases: [{ calls: { cuInit: 1 } }] });
  });

  it('writes nothing if it is interrupted before the first call', async () => {
    const folder = emptyFolder();
    const running = start(['profile', '--', 'sh', '-c', 'echo waiting >&2; exec sleep 1000'], {}, '', folder);
    await running.said('waiting');
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.done;
    expect(code).toBe(130);
    expect(stderr).toMatch(/^error: Interrupted by SIGTERM before anything was measured\.$/m);
    expect(readdirSync(folder)).toEqual([]);
  });

  describe('leaves nothing of its program', () => {
    // A daemon in a session of its own, and a shell; both ignore what asks them to end.
    const deaf = () =>
      `trap "" TERM INT; setsid sleep 1000 > /dev/null 2>&1 & ${program} linked; echo waiting >&2; while :; do sleep 0.1; done`;
    const nothingLeft = ({ mark }: Running) => passing(() => expect(processesOf(mark)).toEqual([]));

    it('if the command is killed', async () => {
      const running = start(['profile', '--', 'bash', '-c', deaf()]);
      await running.said('waiting');
      running.child.kill('SIGKILL');
      await nothingLeft(running);
    });

    it('if it is interrupted twice, and writes the profile', async () => {
      const folder = emptyFolder();
      const running = start(['profile', '--', 'bash', '-c', deaf()], {}, '', folder);
      await running.said('waiting');
      running.child.kill('SIGTERM');
      running.child.kill('SIGINT');
      expect((await running.done).code).toBe(130);
      await nothingLeft(running);
      expect(await readProfile(join(folder, 'profile.json'))).toMatchObject({ origin: { ended: 'SIGKILL' } });
    });

    it('if its keeper is killed', async () => {
      const running = start(['profile', '--', 'bash', '-c', deaf()]);
      await running.said('waiting');
      const { pid } = running.child;
      process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGKILL');
      const { code, stderr } = await running.done;
      expect(code).toBe(137);
      expect(stderr).toMatch(/ended with SIGKILL, as gvb-keeper, which started it, did: the profile is of what it did/);
      await nothingLeft(running);
    });

    it('if it ends before what it started, whose exit code it keeps', async () => {
      const daemon = `${program} linked; setsid sleep 1000 > /dev/null 2>&1 & exit 3`;
      const running = start(['profile', '--', 'bash', '-c', daemon]);
      const { code, stderr } = await running.done;
      expect(code).toBe(3);
      expect(stderr).toMatch(/^warning: the program left 1 process running \(\d+:sleep\), which was killed: /m);
      await nothingLeft(running);
    });

    it('if the profile cannot be made', async () => {
      const running = start(['profile', '--', 'bash', '-c', `sleep 1000 & echo waiting >&2; kill -9 $$`]);
      expect((await running.done).code).toBe(1);
      await nothingLeft(running);
    });
  });

  it('leaves the terminal to its program, which may be typed into and interrupted', async () => {
    const script = `${program} linked; [ -t 0 ] && [ -t 1 ] && read -r line && echo "read $line"; trap "echo caught; exit 9" INT; echo waiting; while :; do sleep 0.05; done`;
    const file = join(emptyFolder(), 'out.json');
    // `script` gives its command a terminal.
    const command = `exec "$NODE" "$MAIN" profile --output "$FILE" -- sh -c "$SCRIPT"`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: {
        ...{ PATH: process.env.PATH, HOME: emptyFolder(), SHELL: '/bin/sh', GVB_SIM: `region=${ownRegion('cli')}` },
        ...{ NODE: process.execPath, MAIN: main, FILE: file, SCRIPT: script },
      },
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk));
    const ended = once(child, 'close');
    child.stdin.write('hello\n');
    await passing(() => expect(printed).toContain('read hello\r\nwaiting'));
    child.stdin.write('\x03');
    expect((await ended)[0]).toBe(130);
    expect(printed).toContain('caught');
    expect(await readProfile(file)).toMatchObject({ origin: { ended: 'exit code 9' } });
  });

  it.each<[string, string[], RegExp]>([
    ['no program', ['profile'], /missing required argument/],
    ['a program that is not there', ['profile', '--', '/nowhere/program'], /Could not start '\/nowhere\/program'/],
    ['half a step', ['profile', '--steps', '1.5', '--', 'true'], /Expected --steps to be an integer from 1/],
    ['no time', ['profile', '--for', '0', '--', 'true'], /Expected --for to be a number of seconds above 0/],
    ['two kinds of phases', ['profile', '--marks', '--from', '1', '--', 'true'], /'--marks' cannot be used with/],
    ['standard output', ['profile', '--output', '-', '--', 'true'], /standard output is the program’s/],
    ['an output that cannot be', ['profile', '--output', '/nowhere/x', '--', 'true'], /Expected --output to be a file/],
    ['no name', ['profile', '--name', '', '--', 'true'], /Expected --name to be a text of 1 to 100 characters/],
  ])('refuses %s', async (_, args, says) => expectRefusal(await refused(args), says));

  it('refuses a layer in LD_PRELOAD, because a profile covers only the program', async () => {
    const { code, stderr } = await profiled('linked', [], { LD_PRELOAD: interposerLibrary() ?? '' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: Expected LD_PRELOAD to name no GPU layer but received '.*libgvb-interpose\.so'/m);
  });
});

describe('--profile', () => {
  const saved = (content: unknown): string => {
    const file = join(emptyFolder(), 'profile.json');
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  const profile = callProfile(phase({ cuMemGetInfo_v2: 20, cuNoSuchFunction: 5 }));

  it("reports each system's cost for the program, and for another profile from the saved document", async () => {
    const layer = `custom:name=slow,env.LD_PRELOAD=${interposerLibrary()},env.GVB_INTERPOSE=cuMemGetInfo_v2=+20us`;
    const { folder, document, stderr } = await undisturbed(
      async () => {
        const folder = emptyFolder();
        const { stdout, stderr } = await commandIn(folder, [
          ...['compare', 'OH-005', '--simulate', '--tier', 'quick', '--rounds', '2', '--seed', '1', '--json', '-'],
          ...['--profile', saved(profile), '--output', 'out', '--system', 'native', '--system', layer],
        ]);
        return { folder, document: parseComparison(stdout), stderr };
      },
      ({ document: { systems } }) => systems.flat().flatMap(({ metrics }) => metrics),
    );
    const { programCosts = [], systems } = document;
    const [native, slow] = programCosts;
    expect(programCosts.map(({ system }) => system)).toEqual(['native', 'slow (unverified)']);
    expect(native).toMatchObject({ taxUs: 0, ci95: [0, 0] });
    expect(slow?.taxUs).toBeGreaterThanOrEqual(2 * 20);
    for (const { missing } of programCosts)
      expect(missing).toEqual([{ call: 'cuNoSuchFunction', callsPerStep: 0.5, reason: 'not measured' }]);
    const prices = systems[1]?.[0]?.metrics[0]?.details.profiles;
    expect(prices).toMatchObject([{ name: 'decode', missing: [{ call: 'cuNoSuchFunction', callsPerStep: 0.5 }] }]);
    expect(stderr).toContain('What this program would pay:');
    const other = { ...profile, name: 'training' };
    const report = await commandIn(folder, ['report', 'out', '--profile', saved(other)]);
    expect(report.stdout).toMatch(/^## What this program would pay$/m);
    expect(report.stdout).toMatch(/^\| training \| native \|/m);
    const shipped = await commandIn(folder, ['report', 'out', '--profile', 'eager']);
    expect(shipped.stdout).toMatch(/^\| eager, phase eager decode \| native \|.* a step of 6\.389 ms with 6402 calls/m);
  });

  it.each<[string, (file: string) => string[], RegExp]>([
    [
      'metrics without prices',
      (file) => ['run', 'OH-002', '--profile', file],
      /measured by OH-005, which is not among/,
    ],
    ['a profile that is none', () => ['run', 'OH-005', '--profile', saved({})], /Expected a call profile but received/],
  ])('refuses %s', async (_, args, says) => expectRefusal(await refused(args(saved(profile))), says));

  it('refuses a document without prices', async () => {
    const folder = emptyFolder();
    const run = ['run', 'OH-002', '--simulate', '--iterations', '20', '--json', 'run.json'];
    expect((await commandIn(folder, run)).code).toBe(0);
    const report = await commandIn(folder, ['report', 'run.json', '--profile', saved(profile)]);
    expect(report.code).toBe(2);
    expect(report.stderr).toMatch(
      /prices of calls .* measure them with gpu-virt-bench compare overhead --profile FILE/,
    );
  });
});
