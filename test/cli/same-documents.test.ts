/** The same request through the command line and the library gives the same document, but for what was measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as bench from '../../lib/index.js';
import type { ComparisonDocument, Effect, RunDocument } from '../../lib/results/document.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { cardIn, command } from './command.js';

const GVB_SIM = cardIn(ownRegion('same-documents'));
beforeAll(() => void vi.stubEnv('GVB_SIM', GVB_SIM));
afterAll(() => vi.unstubAllEnvs());

/** Keys of what two measurements of the same request may differ in, and of what follows from it. */
const measured = [
  ...['startedAt', 'durationMs', 'coordinatorCpuPercent', 'sampler', 'health', 'warnings', 'detail', 'checks'],
  ...['value', 'ci95', 'ciScope', 'noInterval', 'stats', 'blocks', 'details'],
  ...['callEffects', 'answer'],
];

/** The results directory, which only the command line has. */
const ofDirectory = ['config'];

type Same = RunDocument | ComparisonDocument;

const withoutMeasured = (key: string, value: unknown): unknown => {
  if ([...measured, ...ofDirectory].includes(key)) return undefined;
  if (key === 'effects')
    return (value as Effect[]).map(({ metric, system, baseline, rounds }) => ({ metric, system, baseline, rounds }));
  // The option of that name is compared.
  return key === 'samples' && Array.isArray(value) ? value.length : value;
};

const comparable = (document: Same): unknown => JSON.parse(JSON.stringify(document, withoutMeasured));

/** The document that the command writes. */
async function written(args: readonly string[]): Promise<Same> {
  const folder = temporaryFolder();
  const path = join(folder, 'document.json');
  const { code } = await command([...args, '--simulate', '--json', path], { GVB_SIM });
  expect(code).toBe(0);
  return JSON.parse(readFileSync(path, 'utf8')) as Same;
}

/** The settings as a file for --config: YAML reads JSON. */
function configured(settings: object): string[] {
  const folder = temporaryFolder();
  const path = join(folder, 'request.yaml');
  writeFileSync(path, JSON.stringify(settings));
  return ['--config', path, '--output', join(folder, 'out')];
}

const costsIn = ({ systems }: ComparisonDocument): unknown[] =>
  systems
    .flat()
    .flatMap(({ metrics }) => metrics.filter(({ unit }) => unit.startsWith('EUR')).map(({ id, value }) => [id, value]));

const systems = [
  { kind: 'native' as const },
  { kind: 'custom' as const, name: 'half', env: { SOME: '1' }, interposes: false },
];
const prices = { currency: 'EUR', cards: 4, systems: { half: { share: '50%' } } };
const options = { simulate: true, seed: 5 };

describe('the document of the command line and of the library is the same', () => {
  it('for run', async () => {
    const library = await bench.runMetrics({ ...options, metrics: ['OH-002', 'OH-003'], iterations: 30 });
    const own = await written(['run', 'OH-002', 'OH-003', '--seed', '5', '--iterations', '30']);
    expect(comparable(own)).toEqual(comparable(library));
  });

  it.each([
    ['the rounds of its tier', {}, [], 2],
    ['rounds of its own', { rounds: 1, resolution: 0.5 }, ['--rounds', '1', '--resolution', '0.5'], 1],
  ])('for compare, with %s', async (_, more, flags, rounds) => {
    const asked = { systems, prices };
    const library = await bench.compareSystems({ ...options, ...asked, ...more, metrics: ['OH-002'], tier: 'quick' });
    const own = await written([
      ...['compare', 'OH-002', '--seed', '5', '--tier', 'quick', ...flags],
      ...configured(asked),
    ]);
    expect(library.plan.rounds).toBe(rounds);
    expect(comparable(own)).toEqual(comparable(library));
  });

  it.each([
    ['the rounds of its tier', { tier: 'quick' as const }, ['--tier', 'quick'], 2],
    ['rounds of its own, and samples', { rounds: 1, samples: true }, ['--rounds', '1', '--samples'], 1],
  ])('for exec, with %s', async (_, more, flags, rounds) => {
    const workload = {
      ...{ name: 'echo', argv: ['echo', '{n} tokens/s'], folder: temporaryFolder(), warmup: 0, iterations: 1 },
      ...{ monitor: false as const, matrix: { n: [7, 9] } },
      metrics: { tps: { regex: '(.) tokens', unit: 'tokens/s', direction: 'higher' as const } },
    };
    const asked = { systems, prices, workloads: [workload] };
    const library = await bench.execWorkloads({ ...options, ...asked, ...more });
    const own = (await written(['exec', '--seed', '5', ...flags, ...configured(asked)])) as ComparisonDocument;
    expect(library.plan.rounds).toBe(rounds);
    expect(costsIn(library)).not.toEqual([]);
    expect(costsIn(own)).toEqual(costsIn(library));
    expect(comparable(own)).toEqual(comparable(library));
  });
});
