/** `init` and the files it writes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { about, comparison } from '../unit/gate/fixtures.js';
import { commandIn, emptyFolder } from './command.js';
import { expectRefusal } from './refused.js';

const workflow = '.github/workflows/gpu-virt-bench.yml';

describe('init', () => {
  it('writes thresholds that gate accepts, and a workflow', async () => {
    const folder = emptyFolder();
    expect(await commandIn(folder, ['init', 'new'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Wrote new/thresholds.yaml and new/${workflow}.`),
    });
    const jobs = Object.keys(parse(readFileSync(join(folder, 'new', workflow), 'utf8')).jobs);
    expect(jobs).toContain('gate');
    expect(readFileSync(join(folder, 'new/thresholds.yaml'), 'utf8')).toMatch(/^# /);
    const ids = ['OH-001', 'START-001', 'OH-005'];
    const values = { native: {}, layer: {} } as Record<string, Record<string, ReturnType<typeof about>>>;
    for (const of of Object.values(values)) for (const id of ids) of[id] = about(5);
    writeFileSync(join(folder, 'x.json'), JSON.stringify(comparison(values)));
    const { code, stderr } = await commandIn(folder, ['gate', 'x.json', '--config', 'new/thresholds.yaml']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it.each(['thresholds.yaml', workflow])('overwrites nothing if %s exists', async (name) => {
    const folder = emptyFolder();
    mkdirSync(join(folder, '.github/workflows'), { recursive: true });
    writeFileSync(join(folder, name), 'mine');
    expectRefusal(await commandIn(folder, ['init']), /exists, and init never overwrites a file/);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
    for (const other of ['thresholds.yaml', workflow]) expect(existsSync(join(folder, other))).toBe(other === name);
  });
});
