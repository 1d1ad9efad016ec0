/** The studies of this repository: their plans, and shortened runs with stand-ins on the simulated card. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { readStudy } from '../../lib/study/read-study.js';
import { command, emptyFolder, root } from './command.js';

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

describe('a shortened study', () => {
  const short = ['--short', '--simulate'];

  it('measures what is there, and names what is missing', async () => {
    const output = join(emptyFolder(), 'out');
    const study = join(folder, 'inference-engines');
    const { code, stdout } = await command(['study', study, ...short, '--output', output]);
    expect(stdout).toContain('SIMULATED GPU');
    expect(stdout).toMatch(/\| llama-cpp \| unsupported \|.*llama\.cpp built for CUDA/);
    expect(readFileSync(join(output, 'study.md'), 'utf8')).toBe(stdout);
    expect(readFileSync(join(output, 'study.csv'), 'utf8').split('\r\n').length).toBeGreaterThan(20);
    const record = readFileSync(join(output, 'study.json'), 'utf8');
    expect(JSON.parse(record)).toMatchObject({ kind: 'study-record', study: 'inference-engines', isShort: true });
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
    rows: [{ name: launch, unit: us, metric: OH-002, published: { native: 5 } }]
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
    expect(first.stdout).toMatch(/\| none \| unsupported \|.*there is no gvb-no-such-program in PATH/);
    expect(first.code).toBe(0);
    const again = await command([...given, '--set', 'which=OH-002']);
    expect(again.stderr).toContain('Step call is measured already.');
    const page = await command(['study', own, '--output', output, '--report']);
    expect(page.stdout).toBe(again.stdout);
    const other = await command([...given, '--set', 'which=OH-001']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('was measured by another command') });
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
