/** The studies of this repository: their plans, and shortened runs with stand-ins on the simulated card. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { metrics } from '../../lib/metrics/registry.js';
import { readStudy } from '../../lib/study/read-study.js';
import type { StudyRecord } from '../../lib/study/study-record.js';
import { isLong } from '../moments.js';
import { command, emptyFolder, root, start } from './command.js';
import { withoutPodman } from './containers.js';
import { pathWithMps } from './mps-control.js';

const folder = join(root, 'studies');
const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const studies = names.map(({ name }) => name);
const asIs = { given: new Map<string, string>(), isShort: false };
const ids = new Set(metrics.map(({ id }) => id));

describe.each(studies)('the study %s', (name) => {
  it('asks for metrics that exist, of steps that run them', async () => {
    const { tables, steps } = await readStudy(join(folder, name), asIs);
    const texts = steps.flatMap(({ argv }) => {
      const config = argv[argv.indexOf('--config') + 1];
      return argv.includes('--config') && config && existsSync(join(folder, name, config))
        ? [argv.join(' '), readFileSync(join(folder, name, config), 'utf8')]
        : [argv.join(' ')];
    });
    const unknown = tables
      .flatMap(({ rows }) => rows.flatMap(({ metric }) => metric ?? []))
      .filter((id) => !ids.has(id) && !texts.some((text) => text.includes(id.split(/[@/]/)[0] ?? id)));
    expect(unknown).toEqual([]);
  });

  it('has a README that says how it is run', () => {
    const text = readFileSync(join(folder, name, 'README.md'), 'utf8');
    expect(text).toContain(`gpu-virt-bench study studies/${name}`);
  });

  it('plans its steps', async () => {
    const { code, stdout } = await command(['study', join(folder, name), '--dry-run']);
    const { steps } = await readStudy(join(folder, name), asIs);
    expect(code).toBe(0);
    for (const step of steps) expect(stdout).toContain(`- ${step.name}`);
  });
});

describe('the model of the study inference-engines', () => {
  const write = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'inference-engines/gguf.mjs'), ...args], { encoding: 'utf8' });
  const small = ['--layers', '2', '--hidden', '256', '--mlp', '512', '--vocabulary', '300'];

  it('is a GGUF file with its tensors one behind the other, of finite weights', () => {
    const file = join(emptyFolder(), 'model.gguf');
    const { status, stdout } = write(file, ...small);
    const bytes = readFileSync(file);
    expect(stdout).toContain(`21 tensors, ${bytes.length} bytes`);
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4), bytes.readBigUInt64LE(8)]).toEqual(['GGUF', 3, 21n]);
    // Two matrices of words, and in each layer four of attention (a quarter of the heads have keys and values) and three others.
    const weights = 2 * 256 * 300 + 2 * (256 * 256 * 2.5 + 3 * 256 * 512);
    const norms = 5 * 256;
    const data = bytes.subarray(bytes.length - (2 * weights + 4 * norms));
    const first = Array.from({ length: 1_000 }, (_, index) => {
      const word = Buffer.alloc(4);
      data.copy(word, 2, 2 * index, 2 * index + 2);
      return word.readFloatLE(0);
    });
    expect(Math.max(...first)).toBeLessThanOrEqual(1 / 16);
    expect(Math.max(...first)).toBeGreaterThan(0.9 / 16);
    expect(new Set(first).size).toBeGreaterThan(300);
    expect(status).toBe(0);
  });

  it.each([
    ['no file', small],
    ['a width that heads do not divide', ['x', '--hidden', '100']],
    ['no room for the single bytes', ['x', '--vocabulary', '10']],
  ])('is refused with %s', (_, args) => {
    const { status, stderr } = write(...args);
    expect(stderr).toContain('Expected: gguf.mjs FILE');
    expect(status).toBe(2);
  });
});

describe('a shortened study', () => {
  const more = (...steps: string[]) => (isLong ? steps : []);
  /** Steps of each, with a stand-in for MPS; those of containers take a bundle. */
  const inShort: Record<string, string[]> = {
    'hami-and-fcsp': ['costs', ...more('isolation')],
    'inference-engines': ['pytorch', 'llama-cpp'],
    'mps-restore': ['checkpoint', ...more('start-up', 'serve')],
    'container-overhead': ['start', ...more('T2', 'matmul')],
    'gpu-passthrough': ['parts', 'toolkit', ...more('starts')],
  };
  const noContainers = withoutPodman('shortened studies in containers of runc');

  it('is there for every study', () => expect(Object.keys(inShort).sort()).toEqual([...studies].sort()));

  it.each(Object.entries(inShort))('of %s runs on the simulated card: %j', async (name, all) => {
    const own = emptyFolder();
    const output = join(own, 'out');
    const needsBundle = readFileSync(join(folder, name, 'study.yaml'), 'utf8').includes('{bundle}');
    const bundle = join(own, 'containers');
    if (needsBundle) execFileSync(process.execPath, [join(folder, 'containers.mjs'), bundle]);
    const chosen =
      needsBundle && noContainers ? all.filter((step) => ['matmul', 'parts', 'toolkit'].includes(step)) : all;
    const options = [
      ...chosen.flatMap((step) => ['--step', step]),
      ...(needsBundle ? ['--set', `bundle=${join(bundle, 'bundle')}`] : []),
    ];
    const args = ['study', join(folder, name), '--short', '--simulate', '--output', output, ...options];
    const { code, stdout } = await command(args, { PATH: pathWithMps() });
    expect(stdout).toContain('SIMULATED GPU');
    const record = JSON.parse(readFileSync(join(output, 'study.json'), 'utf8')) as StudyRecord;
    expect(record).toMatchObject({ kind: 'study-record', study: name, isShort: true });
    const missing = ['llama-cpp', 'toolkit'];
    const expected = chosen.map((step) => [step, missing.includes(step) ? 'unsupported' : 'ok']);
    expect(record.steps.map(({ name: step, status }) => [step, status])).toEqual(expected);
    expect(readFileSync(join(output, 'study.md'), 'utf8')).toBe(stdout);
    const csv = readFileSync(join(output, 'study.csv'), 'utf8').split('\r\n');
    expect(csv[0]).toMatch(/^table,row,unit,column,published,/);
    expect(code).toBe(0);
  });

  /** A step that needs nothing, and one whose need is missing. */
  function small(): string {
    const own = emptyFolder();
    const card = '{ name: none }';
    writeFileSync(
      join(own, 'study.yaml'),
      `question: Does it work?
source: { title: T, url: https://example.org, date: 2025, card: ${card} }
parameters: { which: { what: a metric } }
steps:
  - { name: call, argv: [run, '{which}', --iterations, '10'] }
  - { name: none, needs: [{ what: a program of nobody, program: gvb-no-such-program }], argv: [run, OH-001] }
tables:
  - title: T
    columns: { native: environment }
    rows:
      - { name: launch, unit: us, metric: OH-002, published: { native: 5 } }
      - { name: 'launch, twice', unit: us, metric: OH-002, published: { native: 9 } }
`,
    );
    return own;
  }

  it('keeps what was measured, writes the page again, and refuses results of another command', async () => {
    const own = small();
    const output = join(own, 'out');
    const given = ['study', own, '--output', output, '--simulate'];
    const first = await command([...given, '--set', 'which=OH-002']);
    expect(first.stdout).toMatch(/\| call \| ok \|/);
    expect(first.stdout).toMatch(/\| launch \| us \| 5 \| \d/);
    expect(first.stdout).toMatch(/\| none \| unsupported \| – \|.*there is no gvb-no-such-program in PATH/);
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('study.csv, and a folder for each step that ran.');
    const again = await command([...given, '--set', 'which=OH-002']);
    expect(again.stderr).toContain('Step call is measured already.');
    const page = await command(['study', own, '--output', output, '--report']);
    expect(page.stdout).toBe(again.stdout);
    const other = await command([...given, '--set', 'which=OH-001']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('was measured by another command') });
  });

  it('says of a step that did not run neither how long it took nor that it has a folder', async () => {
    const own = small();
    const given = ['study', own, '--output', join(own, 'out'), '--simulate', '--set', 'which=OH-002', '--step', 'none'];
    const { stdout, stderr } = await command(given);
    expect(stdout).toMatch(/\| none \| unsupported \| – \|/);
    expect(stdout).toContain('- launch; launch, twice: ');
    expect(stderr).toMatch(/^Written: .*study\.md and study\.csv\.$/m);
  });

  it('continues a step that was interrupted', async () => {
    const own = small();
    const systems = ['--system', 'native', '--system', 'custom:name=other'].map((text) => `'${text}'`).join(', ');
    const text = readFileSync(join(own, 'study.yaml'), 'utf8');
    const argv = `argv: [compare, OH-002, --rounds, '4', --tier, quick, ${systems}]`;
    writeFileSync(join(own, 'study.yaml'), text.replace(/argv: \[run, '\{which\}'.*?\]/, argv));
    const output = join(own, 'out');
    const given = ['study', own, '--output', output, '--simulate', '--step', 'call'];
    const running = start(given);
    await running.said('Round 1, native');
    running.child.kill('SIGINT');
    const first = await running.done;
    expect(first).toMatchObject({ code: 130, stdout: expect.stringContaining('it was interrupted') });
    const changed = await command(['study', own, '--output', output, '--step', 'call']);
    expect(changed).toMatchObject({ code: 2, stderr: expect.stringContaining('was begun by another command') });
    const second = await command(given);
    expect(second.stdout).toMatch(/\| call \| ok \|/);
    const { systems: rounds } = JSON.parse(
      readFileSync(join(output, 'call/summary.json'), 'utf8'),
    ) as ComparisonDocument;
    expect(rounds.map(({ length }) => length)).toEqual([4, 4]);
    expect(second.code).toBe(0);
  });

  it('repeats a run that failed, and keeps what it left', async () => {
    const own = small();
    const output = join(own, 'out');
    const given = ['study', own, '--output', output, '--simulate', '--set', 'which=OH-002', '--step', 'call'];
    const wrong = await command(given.map((each) => each.replace('OH-002', 'OH-9')));
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringMatching(/\| call \| failed \|/) });
    mkdirSync(join(output, 'call'), { recursive: true });
    writeFileSync(join(output, 'call/summary.json'), '{}');
    const first = await command(given);
    expect(first.stderr).toMatch(/an earlier attempt left is now in '.*call~1'/);
    expect(first.stdout).toMatch(/\| call \| ok \|/);
    expect(readFileSync(join(output, 'call~1/summary.json'), 'utf8')).toBe('{}');
  });

  it('says which value a step lacks, and which step failed', async () => {
    const own = small();
    const lacking = await command(['study', own, '--output', join(own, 'a'), '--simulate']);
    expect(lacking).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('it needs --set which=… (a metric)'),
    });
    const failed = await command(['study', own, '--output', join(own, 'b'), '--simulate', '--set', 'which=OH-9']);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/\| call \| failed \|.*OH-9/) });
  });

  it.each([
    ['another step', ['--step', 'else'], /--step to be call or none but received 'else'/],
    ['a parameter without a value', ['--set', 'which'], /--set to be NAME=VALUE/],
    ['a page of nothing', ['--report', '--output', 'nowhere'], /has no study\.json/],
  ])('refuses %s', async (_, options, says) => {
    const { code, stderr } = await command(['study', small(), ...options]);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });
});
