/** A comparison with every kind of result, and documents of the largest size. */
import type { ComparisonDocument, Effect, MetricResult, OkResult, RunDocument } from '../../../lib/results/document.js';
import { findMetric } from '../../../lib/metrics/registry.js';
import { resultHead } from '../../../lib/metrics/core/metric.js';
import { conclusionsOf } from '../../../lib/run/effects/judged.js';
import { blockMedians } from '../../../lib/stats/blocks.js';
import { median } from '../../../lib/stats/median.js';
import { summarise } from '../../../lib/stats/summary.js';
import { CUDA, runDocument, without as withoutNumber } from '../run/fixtures.js';

/** A result of a metric of the registry, with samples that differ between rounds in a fixed way. */
export function measured(id: string, typical: number, round: number, count = 60): OkResult {
  const definition = findMetric(id);
  if (!definition) throw new Error(`Expected a metric but received ${id}.`);
  const samples = Array.from({ length: count }, (_, i) => typical * (1 + 0.001 * round + 0.002 * ((i * 7) % 5)));
  const stats = summarise(samples);
  return {
    ...resultHead(definition),
    status: 'ok',
    value: stats?.p50 ?? typical,
    ci95: median(samples).ci95,
    ciScope: 'within-process',
    processes: 1,
    stats,
    blocks: Array.from(blockMedians(samples)),
    details: {},
    checks: [],
  };
}

export function without(id: string, status: 'unsupported' | 'invalid' | 'failed', reason: string): MetricResult {
  return withoutNumber(measured(id, 1, 0), status, reason);
}

interface SystemOfFixture {
  name: string;
  kind?: string;
  spec?: string;
  layer?: RunDocument['system']['layer'];
  metrics: (round: number) => MetricResult[];
}

export function comparison(systems: readonly SystemOfFixture[], rounds = 3): ComparisonDocument {
  const documents = systems.map(({ name, kind = name, spec = kind, layer, metrics }) =>
    Array.from({ length: rounds }, (_, round) =>
      runDocument({
        startedAt: `2026-01-01T00:0${round}:00.000Z`,
        durationMs: 61_000,
        system: { name, kind, settings: {}, spec, ...(layer && { layer }), attestation: [] },
        plan: { ...runDocument().plan, seed: 7 + round, tier: 'standard' },
        metrics: metrics(round),
      }),
    ),
  );
  const ids = [...new Set(documents.flat().flatMap(({ metrics }) => metrics.map(({ id }) => id)))].sort();
  return {
    schemaVersion: 3,
    kind: 'comparison',
    tool: { name: 'gpu-virt-bench', version: '0.0.0' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 366_000,
    completed: true,
    plan: {
      tier: 'standard',
      metrics: ids,
      systems: systems.map(({ name }) => name),
      rounds,
      seed: 7,
      order: Array.from({ length: rounds }, () => systems.map(({ name }) => name)),
    },
    systems: documents,
    ...conclusionsOf(
      ids.flatMap((id) => findMetric(id) ?? []),
      documents,
    ),
    computeLimits: [],
    violations: [],
    warnings: [],
  };
}

const layer = { path: '/opt/layer/libvgpu.so', sha256: 'ab'.repeat(32), exports: 203, active: true };

/** Slower, faster, same, a signed difference, a difference to native only, and everything without a number. */
export const everyKind = (): ComparisonDocument => ({
  ...comparison([
    { name: 'native', metrics: (round) => resultsOf(1, round) },
    {
      name: 'hami-core',
      spec: 'hami-core:library=/opt/layer/libvgpu.so,memory=10GiB,sm=50',
      layer,
      metrics: (round) => resultsOf(1.2, round),
    },
    { name: 'mps', spec: 'mps:sm=50', metrics: (round) => resultsOf(0.8, round) },
  ]),
  computeLimits: [
    {
      system: 'hami-core',
      limitPercent: 50,
      label: 'throttled',
      achievedPercent: 50.5,
      detail: '900 kernels of 1 ms',
      binMs: 100,
      sharesPercent: [100, 80, 50, 50, 50.5],
    },
  ],
  violations: [{ system: 'hami-core', metric: 'IS-001', detail: '12 GiB allocated under a limit of 10 GiB' }],
  warnings: ['hami-core: more than 5 % outliers in 3 of 3 rounds (OH-002)'],
});

function resultsOf(factor: number, round: number): MetricResult[] {
  return [
    measured('OH-001', 5 * factor, round, 320),
    measured('OH-002', 40, round),
    measured('OH-003', 50 * factor, round),
    factor === 1.2 ? without('OH-004', 'failed', 'CUDA_ERROR_UNKNOWN (999) in cuInit') : measured('OH-004', 2e5, round),
    { ...measured('OH-005', factor - 1, round), details: { functions: calls(factor, round) } },
    factor === 0.8
      ? without('OH-006', 'invalid', 'a tenant made no progress')
      : measured('OH-006', 800 * factor, round),
    { ...without('OH-010', 'unsupported', 'needs a native arm'), details: { unitsPerSecond: 1000 / factor + round } },
    measured('START-001', 276 * factor, round, 4),
  ];
}

/** A layer that intercepts three functions, one of which costs too little to be resolved by three rounds. */
const calls = (factor: number, round: number) =>
  [
    { name: 'cuLaunchKernel', overheadNs: 100 + round, bareNs: 3_300 },
    { name: 'cuMemGetInfo_v2', overheadNs: 900 + 10 * round, bareNs: 4_200 },
    { name: 'cuCtxGetDevice', overheadNs: round - 1, bareNs: 9 },
    { name: 'cuStreamQuery', overheadNs: 0, bareNs: 200 },
  ].map((call, i) => {
    const intercepted = factor > 1 && i < 3;
    return { ...call, owner: intercepted ? layer.path : CUDA, intercepted, ...(!intercepted && { overheadNs: 0 }) };
  });

/** 56 metrics, 4 systems, 10 rounds; `samples` raw ones in each result. */
export function large(samples: number): ComparisonDocument {
  const names = ['native', 'hami-core', 'mps', 'fcsp'];
  const kinds = ['OH-001', 'OH-002', 'OH-003', 'OH-005', 'OH-007', 'OH-009', 'START-001', 'START-002'];
  const metrics = (factor: number) => (round: number) =>
    Array.from({ length: 56 }, (_, index) => {
      const typical = (index + 1) * factor;
      const result = measured(kinds[index % kinds.length] as string, typical, round, 100);
      const raw = Array.from({ length: samples }, (_sample, i) => typical * (1 + ((i * 7919) % 1_000) / 12_345));
      return { ...result, id: `M-${String(index + 1).padStart(3, '0')}`, samples: raw };
    });
  const document = comparison(
    names.map((name, index) => ({ name, metrics: metrics(1 + index / 10) })),
    10,
  );
  const [effect] = everyKind().effects;
  const compared = names.slice(1);
  return {
    ...document,
    effects: document.plan.metrics.flatMap((metric) =>
      compared.map((system) => ({ ...effect, metric, system }) as Effect),
    ),
  };
}
