/**
 * How much a metric's value differs between rounds, each of a fresh process, in comparisons recorded on real GPUs.
 * Generated from bench/results by `npm run variances`.
 */
interface RecordedVariance {
  /** `log`: of the logarithms of values. `unit`: of values in the metric's unit, because some are zero or negative. */
  scale: 'log' | 'unit';
  /** Standard deviation between rounds of the baseline, and of the other systems: medians over documents. */
  sd: number;
  sdLayer: number;
  /** Correlation of a system with the baseline over rounds: median over pairs. 0 if there is none. */
  correlation: number;
  documents: number;
  /** Rounds of the baseline in these documents. */
  rounds: number;
}

export const recordedVariances: Readonly<Record<string, RecordedVariance>> = {
  'BW-001': { scale: 'log', sd: 0.00112, sdLayer: 0.0032, correlation: -0.999, documents: 1, rounds: 3 },
  'CACHE-002': { scale: 'log', sd: 0.0000138, sdLayer: 0.0000126, correlation: -0.464, documents: 1, rounds: 3 },
  'IS-008': { scale: 'log', sd: 0.00000189, sdLayer: 0.0000324, correlation: -0.538, documents: 1, rounds: 3 },
  'IS-010': { scale: 'unit', sd: 0, sdLayer: 0, correlation: 0, documents: 1, rounds: 3 },
  'LLM-003': { scale: 'log', sd: 0.00643, sdLayer: 0.00453, correlation: -0.293, documents: 1, rounds: 3 },
  'LLM-004': { scale: 'log', sd: 0.00131, sdLayer: 0.00236, correlation: -0.522, documents: 1, rounds: 3 },
  'LLM-009': { scale: 'log', sd: 0.127, sdLayer: 0.14, correlation: 0.0338, documents: 1, rounds: 5 },
  'LLM-010': { scale: 'log', sd: 0.00428, sdLayer: 0.00341, correlation: -0.793, documents: 1, rounds: 3 },
  'NCCL-001': { scale: 'log', sd: 0.118, sdLayer: 0.131, correlation: -0.914, documents: 1, rounds: 3 },
  'NCCL-002': { scale: 'log', sd: 0.00215, sdLayer: 0.00156, correlation: -0.888, documents: 1, rounds: 3 },
  'NCCL-003': { scale: 'log', sd: 0.00145, sdLayer: 0.00294, correlation: -0.785, documents: 1, rounds: 3 },
  'NCCL-004': { scale: 'log', sd: 0.00288, sdLayer: 0.0021, correlation: -0.839, documents: 1, rounds: 3 },
  'OH-001': { scale: 'log', sd: 0.0525, sdLayer: 0.0649, correlation: 0.416, documents: 12, rounds: 63 },
  'OH-002': { scale: 'log', sd: 0.205, sdLayer: 0.166, correlation: 0.527, documents: 9, rounds: 35 },
  'OH-003': { scale: 'log', sd: 0.159, sdLayer: 0.152, correlation: 0.0652, documents: 11, rounds: 58 },
  'OH-004': { scale: 'log', sd: 0.0463, sdLayer: 0.0347, correlation: -0.0412, documents: 8, rounds: 32 },
  'OH-005': { scale: 'unit', sd: 0.000547, sdLayer: 0.542, correlation: -0.654, documents: 9, rounds: 35 },
  'OH-006': { scale: 'log', sd: 0.268, sdLayer: 0.231, correlation: 0.219, documents: 3, rounds: 15 },
  'OH-007': { scale: 'log', sd: 0.177, sdLayer: 0.123, correlation: -0.00132, documents: 5, rounds: 24 },
  'OH-009': { scale: 'log', sd: 0.113, sdLayer: 0.0271, correlation: 0.597, documents: 3, rounds: 15 },
  'PCIE-001': { scale: 'log', sd: 0.00184, sdLayer: 0.0029, correlation: 0.902, documents: 1, rounds: 3 },
  'START-001': { scale: 'log', sd: 0.0444, sdLayer: 0.0497, correlation: 0.37, documents: 8, rounds: 32 },
  'START-002': { scale: 'log', sd: 0.0275, sdLayer: 0.0256, correlation: 0.0799, documents: 9, rounds: 52 },
  'START-003': { scale: 'log', sd: 0.0628, sdLayer: 0.0534, correlation: 0.0547, documents: 4, rounds: 20 },
  'START-004': { scale: 'log', sd: 0.186, sdLayer: 0.198, correlation: 0.437, documents: 4, rounds: 20 },
  'START-005': { scale: 'log', sd: 0.0983, sdLayer: 0.0752, correlation: 0.503, documents: 8, rounds: 30 },
  'START-006': { scale: 'log', sd: 0.0383, sdLayer: 0.027, correlation: 0.392, documents: 3, rounds: 15 },
};
