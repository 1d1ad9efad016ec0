/** The result of a gate, for programs and reports. */
import type { Effect, RunDocument } from '../results/document.js';
import type { Interval } from '../stats/rule/estimate.js';

/** What affects the numbers besides the system itself. */
export interface Environment {
  startedAt: string;
  tool: string;
  simulated: boolean;
  gpu: string;
  driver: string;
  host: string;
  /** The options of the run: tier, symbol path, options. */
  manner: string;
  rounds: number;
  /** Median of the SM clock while a kernel ran; null if NVML did not report it. */
  smClockMhz: number | null;
}

type Outcome = 'passed' | 'failed' | 'inconclusive' | 'not measured' | 'invalid';

export interface Case {
  metric: string;
  name: string;
  system: string;
  kind: 'measured' | 'violation' | 'limit' | 'regression';
  /** The threshold in words, e.g. `at most 8 us`. */
  threshold: string;
  outcome: Outcome;
  countsAs: 'passed' | 'failed';
  /** The value compared with the threshold, in `unit`: the metric's own, or `ratio`, for which above 1 is worse. */
  value: number | null;
  interval: Interval | null;
  unit: string;
  reason: string;
  /** Reported, but without influence on the outcome. */
  improvement?: string;
}

export interface GateDocument {
  schemaVersion: 3;
  kind: 'gate';
  tool: RunDocument['tool'];
  /** Start of the judged document. */
  startedAt: string;
  durationMs: number;
  simulated: boolean;
  /** Name of the stored baseline; null if systems were compared with the first of their own comparison. */
  baseline: string | null;
  environments: { now: Environment; baseline: Environment | null };
  /** How a case is decided, and how often it is decided wrongly. */
  rule: string;
  passed: boolean;
  cases: Case[];
  /** Against the stored baseline, between sessions; empty without one. */
  effects: Effect[];
  warnings: string[];
}
