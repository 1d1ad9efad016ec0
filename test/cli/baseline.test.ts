/** `baseline save`, `promote`, `list` and `remove`. */
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { about, card, type Change, comparison } from '../unit/gate/fixtures.js';
import { commandIn, emptyFolder } from './command.js';
import { expectRefusal, refused } from './refused.js';

const values = { native: { 'OH-001': about(5) }, layer: { 'OH-001': about(5) } };
const text = (change: Change = {}) => JSON.stringify(comparison(values, change));

function results(folder: string, name: string, content: string): void {
  mkdirSync(join(folder, 'results', name), { recursive: true });
  writeFileSync(join(folder, 'results', name, 'summary.json'), content);
}

describe('baseline', () => {
  it('saves the newest complete result, lists and removes it', async () => {
    const folder = emptyFolder();
    results(folder, 'complete', text());
    // The others are newer, even if the file system's clock is coarse.
    utimesSync(join(folder, 'results/complete/summary.json'), 1, 1);
    results(folder, 'interrupted', text({ document: { completed: false } }));
    results(folder, 'broken', '{');
    mkdirSync(join(folder, 'results/cut-off/raw'), { recursive: true });
    const saved = await commandIn(folder, ['baseline', 'save', 'main']);
    expect(saved).toMatchObject({
      code: 0,
      stdout: 'Saved results/complete as baseline main (native, layer) in baselines/main.json.\n',
    });
    expect(saved.stderr.trimEnd().split('\n').sort()).toEqual([
      expect.stringMatching(/^warning: results\/broken is skipped: Expected .* it is not complete JSON/),
      expect.stringMatching(
        /^warning: results\/cut-off is skipped: Expected .*: it has no summary\.json, because it was interrupted: continue it with --resume results\/cut-off\.$/,
      ),
      'warning: results/interrupted is skipped: it was interrupted.',
    ]);
    expect(readdirSync(join(folder, 'baselines'))).toEqual(['main.json']);
    const listed = await commandIn(folder, ['baseline', 'list']);
    expect(listed.stdout).toMatch(/^main +2026-01-01 00:00 +NVIDIA Test, .*native, layer +5$/m);
    expect((await commandIn(folder, ['baseline', 'remove', 'main'])).code).toBe(0);
    expect(readdirSync(join(folder, 'baselines'))).toEqual([]);
    expect(await commandIn(folder, ['baseline', 'list'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No baseline in baselines: create one with gpu-virt-bench baseline save NAME.\n',
    });
  });

  it('promotes only results that pass the gate against it', async () => {
    const folder = emptyFolder();
    const write = (name: string, layer: number) =>
      writeFileSync(
        join(folder, name),
        JSON.stringify(
          comparison(
            { native: { 'OH-001': about(5) }, layer: { 'OH-001': about(layer) } },
            { document: { startedAt: '2026-02-01T00:00:00.000Z' } },
          ),
        ),
      );
    writeFileSync(join(folder, 'old.json'), text());
    write('good.json', 5);
    write('bad.json', 10);
    const file = join(folder, 'baselines/main.json');
    const promote = (name: string) => commandIn(folder, ['baseline', 'promote', 'main', name]);
    expectRefusal(await promote('good.json'), /there is none; create one with baseline save/);
    expect((await commandIn(folder, ['baseline', 'save', 'main', 'old.json'])).code).toBe(0);
    const before = readFileSync(file, 'utf8');
    const refusal = await promote('bad.json');
    expect(refusal.code).toBe(3);
    expect(refusal.stderr).toMatch(/^Baseline main is unchanged, because bad\.json did not pass the gate/m);
    expect(readFileSync(file, 'utf8')).toBe(before);
    const { code, stdout } = await promote('good.json');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Saved good.json as baseline main') });
    expect(JSON.parse(readFileSync(file, 'utf8')).startedAt).toBe('2026-02-01T00:00:00.000Z');
  });

  it('replaces a baseline only on request', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'a.json'), text());
    const save = ['baseline', 'save', 'main', 'a.json', '--store', 'elsewhere'];
    expect((await commandIn(folder, save)).code).toBe(0);
    const file = join(folder, 'elsewhere/main.json');
    const before = readFileSync(file, 'utf8');
    writeFileSync(join(folder, 'a.json'), text({ document: { startedAt: '2026-02-01T00:00:00.000Z' } }));
    expectRefusal(await commandIn(folder, save), /'elsewhere\/main\.json' exists: --force replaces it\.$/m);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await commandIn(folder, [...save, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(before);
  });

  it('warns that a simulated baseline is only valid for simulations', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'a.json'), text({ round: { gpu: [card({ simulated: true })] } }));
    const { code, stderr } = await commandIn(folder, ['baseline', 'save', 'main', 'a.json']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: Baseline main is from a SIMULATED GPU/);
  });

  it.each<[string, string[], RegExp]>([
    [
      'a name that leads elsewhere',
      ['save', '../main', 'a.json'],
      /Expected the name of a baseline to be .*'\.\.\/main'/,
    ],
    ['a hidden name', ['save', '.main', 'a.json'], /Expected the name of a baseline/],
    ['a document that is none', ['save', 'main', 'none.json'], /Expected a result document but received 'none\.json'/],
    [
      'a document that is not there',
      ['save', 'main', 'nowhere.json'],
      /received 'nowhere\.json': there is no such file/,
    ],
    [
      'an interrupted one',
      ['save', 'main', 'half.json'],
      /'half\.json': it was interrupted, so rounds are missing\.$/m,
    ],
    ['nothing measured', ['save', 'main'], /Expected a complete comparison below \.\/results but there is none/],
    ['a store that is a file', ['save', 'main', 'a.json', '--store', 'a.json'], /Expected --store to be a directory/],
    [
      'to remove what is not there',
      ['remove', 'main'],
      /Expected a baseline in 'baselines' but received 'main': there is none/,
    ],
    ['to remove what is elsewhere', ['remove', '../a'], /Expected the name of a baseline/],
    [
      'an option for a store',
      ['save', 'main', 'a.json', '--store', '--force'],
      /Expected --store to be followed by <dir> but received '--force'/,
    ],
    ['to list an option', ['list', '--store', '--json'], /Expected --store to be followed by <dir>/],
    ['an unknown word', ['svae', 'main'], /unknown command 'svae'/],
  ])('refuses %s', async (_, args, says) => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'a.json'), text());
    writeFileSync(join(folder, 'half.json'), text({ document: { completed: false } }));
    writeFileSync(join(folder, 'none.json'), '{}');
    expectRefusal(await refused(['baseline', ...args], { cwd: folder }), says);
    expect(readdirSync(folder).sort()).toEqual(['a.json', 'half.json', 'none.json']);
  });

  it('lists readable baselines, and reports the others', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'baselines'));
    writeFileSync(join(folder, 'baselines/bad.json'), '{');
    writeFileSync(join(folder, 'baselines/good.json'), text());
    const { code, stdout, stderr } = await commandIn(folder, ['baseline', 'list', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'good', systems: ['native', 'layer'], rounds: 5, simulated: false },
    ]);
    expect(stderr).toMatch(/^warning: Expected a result document but received 'baselines\/bad\.json'/);
  });
});
