import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { finishedRounds, openDirectory } from '../../../lib/cli/files/result-directory.js';
import type { RunDocument } from '../../../lib/results/document.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { temporaryFolder } from '../../temporary.js';
import { result, runDocument } from '../run/fixtures.js';

let folder: string;
let before: string;
beforeEach(() => {
  folder = temporaryFolder();
  before = process.cwd();
  process.chdir(folder);
});
afterEach(() => {
  vi.useRealTimers();
  process.chdir(before);
});

describe('the directory of results', () => {
  it('is separate for two runs that start in the same second', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
    const opened = await Promise.all([openDirectory({}, []), openDirectory({}, [])]);
    expect(opened.map(({ path }) => path).sort()).toEqual([
      'results/2026-11-21T12-00-00-',
      'results/2026-11-21T12-00-00--2',
    ]);
    await Promise.all(opened.map(({ close }) => close()));
    expect(readdirSync('results')).toEqual([]);
  });

  it.each(['raw', 'logs', 'summary.json', 'report.md', 'report.html', 'raw/round-0001-system-1.json'])(
    'is refused where %s in it is a symbolic link',
    async (name) => {
      mkdirSync('out');
      mkdirSync('elsewhere');
      if (name.startsWith('raw/')) mkdirSync('out/raw');
      symlinkSync(join(folder, 'elsewhere'), join('out', name));
      const option = name === 'summary.json' ? { resume: 'out' } : { output: 'out' };
      await expect(openDirectory(option, [])).rejects.toThrow(
        `in which ${name} is a symbolic link: it could point anywhere`,
      );
      expect(readdirSync('elsewhere')).toEqual([]);
    },
  );

  it('is refused if its lock is a dangling symbolic link', async () => {
    mkdirSync('out');
    symlinkSync(join(folder, 'nowhere'), 'out/.lock');
    for (const option of [{ output: 'out' }, { resume: 'out' }])
      await expect(openDirectory(option, [])).rejects.toThrow(
        'in which .lock is a symbolic link: it could point anywhere',
      );
    expect(existsSync('nowhere')).toBe(false);
  });

  it('is read only under its lock, which a refusal releases', async () => {
    const first = await openDirectory({ output: 'out' }, []);
    await first.finish(runDocument());
    await expect(openDirectory({ output: 'out' }, [])).rejects.toThrow(
      `PID ${process.pid} is writing to it; wait for it`,
    );
    await first.close();
    await expect(openDirectory({ output: 'out' }, [])).rejects.toThrow('to be a directory without results');
    expect(readdirSync('out')).not.toContain('.lock');
  });

  it('does not write through a link that appears during the measurement', async () => {
    mkdirSync('elsewhere');
    writeFileSync('kept', 'kept');
    const directory = await openDirectory({ output: 'out' }, []);
    symlinkSync(join(folder, 'elsewhere'), 'out/raw');
    symlinkSync(join(folder, 'kept'), 'out/report.md');
    await expect(directory.keepRound(0, 0, runDocument(), '')).rejects.toThrow(/raw' is a symbolic link/);
    const unwritten = await directory.finish(runDocument());
    expect(unwritten.map(({ message }) => message)).toEqual([
      expect.stringMatching(/report\.md': it is a symbolic link/),
    ]);
    expect(readdirSync('elsewhere')).toEqual([]);
    expect(readFileSync('kept', 'utf8')).toBe('kept');
    expect(existsSync('out/summary.json')).toBe(true);
  });

  it('may itself be a symbolic link that the user named', async () => {
    mkdirSync('real');
    symlinkSync('real', 'link');
    await (await openDirectory({ output: 'link' }, [])).keepRound(0, 0, runDocument(), '');
    expect(readdirSync('real/raw')).toEqual(['round-0001-system-1.json']);
  });
});

describe('a round that was measured before --resume', () => {
  const { system } = runDocument();
  const inactive = { status: 'invalid', reason: 'layer not active: x', value: null } as const;
  const warned = new Set<string>();
  const failedProof = { proof: 'x', passed: false, detail: 'y' };

  it.each<[string, string | null, Partial<RunDocument>]>([
    ['all its numbers', null, {}],
    [
      'an invalid number for another reason',
      null,
      { metrics: [result('OH-001', { status: 'invalid', value: null, reason: 'x' }), result('OH-002')] },
    ],
    ['a failed metric', 'failed', { metrics: [result('OH-001', { status: 'failed' }), result('OH-002')] }],
    [
      'one metric under no active layer',
      'was not attested',
      { metrics: [result('OH-001', inactive), result('OH-002')] },
    ],
    [
      'no valid number at all',
      'has no valid number',
      { metrics: [result('OH-001', { status: 'invalid', value: null, reason: 'x' })] },
    ],
    ...[
      'every death was seen again when its fault was raised again: trap: the victim: The worker process was killed by SIGKILL, and not again',
      'no probe was killed only once: cuInit was killed by SIGKILL, and not when it was run again',
      'The worker process ended with exit code 137.',
    ].map((reason): [string, string | null, Partial<RunDocument>] => [
      `the reason ${reason}`,
      'has OH-001 without a number, because a process died',
      { metrics: [result('OH-001', { status: 'invalid', value: null, reason }), result('OH-002')] },
    ]),
    ['a failed proof', 'was not attested', { system: { ...system, attestation: [failedProof] } }],
    ['a worker that was not looked at again', 'was not attested', { system: { ...system, notCheckedAfter: 'x' } }],
  ])('with %s (why it is measured again: %s)', async (_, why, change) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const directory = await openDirectory({ output: 'out' }, []);
    const document = runDocument({ metrics: [result('OH-001'), result('OH-002')], ...change });
    await directory.keepRound(0, 0, document, '');
    await directory.close();
    const [rounds] = await finishedRounds('out', [environmentSystem({})], 1);
    expect(rounds).toEqual(why === null ? [document] : []);
    const warning = `warning: raw/round-0001-system-1.json ${why}: it is measured again.\n`;
    // Each warning is printed once per process.
    const isSaidFirst = why !== null && !warned.has(warning);
    warned.add(warning);
    expect(said.mock.calls.map(([text]) => text)).toEqual(isSaidFirst ? [warning] : []);
    said.mockRestore();
  });
});
