/** Comparisons with known values, without measuring. */
import type {
  ComparisonDocument,
  GpuInfo,
  MetricResult,
  OkResult,
  RunDocument,
} from '../../../lib/results/document.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { effects, pairEffects } from '../../../lib/run/effects/comparison-effects.js';
import { device, runDocument } from '../run/fixtures.js';

/** A round's value, or other fields of its result. */
export type Measured = number | Partial<MetricResult>;
/** Values by system, then metric, then round. */
export type Values = Record<string, Record<string, Measured[]>>;

export function card(change: Partial<GpuInfo> = {}): GpuInfo {
  // Documents of before they were recorded.
  const { visibleMemoryBytes: _, powerLimitW: _limit, vbios: _vbios, ...gpu } = device(0);
  return { ...gpu, simulated: false, ...change };
}

export interface Change {
  round?: Partial<RunDocument>;
  document?: Partial<ComparisonDocument>;
}

export function measured(id: string, value: number): OkResult;
export function measured(id: string, value: Measured): MetricResult;
export function measured(id: string, value: Measured): MetricResult {
  const definition = metrics.find((metric) => metric.id === id);
  if (!definition) throw new Error(`${id} is no metric`);
  const { name, category, unit, direction, estimator } = definition;
  const found = {
    id,
    name,
    category,
    unit,
    direction,
    estimator,
    status: 'ok',
    value: typeof value === 'number' ? value : null,
    ci95: null,
    ciScope: 'within-process',
    processes: 1,
    stats: null,
    details: {},
    checks: [],
    ...(typeof value !== 'number' && value),
  };
  return found as MetricResult;
}

export const without = (status: 'unsupported' | 'invalid' | 'failed', reason: string): Partial<MetricResult> => ({
  status,
  reason,
  value: null,
});

function rounds(name: string, values: Record<string, Measured[]>, change: Partial<RunDocument>): RunDocument[] {
  const count = Math.max(0, ...Object.values(values).map((each) => each.length));
  const kind = name.startsWith('native') ? 'native' : 'custom';
  return Array.from({ length: count }, (_, round) =>
    runDocument({
      system: { name, kind, settings: {}, attestation: [] },
      gpu: [card()],
      metrics: Object.entries(values).flatMap(([id, each]) => {
        const value = each[round];
        return value === undefined ? [] : [measured(id, value)];
      }),
      ...change,
    }),
  );
}

export function comparison(values: Values, { round = {}, document = {} }: Change = {}): ComparisonDocument {
  const systems = Object.entries(values).map(([name, each]) => rounds(name, each, round));
  return {
    schemaVersion: 3,
    kind: 'comparison',
    tool: { name: 'gpu-virt-bench', version: '0.0.0' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 1_000,
    completed: true,
    plan: {
      tier: 'standard',
      metrics: [...new Set(Object.values(values).flatMap(Object.keys))].sort(),
      systems: Object.keys(values),
      rounds: Math.max(...systems.map(({ length }) => length)),
      seed: 1,
      order: [Object.keys(values)],
    },
    systems,
    effects: effects(metrics, systems),
    pairs: pairEffects(metrics, systems),
    computeLimits: [],
    violations: [],
    warnings: [],
    ...document,
  };
}

/** Five values around one, at most 0.4 % apart. */
export const about = (value: number): number[] => [1, 1.002, 0.998, 1.001, 0.999].map((factor) => factor * value);
