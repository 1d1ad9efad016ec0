/** The settings that must be unchanged for --resume. */
import { mkdirSync, symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkUnchanged, describeRequest, readRequest, REQUEST } from '../../../lib/cli/comparing/stored-request.js';
import type { RawMap } from '../../../lib/config/raw.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { temporaryFolder } from '../../temporary.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => vi.unstubAllEnvs());

const request = (settings: RawMap, options: object = {}) =>
  describeRequest(
    {
      plan: { metrics: [], tier: 'quick', seed: 1 },
      systems: [createSystem('custom', { name: 'x', ...settings }, { caller: {}, folder })],
      rounds: 2,
    },
    options,
  );

/** Describes a system, changes something and describes it again. */
async function afterwards(settings: RawMap, change: () => void): Promise<() => void> {
  const before = await request(settings);
  change();
  const now = await request(settings);
  return () => checkUnchanged(before, now, 'out');
}

describe('a file that is named by', () => {
  const settings: [string, (path: string) => RawMap][] = [
    ['a variable', (path) => ({ env: { SOME_LIB: path } })],
    ['a list in a variable', (path) => ({ env: { PLUGINS: `/nowhere.so:${path}` } })],
    ['a prefix', (path) => ({ prefix: [path, '--quiet'] })],
    ['an option of a prefix', (path) => ({ prefix: ['nice', `--config=${path}`] })],
    ['a script of a prefix', (path) => ({ prefix: ['sh', '-c', `LD_PRELOAD="${path}" exec "$@"`, 'sh'] })],
    ['a set-up command', (path) => ({ setup: [path] })],
    ['one of several set-up commands', (path) => ({ perTenantSetup: [['true'], ['cp', path, '{runDir}/x']] })],
    ['a state file', (path) => ({ stateFiles: [path] })],
    ['a path relative to its folder', () => ({ env: { SOME_LIB: './layer.so' } })],
  ];

  it.each(settings)('%s must be unchanged', async (_, of) => {
    const path = join(folder, 'layer.so');
    writeFileSync(path, 'one build');
    const says = new RegExp(`its file ${path} of system 1 was SHA-256 [0-9a-f]{12}…, and now `);
    expect(await afterwards(of(path), () => {})).not.toThrow();
    expect(await afterwards(of(path), () => writeFileSync(path, 'two build'))).toThrow(says);
    expect(await afterwards(of(path), () => unlinkSync(path))).toThrow(
      /, and now not there; restore it, or start again/,
    );
    expect(await afterwards(of(path), () => writeFileSync(path, ''))).toThrow(/ was not there, and now SHA-256/);
  });

  it.each([
    ['a prefix', { prefix: ['wrapper', '--quiet'] }],
    ['one of several set-up commands', { setup: [['true'], ['wrapper']] }],
    ['a command that verifies', { verify: [{ command: { argv: ['wrapper'] } }] }],
  ] satisfies [string, RawMap][])('%s, through PATH, must be unchanged', async (_, settings) => {
    const path = join(folder, 'wrapper');
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    writeFileSync(path, 'one build', { mode: 0o755 });
    expect(await afterwards(settings, () => {})).not.toThrow();
    expect(await afterwards(settings, () => writeFileSync(path, 'two build'))).toThrow(`its file ${path} of system 1`);
    // Now another program of that name is found first.
    const first = join(folder, 'first');
    mkdirSync(first);
    writeFileSync(join(first, 'wrapper'), 'another', { mode: 0o755 });
    const changed = await afterwards(settings, () => vi.stubEnv('PATH', `${first}:${process.env.PATH}`));
    expect(changed).toThrow(/its file .*wrapper of system 1/);
    const own = { ...settings, env: { PATH: first } };
    expect(Object.keys((await request(own)).systems[0]?.files ?? {})).toEqual([join(first, 'wrapper')]);
  });

  it('a symbolic link to another file counts as another file', async () => {
    const link = join(folder, 'layer.so');
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
    symlinkSync('a', link);
    const changed = await afterwards({ env: { SOME_LIB: link } }, () => {
      unlinkSync(link);
      symlinkSync('b', link);
    });
    expect(changed).toThrow(`its file ${link} of system 1`);
  });

  it('a setting and is too large to be hashed must keep its size and time', async () => {
    const path = join(folder, 'large');
    const settings = { env: { WEIGHTS: path } };
    writeFileSync(path, '');
    truncateSync(path, 2 ** 30 + 1);
    expect((await request(settings)).systems[0]?.files[path]).toMatch(/^1073741825 bytes, modified at \d+ ns$/);
    expect(await afterwards(settings, () => {})).not.toThrow();
    expect(await afterwards(settings, () => utimesSync(path, 1, 1))).toThrow(
      `its file ${path} of system 1 was 10737418`,
    );
  });

  it('a secret setting is not recorded, and neither are directories, devices and files of /proc', async () => {
    const path = join(folder, 'token');
    writeFileSync(path, 'secret');
    mkdirSync(join(folder, 'cache'));
    const env = { MY_TOKEN: path, CACHE: join(folder, 'cache'), LOG: '/dev/null', MAPS: '/proc/self/maps' };
    expect((await request({ env })).systems[0]?.files).toEqual({});
  });
});

describe('the options of an earlier comparison', () => {
  it('can be extended by --keep-going and --allow-missing, which do not affect measured rounds', async () => {
    const [before, now] = [await request({}), await request({}, { keepGoing: true, allowMissing: true })];
    expect(() => checkUnchanged(before, now, 'out')).not.toThrow();
    expect(() => checkUnchanged(now, before, 'out')).not.toThrow();
  });

  it('cannot be extended by an option that affects numbers', async () => {
    const [before, now] = [await request({}), await request({}, { strict: true })];
    expect(() => checkUnchanged(before, now, 'out')).toThrow(/its --strict was not given, and now true/);
  });
});

it('refuse a request with an unrecorded secret, and name the setting', async () => {
  const stored = await request({ env: { FINE: '1', MY_TOKEN: 'hunter2' } });
  writeFileSync(join(folder, REQUEST), JSON.stringify(stored));
  await expect(readRequest(folder)).rejects.toThrow(/env\.MY_TOKEN of its systems is secret and was not recorded/);
  writeFileSync(join(folder, REQUEST), JSON.stringify(await request({ env: { FINE: '1' } })));
  await expect(readRequest(folder)).resolves.toMatchObject({ systems: [{ settings: { env: { FINE: '1' } } }] });
});

it('names the command that writes a request, where there is none', async () => {
  const folder = temporaryFolder();
  await expect(readRequest(folder)).rejects.toThrow(/that can be read, which compare writes with its first round/);
  await expect(readRequest(folder, 'exec')).rejects.toThrow(/that can be read, which exec writes with its first round/);
});
