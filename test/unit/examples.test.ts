/** Files that users copy must work unchanged. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { program } from '../../lib/cli/program.js';
import { readThresholds } from '../../lib/gate/thresholds-file.js';
import { metrics } from '../../lib/metrics/registry.js';
import { selectMetrics } from '../../lib/run/plan/select.js';
import { readConfig } from '../../lib/systems/input/config.js';
import { here } from '../../lib/systems/kinds.js';
import { readExecConfig } from '../../lib/workloads/settings/exec-config.js';

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

interface Workflow {
  jobs: Record<string, { 'runs-on': string | string[]; steps: { run?: string; uses?: string }[] }>;
}

const workflow = parse(readFileSync(example('github-actions.yml'), 'utf8')) as Workflow;
const scripts = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
const lines = scripts.filter((script) => script.startsWith('npx gpu-virt-bench '));

/** Parses like the command line, without running anything. Returns the command and its options. */
async function parsed(line: string): Promise<{ name: string; args: string[]; options: Record<string, unknown> }> {
  const root = program();
  const calls: { name: string; args: string[]; options: Record<string, unknown> }[] = [];
  const quiet = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {}, outputError: () => {} });
    if (command.commands.length === 0)
      command.action(() => void calls.push({ name: command.name(), args: command.args, options: command.opts() }));
    command.commands.forEach(quiet);
  };
  quiet(root);
  await root.parseAsync(line.split(/\s+/).slice(2), { from: 'user' });
  const [call] = calls;
  if (!call) throw new Error(`${line} calls nothing`);
  return call;
}

describe('the workflow', () => {
  it('has a job on a GPU runner and one without a GPU', () => {
    expect(workflow.jobs.gate?.['runs-on']).toEqual(['self-hosted', 'gpu']);
    expect(workflow.jobs.simulated?.['runs-on']).toBe('ubuntu-latest');
    expect(lines).toHaveLength(4);
  });

  it.each(lines)('uses existing commands and options: %s', async (line) => {
    const { name, args } = await parsed(line);
    if (name === 'compare') expect(() => selectMetrics(args, metrics)).not.toThrow();
  });

  it('would be refused with an unknown flag', async () =>
    expect(parsed('npx gpu-virt-bench gate --basline main')).rejects.toThrow(/unknown option '--basline'/));

  it('judges its results, and keeps the reports', () => {
    const measuring = lines.find((line) => line.includes('--require-gpu')) ?? '';
    for (const flag of ['--baseline main', '--gate thresholds.yaml', '--junit gate.xml', '--output results/gate'])
      expect(measuring).toContain(flag);
    expect(scripts.some((script) => script.includes('>> "$GITHUB_STEP_SUMMARY"'))).toBe(true);
  });
});

describe('the thresholds', () => {
  it('are read as their comments say', async () => {
    const { metrics: of, missing, systems } = await readThresholds(example('thresholds.yaml'), '--gate', metrics);
    expect({ missing, systems }).toEqual({ missing: 'fail', systems: null });
    expect(of.get('OH-001')).toEqual({ limit: 12, regression: { relative: 0.05 }, inconclusive: 'pass', named: true });
    expect(of.get('START-001')?.regression).toEqual({ relative: 0.25 });
    expect(of.get('OH-005')?.regression).toEqual({ absolute: 20 });
  });
});

/** What a command takes from a file; each counts what is in it. */
const tolerant = { ...here(), allowMissing: true };
const readers = {
  systems: async (file: string) => (await readConfig(file, tolerant)).systems.length,
  workloads: async (file: string) => (await readExecConfig(file, tolerant)).workloads.length,
};

const files: readonly (readonly [string, keyof typeof readers, number])[] = [
  ['checkpoint.yaml', 'workloads', 1],
  ['containers.yaml', 'systems', 3],
  ['containers.yaml', 'workloads', 3],
  ['new-layer.yaml', 'systems', 2],
  ['partitions.yaml', 'systems', 4],
  ['pytorch/workloads.yaml', 'workloads', 2],
  ['scenes.yaml', 'workloads', 5],
  ['served-load.yaml', 'workloads', 2],
  ['serving.yaml', 'systems', 2],
  ['serving.yaml', 'workloads', 1],
  ['swap-pair.yaml', 'systems', 2],
  ['swap-pair.yaml', 'workloads', 1],
  ['pytorch/swap-pair.yaml', 'systems', 2],
  ['pytorch/swap-pair.yaml', 'workloads', 1],
  ['workloads.yaml', 'workloads', 6],
];

describe('every file of YAML', () => {
  it('is checked here', () => {
    const shipped = readdirSync(example('.'), { recursive: true, encoding: 'utf8' });
    const others = shipped.filter((name) => name.endsWith('.yaml') && !name.startsWith('pods/'));
    // Those of pods are checked in examples-pods.test.ts.
    expect(others.sort()).toEqual([...new Set([...files.map(([name]) => name), 'thresholds.yaml'])].sort());
  });

  it.each(files)('is valid: %s, %s', async (name, kind, count) =>
    expect(await readers[kind](example(name))).toBe(count),
  );

  it('compares containers side by side: natively, by CDI and by the hook', async () => {
    const { systems } = await readExecConfig(example('containers.yaml'), tolerant);
    expect(systems.map(({ name, kind }) => [name, kind])).toEqual([
      ['native', 'native'],
      ['podman-cdi', 'container'],
      ['podman-hook', 'container'],
    ]);
  });
});

describe('the load of a server', () => {
  it('is a whole file, with enough requests for a p99', async () => {
    const { workloads } = await readExecConfig(example('served-load.yaml'), here());
    expect(workloads.map(({ name, load }) => [name, load?.requests])).toEqual([
      ['server@c=1', 300],
      ['server@c=8', 300],
    ]);
  });
});
