/** A comparison of two systems with the details of metrics whose answer is a curve. */
import type { ComparisonDocument } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';
import { comparisonOf } from './html-fixtures.js';
import { result } from '../run/fixtures.js';

const KIB = 1024;
const ROUND_NOISE = [0, 0.02, 0.01] as const;

const tenants = (counts: readonly number[], of: (count: number) => Record<string, unknown>) =>
  counts.map((count) => ({ tenants: count, ...of(count) }));

/** The second system waits for kernels, shares bandwidth unevenly, and fragments memory. */
const detailsOf: Record<string, (isSecond: boolean, noise: number) => Record<string, unknown>> = {
  'BW-002': (isSecond, noise) => ({
    rows: tenants([2, 4, 8], (count) => ({
      leastGbPerSecond: (1 + noise) * (4_000 / count) * (isSecond ? 0.6 : 1),
      jain: isSecond ? 1 - 0.05 * count : 1,
    })),
  }),
  'BW-003': (isSecond, noise) => ({
    rows: tenants([1, 2, 3, 4, 5, 6, 7, 8], (count) => ({
      aggregateGbPerSecond: (1 + noise) * (isSecond ? 600 : Math.min(4_200, 800 * count)),
    })),
  }),
  'BW-004': (isSecond, noise) => ({
    rows: [1, 2, 3].map((neighbours) => ({
      neighbours,
      togetherGbPerSecond: ((1 + noise) * 4_200) / (neighbours + (isSecond ? 2 : 1)),
    })),
  }),
  'PCIE-001': (isSecond, noise) => ({
    sizes: [4 * KIB, 64 * KIB, KIB ** 2, 16 * KIB ** 2, 256 * KIB ** 2].map((bytes) => ({
      bytes,
      // Each copy has a fixed cost.
      gbs: bytes / (bytes / 55 + (isSecond ? 6_000 : 1_500)) / (1 + noise),
    })),
  }),
  'PCIE-003': (isSecond, noise) => ({
    curve: ['to the device', 'to the host'].flatMap((direction) =>
      tenants([1, 2, 4], (count) => {
        const aggregateGbs = 55 * (1 + noise) * (isSecond ? 1 - 0.1 * (count - 1) : 1);
        return { direction, aggregateGbs, leastGbs: aggregateGbs / count };
      }),
    ),
  }),
  'SCHED-001': (isSecond, noise) => ({
    sliceLengths: [0, 1, 5, 25, 50, 75, 95, 99, 100].map((percent) => ({
      percent,
      ms: isSecond ? 1 + percent / 20 : 1.9 + noise + percent / 1_000,
    })),
  }),
  'SCHED-004': (isSecond, noise) => {
    const line = (queued: number) => ({ aMs: isSecond ? 0.05 : 1.7 + noise, b: isSecond ? queued : 0.002 });
    const depths = [1, 8, 64];
    const lengths = [0.1, 0.5, 1, 10, 100];
    return {
      fits: depths.map((queued) => {
        const { aMs, b } = line(queued);
        return { queued, p50: { aMs, b: b / 2 }, worst: { aMs, b } };
      }),
      kernels: depths.flatMap((queued) =>
        lengths.map((kernelMs) => {
          const { aMs, b } = line(queued);
          return { kernelMs, queued, p50Ms: aMs + (b / 2) * kernelMs, worstMs: aMs + b * kernelMs };
        }),
      ),
    };
  },
  'FRAG-001': (isSecond, noise) => ({
    rows: [0, 4_000, 16_000, 64_000].map((turnover) => ({
      path: 'cuMemAlloc_v2',
      turnover,
      operations: 900 + turnover,
      largestGib: isSecond ? 4 / (1 + turnover / 4_000) : 60 * (1 + noise),
    })),
  }),
};

export const CURVES = Object.keys(detailsOf);

export function curvesComparison(): ComparisonDocument {
  const systems = ['native', 'layer'];
  const document = comparisonOf({ metrics: 1, systems, rounds: ROUND_NOISE.length });
  document.plan.metrics = [...CURVES];
  document.effects = [];
  document.violations = [];
  document.systems.forEach((runs, system) =>
    runs.forEach((run, round) => {
      run.metrics = CURVES.map((id) => {
        const { name, category, unit, direction } = metricNamed(id);
        const details = detailsOf[id]?.(system === 1, ROUND_NOISE[round] as number);
        return result(id, { name, category, unit, direction, ...(details && { details }) });
      });
    }),
  );
  return document;
}
