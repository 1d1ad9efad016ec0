/** The package in folders whose names the variables of the dynamic loader would split or expand. */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readProfile } from '../../lib/results/read-profile.js';
import { countedProgram } from '../native/counted-program.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { passing } from '../waiting.js';
import { cardIn, emptyFolder, root, workersOf } from './command.js';

/** A copy of what is built: node resolves links, so the folder of a link would be the original. */
function packageIn(name: string): string {
  const folder = join(temporaryFolder('folders'), name);
  const release = join(folder, 'build/Release');
  mkdirSync(release, { recursive: true });
  for (const part of ['sim', 'interpose', 'keeper', 'gpu_virt_bench.node'])
    cpSync(join(root, 'build/Release', part), join(release, part), { recursive: true, verbatimSymlinks: true });
  for (const part of ['dist', 'package.json', 'profiles'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function commandOf(folder: string, args: readonly string[], temporary = temporaryFolder('tmp')) {
  const result = spawnSync(process.execPath, [join(folder, 'dist/cli/main.js'), ...args], {
    env: { PATH: process.env.PATH, HOME: emptyFolder(), TMPDIR: temporary, GVB_SIM: cardIn(ownRegion('cli')) },
    cwd: emptyFolder(),
    encoding: 'utf8',
  });
  expect(readdirSync(temporary)).toEqual([]);
  return result;
}

const execOnce = ['exec', '--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', '--output', 'out', '--'];

let program = '';
beforeAll(() => {
  program = countedProgram();
});

describe.each(['a b:c;d,é日', 'a\nb$c'])('in a folder named %j', (name) => {
  let folder = '';
  beforeAll(() => {
    folder = packageIn(name);
  });

  it('profile counts', async () => {
    const file = join(emptyFolder(), 'out.json');
    const { status, stderr } = commandOf(folder, ['profile', '--output', file, '--', program, 'linked']);
    expect(stderr).not.toMatch(/cannot be preloaded/);
    expect(status).toBe(0);
    expect((await readProfile(file)).processes.of).toBe(1);
  });

  it('exec gives its program the witness and the simulated driver', () => {
    const file = join(emptyFolder(), 'seen.json');
    const script = join(emptyFolder(), 'see.js');
    writeFileSync(
      script,
      `const fs = require('fs');
       const driver = process.env.LD_LIBRARY_PATH.split(/[:;]/)[0] + '/libcuda.so.1';
       const maps = fs.readFileSync('/proc/self/maps', 'utf8');
       fs.writeFileSync(process.argv[2], JSON.stringify([maps.includes('libgvb-witness'), fs.existsSync(driver)]));`,
    );
    const { status, stderr } = commandOf(folder, [...execOnce, process.execPath, script, file]);
    expect(stderr).not.toMatch(/cannot be preloaded/);
    expect(status).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([true, true]);
  });
});

it('calibrate has the interposer in its workers, and leaves nothing if it is interrupted', async () => {
  const mark = randomUUID();
  const temporary = temporaryFolder('tmp');
  const child = spawn(
    process.execPath,
    [join(packageIn('a b:c'), 'dist/cli/main.js'), 'calibrate', '--simulate', '--tier', 'quick'],
    {
      env: { GVB_TEST_MARK: mark, HOME: emptyFolder(), TMPDIR: temporary, GVB_SIM: cardIn(ownRegion('cli')) },
      stdio: 'ignore',
    },
  );
  const ended = once(child, 'close');
  const maps = () => workersOf(mark).map(({ pid }) => readFileSync(`/proc/${pid}/maps`, 'utf8'));
  await passing(() => expect(maps().join('')).toContain('libgvb-interpose.so'));
  child.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
  expect(readdirSync(temporary)).toEqual([]);
});

it('a TMPDIR in which no link helps is named', () => {
  const temporary = join(temporaryFolder('tmp'), 'c d');
  mkdirSync(temporary);
  const { status, stderr } = commandOf(packageIn('a b'), ['profile', '--', program, 'linked'], temporary);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: Expected TMPDIR to be a folder without a space.* but received '.*\/c d\//m);
});

it('a folder that the loader expands is named', () => {
  const { status, stderr } = commandOf(packageIn('a$LIB'), [...execOnce, '/bin/true']);
  expect(status).toBe(1);
  expect(stderr).toMatch(/could not be loaded: .*\$LIB.*expands \$.*another folder/);
});
