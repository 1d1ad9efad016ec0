/** Two documents of the same systems: metrics for serving (`compare`), and a server under load (`exec`). */
import type { ComparisonDocument, RunDocument } from '../../lib/results/document.js';
import { ofProgram } from './costs/fixtures.js';
import { comparison, measured } from './report/fixtures.js';

type Change = (round: RunDocument) => Partial<RunDocument>;

/** What a metric takes, or a server does, relative to native, by system. */
type Factors = Readonly<Record<string, number>>;

const kindOf = (name: string) => name.split('-')[0] ?? name;

export const changed = (document: ComparisonDocument, change: Change): ComparisonDocument => ({
  ...document,
  systems: document.systems.map((rounds) => rounds.map((round) => ({ ...round, ...change(round) }))),
});

export function ofMetrics(factors: Factors, ids: readonly string[] = ['OH-001', 'START-001']): ComparisonDocument {
  const document = comparison(
    Object.entries(factors).map(([name, factor]) => ({
      name,
      kind: kindOf(name),
      metrics: (round) => ids.map((id) => measured(id, (id === 'START-001' ? 276 : 5) * factor, round)),
    })),
  );
  const plan = { ...document.plan, tier: 'quick', purpose: 'serving' } as const;
  return { ...changed(document, ({ plan: own }) => ({ plan: { ...own, tier: 'quick', metrics: [...ids] } })), plan };
}

const program = (name: string, sha256: string) => ({
  ...{ name, sha256, argv: ['python3', 'serve.py'], warmup: 0, iterations: 1, git: null },
});

export function ofServer(
  factors: Factors,
  { name = 'server', sha256 = 'a'.repeat(64), day = 2 } = {},
): ComparisonDocument {
  const document = comparison(
    Object.entries(factors).map(([system, factor]) => ({
      name: system,
      kind: kindOf(system),
      metrics: (round) => [
        ofProgram(`${name}/tokens-per-second`, 'tokens/s', 'higher', 1_000 * factor * (1 + 0.001 * round)),
        ofProgram(`${name}/ttft`, 'ms', 'lower', (20 / factor) * (1 + 0.001 * round)),
      ],
    })),
    2,
  );
  const metrics = ['tokens-per-second', 'ttft'].map((key) => `${name}/${key}`);
  const later = changed(document, ({ startedAt, plan }) => ({
    startedAt: startedAt.replace('2026-01-01', `2026-01-0${day}`),
    plan: { ...plan, metrics, options: { workloads: [program(name, sha256)] } },
  }));
  return {
    ...{ ...later, startedAt: `2026-01-0${day}T00:00:00.000Z` },
    plan: { ...later.plan, config: 'results/server/systems.yaml' },
  };
}
