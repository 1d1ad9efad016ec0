/** Documents for reports: of the largest size, with every section, deterministic. */
import type { ComparisonDocument, Effect, MetricResult, RunDocument } from '../../../lib/results/document.js';
import type { Words } from '../../../lib/report/text/words.js';
import { device, result, runDocument, without } from '../run/fixtures.js';

export interface Shape {
  metrics: number;
  systems: readonly string[];
  rounds: number;
  /** Raw samples in every result, which a report does not show. */
  samples?: number;
  readings?: number;
}

const CATEGORIES = ['overhead', 'isolation', 'start-up', 'memory', 'scheduling', 'communication', 'models'];
const VERDICTS: Effect['verdict'][] = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];

/** A number between 0 and 1 that depends only on the arguments. */
function noise(...parts: number[]): number {
  const mixed = parts.reduce((sum, part, i) => sum + (part + 1) * (i * 7.31 + 12.9898), 0);
  const wild = Math.sin(mixed) * 43_758.5453;
  return wild - Math.floor(wild);
}

const wellKnown = ['OH-006', 'OH-007', 'START-006'];
/** A limit that differs from the rest of the card. */
export const LIMIT = 30;
/** The metric that failed in the second round of the last system, if there are that many. */
export const FAILED = { metric: 3, round: 1, reason: 'CUDA_ERROR_UNKNOWN (999)' };
const idOf = (metric: number): string => wellKnown[metric] ?? `X-${String(metric + 1).padStart(3, '0')}`;

function detailsOf(id: string, factor: number): Record<string, unknown> {
  if (id === 'OH-006') {
    const operations = ['allocFree', 'memGetInfo', 'launch'];
    const row = (operation: string, processes: number) => ({
      operation,
      topology: 'shared',
      processes,
      p50Us: factor * processes,
    });
    return { rows: operations.flatMap((operation) => [1, 2, 4, 8].map((processes) => row(operation, processes))) };
  }
  if (id === 'OH-007') return { cells: [0, 256, 1024, 4096].map((live) => ({ live, pairNs: 1000 + factor * live })) };
  if (id === 'START-006')
    return { starts: [1, 10, 50].map((processes) => ({ processes, meanMs: 100 + factor * processes })) };
  return {};
}

function failedOf(metric: number): MetricResult {
  const category = CATEGORIES[metric % CATEGORIES.length] as string;
  return without(result(idOf(metric), { category }), 'failed', FAILED.reason);
}

function resultOf(metric: number, system: number, round: number, samples: number): MetricResult {
  const id = idOf(metric);
  const value = (1 + metric) * (1 + system / 10) * (1 + noise(metric, system, round) / 20);
  const count = 1000;
  return result(id, {
    category: CATEGORIES[metric % CATEGORIES.length] as string,
    value,
    ci95: [value * 0.98, value * 1.03],
    blocks: Array.from({ length: 20 }, (_, i) => value * (1 + noise(metric, system, round, i) / 30)),
    samples: Array.from({ length: samples }, (_, i) => value * (1 + noise(i) / 10)),
    details: detailsOf(id, 1 + system),
    stats: {
      count,
      mean: value,
      stddev: value / 40,
      cv: 1 / 40,
      mad: value / 60,
      min: value * 0.9,
      p50: value,
      p90: value * 1.05,
      p95: value * 1.07,
      p99: null,
      p999: null,
      max: value * 1.3,
      outliers: { mild: 3, severe: 1 },
    },
  });
}

function samplerOf(readings: number, seed: number): NonNullable<RunDocument['sampler']> {
  const each = (of: (i: number) => number) => Array.from({ length: readings }, (_, i) => of(i));
  return {
    source: 'nvml',
    intervalMs: 100,
    timeMs: each((i) => i * 100),
    gpuPercent: each((i) => Math.round(100 * noise(Math.floor(i / 5), seed))),
    memoryPercent: each(() => 1),
    usedBytes: each(() => 2 ** 30),
    temperatureC: each(() => 40),
    powerW: each(() => 120),
    smClockMhz: each(() => 1980),
    memoryClockMhz: each(() => 3201),
    eventReasons: each(() => 1),
  };
}

