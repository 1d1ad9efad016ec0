import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, emptyFolder, hasDriver, main } from './command.js';
import { expectRefusal, refused } from './refused.js';

const ONE_LINE = /^error: [^\n]+\n$/;

interface Case {
  args: string[];
  says: RegExp;
}

const cases: Record<string, Case> = {
  'an unknown metric': { args: ['run', 'OH-0001'], says: /received 'OH-0001': did you mean OH-001\?/ },
  'a glob that matches nothing': { args: ['run', 'ZZ-*'], says: /received 'ZZ-\*': gpu-virt-bench list/ },
  'a device out of range': {
    args: ['run', '--simulate', '--device', '7'],
    says: /Expected --device to be .* but received 7\./,
  },
  'a device that is none': {
    args: ['run', '--device', 'big'],
    says: /Expected --device to be an NVML index or a UUID/,
  },
  'a negative count': {
    args: ['run', '--iterations', '-5'],
    says: /Expected --iterations to be an integer from 1 to 10000000 but received -5\./,
  },
  'an absurd count': { args: ['run', '--iterations', '1e300'], says: /Expected --iterations to be an integer from 1/ },
  'a count that is none': {
    args: ['run', '--warmup', 'some'],
    says: /Expected --warmup to be a number but received 'some'/,
  },
  'a resolution of nothing': { args: ['run', '--resolution', '0'], says: /Expected --resolution to be/ },
  'an unknown tier': {
    args: ['run', '--tier', 'slow'],
    says: /Expected --tier to be one of quick, standard, thorough/,
  },
  'an unknown path': { args: ['run', '--path', 'bare'], says: /Expected --path to be one of runtime, dlsym, linked/ },
  'a document without a name': { args: ['run', '--json', ''], says: /Expected --json to be a file/ },
  'a missing value': { args: ['run', '--json'], says: /argument missing/ },
  'contradictory flags': {
    args: ['run', '--simulate', '--require-gpu'],
    says: /'--simulate' cannot be used with .*'--require-gpu'/,
  },
  'two ways to stop': {
    args: ['run', '--iterations', '5', '--resolution', '0.1'],
    says: /--iterations .* cannot be used with/,
  },
  'a document of a dry run': { args: ['run', '--dry-run', '--json', '-'], says: /--json .* cannot be used with/ },
  'an unknown flag': {
    args: ['run', '--iteration', '5'],
    says: /unknown option '--iteration' \(Did you mean --iterations\?\)/,
  },
  'an unknown command': { args: ['rum'], says: /unknown command 'rum' \(Did you mean run\?\)/ },
  'arguments of a command that takes none': { args: ['list', 'OH-001'], says: /too many arguments/ },
};

describe('the environment', () => {
  const few = ['OH-002', '--simulate', '--iterations', '20'];
  const two = ['--system', 'native:name=a', '--system', 'native:name=b'];
  const file = join(emptyFolder(), 'file');
  writeFileSync(file, '');

  it.each([
    ['run', '/nonexistent/tmp', 'it does not exist', []],
    ['compare', '/nonexistent/tmp', 'it does not exist', two],
    ['run', file, 'it is not a folder', []],
    ['run', join(file, 'tmp'), 'a part of its path is not a folder', []],
    ['compare', file, 'it is not a folder', two],
  ] as const)('refuses, in %s, a TMPDIR that is %s', async (name, TMPDIR, why, systems) => {
    const { code, stderr } = await command([name, ...few, ...systems], { TMPDIR });
    expect(stderr).toBe(
      `error: Expected TMPDIR to be a folder that can be written but received '${TMPDIR}': ${why}.\n`,
    );
    expect(code).toBe(2);
  });

  const profile = ['profile', '--output', '/dev/null', '--', '/bin/true'];

  it.each([
    [20, ['run', ...few]],
    [22, ['run', ...few]],
    [24, ['run', ...few]],
    [24, profile],
  ])('reports that a limit of %i open files is too low: %j', (most, args) => {
    const shell = ['-c', `ulimit -n ${most}; exec "$@"`, 'sh', process.execPath, main, ...args];
    const { status, stderr } = spawnSync('sh', shell, { encoding: 'utf8', cwd: emptyFolder() });
    expect(stderr).toBe(
      `error: The limit of open files is too low (ulimit -n is ${most}): raise it, e.g. with ulimit -n 1024.\n`,
    );
    expect(status).toBe(1);
  });
});

describe('bad input', () => {
  it.each(Object.entries(cases))('refuses %s in one line', async (_, { args, says }) =>
    expectRefusal(await refused(args), says),
  );

  it.each<[string, string, RegExp, number]>([
    ['an unknown setting of the simulation', 'colour=red', /GVB_SIM.*colour/, 2],
    ['a bad setting of the simulation', 'sms=many', /GVB_SIM sms.*'many'/, 2],
    ['a driver that fails', 'fail=cuInit:999@1', /cuInit returned CUDA_ERROR_UNKNOWN \(999\)/, 1],
  ])('reports %s in one line', async (_, sim, says, code) => {
    const outcome = await command(['run', '--simulate'], {}, sim);
    expect(outcome.stderr).toMatch(ONE_LINE);
    expect(outcome.stderr).toMatch(says);
    expect(outcome).toMatchObject({ stdout: '', code });
  });

  it.skipIf(hasDriver)('refuses to run if a GPU is required and there is none', async () => {
    const outcome = await command(['run', '--require-gpu']);
    expect(outcome.stderr).toMatch(ONE_LINE);
    expect(outcome).toMatchObject({ stdout: '', code: 1 });
  });

  it('shows the stack only on request', async () => {
    const { stderr } = await command(['run', 'nonsense'], { GVB_DEBUG: '1' });
    expect(stderr).toMatch(/^error: UsageError: .*\n +at /);
  });

  it.each([
    ['a directory', 'folder', /it is a directory/],
    ['a file in a missing directory', 'missing/x.json', /its directory does not exist/],
    ['a file below a file', 'file/x.json', /its directory is a file/],
  ])('refuses to write to %s, before measuring', async (_, name, says) => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), 'kept');
    expectRefusal(await refused(['run', '--simulate', '--json', join(folder, name)]), says);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['file', 'folder']);
  });

  it('refuses to write to /dev/full, before measuring', async () => {
    expectRefusal(await refused(['run', '--simulate', '--json', '/dev/full']), /no space is left on its disk/);
  });

  it('refuses to make a directory where none can be', async () => {
    expectRefusal(await refused(['init', '/proc/gpu-virt-bench/new']), /DIR to be a directory that can be written/);
  });

  it.skipIf(process.getuid?.() === 0)('refuses to write without permission', async () => {
    const outcome = await command(['run', '--simulate', '--json', '/gpu-virt-bench.json']);
    expect(outcome.stderr).toMatch(/^error: .*permission denied\.\n$/);
    expect(outcome.code).toBe(2);
  });
});
