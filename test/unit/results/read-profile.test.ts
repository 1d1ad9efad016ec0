/** Reading call profiles from untrusted files. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../lib/errors/usage-error.js';
import { readProfile } from '../../../lib/results/read-profile.js';
import { temporaryFolder } from '../../temporary.js';
import { callProfile, phase } from '../profile-fixtures.js';

const folder = temporaryFolder('profiles');
let files = 0;

function saved(content: unknown): string {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const good = callProfile(phase({ cuLaunchKernel: 5 }));
const withPhase = (change: object) => ({ ...good, phases: [{ ...good.phases[0], ...change }] });
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`cuA${i}`, 1]));

describe('a call profile', () => {
  it('is read as it was written', async () => expect(await readProfile(saved(good))).toEqual(good));

  it.each<[string, unknown, RegExp]>([
    ['an empty file', '', /it is empty/],
    ['half a file', JSON.stringify(good).slice(0, -9), /not whole JSON/],
    ['null', 'null', /it is none, as gpu-virt-bench profile writes it/],
    ['a list', [], /it is none/],
    ['a result document', { kind: 'run', schemaVersion: 2 }, /it is none/],
    ['a newer one', { ...good, schemaVersion: 7 }, /of version 7 and this gpu-virt-bench reads 1/],
    ['a number of calls below zero', withPhase({ calls: { cuInit: -1 } }), /at phases\.0\.calls\.cuInit: /],
    ['half a call', withPhase({ calls: { cuInit: 1.5 } }), /at phases\.0\.calls\.cuInit: /],
    ['more calls than can be counted', withPhase({ calls: { cuInit: 1e300 } }), /at phases\.0\.calls\.cuInit: /],
    ['calls that are no number', withPhase({ calls: { cuInit: '5' } }), /at phases\.0\.calls\.cuInit: /],
    ['no call', withPhase({ calls: {} }), /at phases\.0\.calls: /],
    ['another function', withPhase({ calls: { 'rm -rf': 1 } }), /at phases\.0\.calls/],
    ['more functions than there are', withPhase({ calls: names(5_001) }), /at phases\.0\.calls: .*5001/],
    ['a phase without a name', withPhase({ name: '' }), /at phases\.0\.name: /],
    ['time that ran backwards', withPhase({ seconds: -1 }), /at phases\.0\.seconds: /],
    ['no step', withPhase({ steps: 0 }), /at phases\.0\.steps: /],
    ['no phase', { ...good, phases: [] }, /at phases: /],
    ['one phase twice', { ...good, phases: [good.phases[0], good.phases[0]] }, /two of its phases are named 'all'/],
    ['a key that it does not have', { ...good, price: 1 }, /at price: /],
  ])('is refused: %s', async (_, content, says) => {
    const file = saved(content);
    const refusal = readProfile(file);
    await expect(refusal).rejects.toThrow(UsageError);
    await expect(refusal).rejects.toThrow(says);
    await expect(refusal).rejects.toThrow(`Expected a call profile but received '${file}': `);
  });

  it('is refused if it is not a file or too large', async () => {
    await expect(readProfile(join(folder, 'gone.json'))).rejects.toThrow(/there is no such file/);
    mkdirSync(join(folder, 'directory'));
    await expect(readProfile(join(folder, 'directory'))).rejects.toThrow(/it is not a regular file/);
    await expect(readProfile('/dev/zero')).rejects.toThrow(/it is not a regular file/);
    const large = saved('');
    truncateSync(large, 17 * 2 ** 20);
    await expect(readProfile(large)).rejects.toThrow(/it has 17 MiB, and 16 at most are read/);
  });
});