export function runOf(shape: Shape, system: number, round: number): RunDocument {
  const { metrics, systems, samples = 0, readings = 0 } = shape;
  const name = systems[system] as string;
  return runDocument({
    gpu: [{ ...device(0), simulated: false }],
    system: { name, kind: name === 'native' ? 'native' : 'custom', settings: { memory: '10GiB' }, attestation: [] },
    metrics: Array.from({ length: metrics }, (_, metric) =>
      metric === FAILED.metric && round === FAILED.round && system > 0 && system === systems.length - 1
        ? failedOf(metric)
        : resultOf(metric, system, round, samples),
    ),
    health: {
      before: [{ name: 'idle', passed: 'not checked', detail: 'NVML does not say' }],
      after: [
        { name: 'temperature', passed: false, detail: 'hot' },
        { name: 'clocks', passed: true, detail: 'steady' },
      ],
    },
    warnings: [`warned in round ${round}`],
    ...(readings > 0 && { sampler: samplerOf(readings, system * 10 + round) }),
  });
}

const RELEVANCE = { slower: 'beyond', faster: 'beyond', same: 'within', inconclusive: 'straddles' } as const;

function effectOf(metric: number, system: number, { systems, rounds }: Shape): Effect {
  const ratio = 0.8 + noise(metric, system);
  const verdict = VERDICTS[(metric + system) % VERDICTS.length] as Effect['verdict'];
  const hasRatio = metric % 7 !== 6;
  return {
    metric: idOf(metric),
    system: systems[system] as string,
    baseline: systems[0] as string,
    rounds,
    ratio: hasRatio ? ratio : null,
    ratioCi95: hasRatio ? [ratio * 0.95, ratio * 1.05] : null,
    difference: ratio - 1,
    differenceCi95: [ratio - 1.1, ratio - 0.9],
    ratioCi90: hasRatio ? [ratio * 0.96, ratio * 1.04] : null,
    differenceCi90: [ratio - 1.08, ratio - 0.92],
    p: 0.00001,
    pMannWhitney: 0.2,
    betweenRounds: [0.02, 0.03],
    established: verdict === 'slower' || verdict === 'faster',
    relevance: verdict === 'invalid' ? null : RELEVANCE[verdict],
    roundsNeeded: verdict === 'inconclusive' ? 2 * rounds : null,
    verdict,
    ...(verdict === 'invalid' && { reason: `largest is ${metric} against ${system}` }),
  };
}

export function comparisonOf(shape: Shape, change: Partial<ComparisonDocument> = {}): ComparisonDocument {
  const { metrics, systems, rounds } = shape;
  const numbers = Array.from({ length: metrics }, (_, metric) => metric);
  const others = systems.map((_, system) => system).slice(1);
  return {
    schemaVersion: 3,
    kind: 'comparison',
    tool: { name: 'gpu-virt-bench', version: '0.0.0' },
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 60_000,
    completed: true,
    plan: {
      tier: 'standard',
      metrics: numbers.map(idOf),
      systems: [...systems],
      rounds,
      seed: 1,
      order: Array.from({ length: rounds }, () => [...systems]),
    },
    systems: systems.map((_, system) => Array.from({ length: rounds }, (__, round) => runOf(shape, system, round))),
    effects: numbers.flatMap((metric) => others.map((system) => effectOf(metric, system, shape))),
    pairs: [],
    computeLimits: others.map((system) => ({
      system: systems[system] as string,
      limitPercent: LIMIT,
      label: 'throttled',
      achievedPercent: 31.2,
      detail: 'a load',
      binMs: 100,
      sharesPercent: Array.from({ length: 100 }, (_, i) => LIMIT + 10 * noise(i)),
    })),
    violations: others.map((system) => ({ system: systems[system] as string, metric: 'X-004', detail: 'over it' })),
    warnings: [],
    ...change,
  };
}

export const words: Words = {
  facts: [
    ['GPU', 'NVIDIA Test'],
    ['Driver', '580.1, CUDA 13.0'],
  ],
  answer: {
    decision: 'One system costs more than the other.',
    cards: [],
    violations: [],
    causes: [],
    recommendations: [
      { use: 'Training', decides: ['OH-010'], missing: [], systems: [], places: null, reason: 'Either.' },
    ],
    unknown: [{ text: 'Nothing else was asked.', command: 'npx gpu-virt-bench compare OH-001' }],
  },
  statistics: ['Verdicts are adjusted by Holm’s method.'],
  reproduction: 'gpu-virt-bench compare --system native',
  toFillIn: ['Something is missing.'],
  environment: [['Kernel', '6']],
};

export const small: Shape = { metrics: 8, systems: ['native', 'hami-core', 'mps'], rounds: 3, readings: 50 };
export const large: Shape = {
  metrics: 56,
  systems: ['native', 'hami-core', 'mps', 'fcsp'],
  rounds: 10,
  samples: 200,
  readings: 1_000,
};
