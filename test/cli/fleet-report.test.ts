/** `fleet report`: exit codes, files and refusals; what it says is in test/unit/fleet. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { card, measured } from '../unit/gate/fixtures.js';
import { deliver, fleetFolder, planOf } from '../unit/fleet/fixtures.js';
import { runDocument } from '../unit/run/fixtures.js';
import { commandIn, emptyFolder, root } from './command.js';
import { expectRefusal, refused } from './refused.js';

function checked(kind: string, text: string) {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  const validate = ajv.compile(JSON.parse(readFileSync(join(root, `schema/${kind}.schema.json`), 'utf8')));
  const value: unknown = JSON.parse(text);
  expect(validate(value) ? [] : validate.errors).toEqual([]);
  return value as Record<string, unknown>;
}

/** Nine cards, of which the last is slow, and a node that is silent. */
function fleet(): string {
  const folder = fleetFolder(
    planOf(0, { tasks: Array.from({ length: 10 }, (_, index) => ({ index, node: `n${index}` })) }),
  );
  for (let i = 0; i < 9; i++) {
    const value = i === 8 ? 8 : 5 + 0.01 * Math.sin(9 * i);
    deliver(folder, i, runDocument({ gpu: [card({ uuid: `GPU-${i}` })], metrics: [measured('OH-001', value)] }));
  }
  return folder;
}

describe('fleet report', () => {
  it('prints a text and writes files that follow their schemas', async () => {
    const [folder, cwd] = [fleet(), emptyFolder()];
    const args = ['fleet', 'report', folder, '--json', 'f.json', '--markdown', 'f.md', '--html', 'f.html'];
    const { code, stdout } = await commandIn(cwd, args);
    expect(code).toBe(0);
    expect(stdout).toContain('10 tasks planned: 9 delivered (9 cards), 0 refused, 1 silent.');
    expect(stdout).toMatch(/^n8 +WARNING +OH-001 .* above the median of 9 cards/m);
    const report = checked('fleet-report', readFileSync(join(cwd, 'f.json'), 'utf8'));
    expect(report).toMatchObject({ outliers: [{ node: 'n8', gpu: 'GPU-8', rule: 'mad', side: 'worse' }] });
    expect(readFileSync(join(cwd, 'f.md'), 'utf8')).toMatch(/^## Outliers$/m);
    const page = readFileSync(join(cwd, 'f.html'), 'utf8');
    expect(page.match(/<li class="(?:warning|unknown|pass)" title="/g)).toHaveLength(10);
    expect(page.match(/<li class="warning" title="n8, GPU-8, WARNING: OH-001/g)).toHaveLength(1);
  });

  it.each([
    ['n0', 'PASS', 0],
    ['n8', 'WARNING', 0],
    ['n9', 'UNKNOWN', 1],
  ])('tells a prolog that %s is %s', async (node, verdict, expected) => {
    const { code, stdout } = await commandIn(emptyFolder(), ['fleet', 'report', fleet(), '--node', node]);
    expect(checked('fleet-node-verdict', stdout)).toMatchObject({ node, verdict });
    expect(code).toBe(expected);
  });

  it('exits with 1 beyond a limit, and if nothing was delivered', async () => {
    const limited = await commandIn(emptyFolder(), ['fleet', 'report', fleet(), '--node', 'n8', '--limit', 'OH-*=20%']);
    expect(JSON.parse(limited.stdout)).toMatchObject({ verdict: 'CRITICAL' });
    expect(limited.code).toBe(1);
    const empty = await commandIn(emptyFolder(), ['fleet', 'report', fleetFolder(planOf(1)), '--json', '-']);
    expect(checked('fleet-report', empty.stdout)).toMatchObject({ coverage: { planned: 1, silent: 1, cards: 0 } });
    expect(empty.code).toBe(1);
  });

  it('refuses what it cannot report', async () => {
    const folder = fleet();
    const report = (...args: string[]) => refused(['fleet', 'report', ...args]);
    expectRefusal(
      await report(emptyFolder()),
      /Expected the plan of a fleet but received .*plan\.json': there is no such file/,
    );
    expectRefusal(await report(fleetFolder(planOf(0))), /it has no task/);
    expectRefusal(await report(folder, '--node', 'n88'), /Expected --node to be .*'n88': did you mean n8\?/);
    expectRefusal(await report(folder, '--least', 'much'), /Expected --least to be a percentage/);
    expectRefusal(await report(folder, '--limit', 'OH-001'), /Expected --limit to be METRIC=VALUE/);
    expectRefusal(
      await report(folder, '--limit', 'OH-01=6'),
      /Expected --limit to name a metric id or a glob over ids but received 'OH-01': did you mean OH-001\?/,
    );
    expectRefusal(await report(folder, '--json', '-', '--html', '-'), /Expected one document on standard output/);
    expectRefusal(await report(folder, '--json', '-', '--node', 'n1'), /Expected one document on standard output/);
    mkdirSync(join(folder, 'd'));
    expectRefusal(await report(folder, '--html', join(folder, 'd')), /it is a directory/);
    expect(existsSync(join(folder, 'report'))).toBe(false);
  });
});
