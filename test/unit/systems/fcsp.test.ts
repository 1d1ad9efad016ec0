import { existsSync, mkdirSync, openSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FcspSystem, type FcspOptions } from '../../../lib/systems/kinds/fcsp/fcsp-system.js';
import { fcspSettings, fcspVariables } from '../../../lib/systems/kinds/fcsp/fcsp.js';
import { Place } from '../../../lib/config/setting-place.js';
import { read } from '../../../lib/config/read.js';
import { CARD, description, GIB, libraryFile, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
const library = libraryFile(folder);
const place = join(folder, 'shm');
mkdirSync(place);

async function prepared(change: Partial<FcspOptions> = {}) {
  const system = new FcspSystem({
    name: 'fcsp',
    caller: { PATH: '/bin' },
    library,
    memory: { percent: 50 },
    sm: 50,
    variables: { BUD_ISOLATION_MODE: 'strict' },
    stateFiles: [],
    places: [place],
    ...change,
  });
  const run = runState(folder);
  await system.prepare(run);
  onTestFinished(() => system.teardown());
  return { system, run };
}
const variables = (raw: Record<string, string | Record<string, string>>) =>
  fcspVariables(read(fcspSettings, new Place(raw, 'fcsp')));

describe('FCSP', () => {
  it('sets both names of the compute limit, and memory in bytes', async () => {
    const { system, run } = await prepared();
    expect(system.environment()).toEqual({
      PATH: '/bin',
      CUDA_MPS_PIPE_DIRECTORY: join(run.directory, 'fcsp', 'no-mps'),
      LD_PRELOAD: library,
      BUD_MEMORY_LIMIT: `${CARD / 2}`,
      BUD_SM_LIMIT: '50',
      BUD_COMPUTE_LIMIT: '50',
      BUD_ISOLATION_MODE: 'strict',
    });
  });

  it('is unavailable without a library', async () =>
    expect((await prepared({ library: null })).system.unavailable).toMatch(
      /^library not available: name it with library=FILE$/,
    ));

  it('knows presets, which single settings and then env override', () =>
    expect(
      variables({ preset: 'fair', tenantFloor: '50', cooperative: 'false', env: { BUD_BURST_MAX_PCT: '5' } }),
    ).toEqual({
      BUD_ISOLATION_MODE: 'balanced',
      BUD_TENANT_FLOOR_PCT: '50',
      BUD_SHARED_POOL_PCT: '30',
      BUD_BURST_MAX_PCT: '5',
      BUD_COOPERATIVE_MODE: '0',
    }));

  it.each([
    [
      { mode: 'strickt' },
      /mode of fcsp to be none, balanced, strict or adaptive but received 'strickt': did you mean strict\?/,
    ],
    [{ tenantFloor: '101' }, /tenantFloor of fcsp to be an integer from 0 to 100/],
    [{ uvm: 'yes' }, /uvm of fcsp to be true, false, 1 or 0/],
    [{ env: { 'A B': 'x' } }, /A B is none/],
  ])('refuses %j', (raw, message) => expect(() => variables(raw as Record<string, string>)).toThrow(message));

  it('is not proven by a file name that HAMi-core also has', async () => {
    const { system } = await prepared();
    const { invalid } = await system.attest(description(library, { memoryBytes: CARD / 2 }));
    expect(invalid).toMatch(/0 exported names begin with bud_\. Give BUD-FCSP's library/);
    expect(invalid).not.toMatch(/dladdr/);
  });

  it('finds the state files open in its process, and deletes them after the last tenant; others are only named', async () => {
    const { system } = await prepared();
    const [region, foreign] = [join(place, 'bud-region'), join(place, 'foreign')];
    for (const id of [1, 2]) await system.prepareTenant({ id });
    const open = openSync(region, 'w');
    writeFileSync(foreign, '');
    const { warnings } = await system.attest(description(library));
    closeSync(open);
    expect(warnings).toEqual([expect.stringContaining(`left in place: ${foreign}.`)]);
    await system.reap({ id: 1 });
    expect(existsSync(region)).toBe(true);
    await system.reap({ id: 2 });
    expect([existsSync(region), existsSync(foreign)]).toEqual([false, true]);
  });

  it('refuses state files of another run', async () => {
    const left = join(place, 'left');
    writeFileSync(left, '');
    await expect(prepared({ stateFiles: [left] })).rejects.toThrow(/it holds the state of another run/);
  });

  it('does not expect a soft limit to refuse', async () => {
    expect((await prepared()).system.canaries()).toEqual([{ bytes: 70.25 * GIB, expected: 'refused' }]);
    const soft = await prepared({ variables: { BUD_MEMORY_LIMIT_MODE: 'soft' } });
    expect(soft.system.canaries()).toEqual([]);
  });
});
