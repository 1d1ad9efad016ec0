/** `history`: earlier measurements. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { about, comparison } from '../unit/gate/fixtures.js';
import { command, commandIn, emptyFolder } from './command.js';

function measured(folder: string, name: string, day: number, value: number): void {
  mkdirSync(join(folder, 'results', name), { recursive: true });
  const values = { native: { 'OH-001': about(5), 'OH-002': about(9) }, layer: { 'OH-001': about(value) } };
  const document = comparison(values, { document: { startedAt: `2026-01-0${day}T00:00:00.000Z` } });
  writeFileSync(join(folder, 'results', name, 'summary.json'), JSON.stringify(document));
}

describe('history', () => {
  it('lists runs and draws trends, and skips unreadable documents', async () => {
    const folder = emptyFolder();
    measured(folder, 'z-first', 1, 5);
    measured(folder, 'a-second', 2, 6);
    mkdirSync(join(folder, 'results/broken'));
    writeFileSync(join(folder, 'results/broken/summary.json'), '{');
    const { code, stdout, stderr } = await commandIn(folder, ['history', 'OH-001']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: results\/broken is skipped: Expected a result document [^\n]*\n$/);
    expect(stdout).toMatch(/^2026-01-01 00:00 +results\/z-first .*yes\n2026-01-02 00:00 +results\/a-second /m);
    expect(stdout).toMatch(/^OH-001 Kernel Launch Latency +layer +▁█ +2 +5\.000 us +6\.000 us +\+20\.00 %$/m);
    expect(stdout).not.toMatch(/OH-002/);
  });

  it('prints JSON on request', async () => {
    const folder = emptyFolder();
    measured(folder, 'a', 1, 5);
    measured(folder, 'b', 2, 6);
    const { code, stdout } = await commandIn(folder, ['history', '--json', '--limit', '1', '--results', 'results']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      entries: [{ systems: ['native', 'layer'] }],
      leftOut: 1,
      unreadable: [],
    });
  });

  it('reports that there are no results', async () =>
    expect(await command(['history'])).toEqual({ code: 0, stdout: 'Nothing was measured yet.\n', stderr: '' }));

  it.each<[string[], RegExp]>([
    [['OH-0001'], /received 'OH-0001': did you mean OH-001\?$/m],
    [['--limit', '0'], /Expected --limit to be an integer from 1 to 100000 but received 0\.$/m],
    [['--limit', 'many'], /Expected --limit to be a number but received 'many'\.$/m],
    [['--results', '/dev/null'], /Expected '\/dev\/null' to be a directory of results: ENOTDIR/],
    [['--results', '--json'], /Expected --results to be followed by <dir> but received '--json'/],
    [['--store', '--json'], /Expected --store to be followed by <dir>/],
    [
      ['--results', 'typo'],
      /Expected --results to be a directory of results but received 'typo': it does not exist\.$/m,
    ],
    [['--store', 'typo'], /Expected --store to be a directory of baselines but received 'typo': it does not exist\.$/m],
    [['--store', '/dev/null'], /Expected --store to be a directory of baselines/],
  ])('refuses %j', async (args, says) => {
    const { code, stdout, stderr } = await command(['history', ...args]);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});
