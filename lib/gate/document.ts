/** What a gate found, as programs and reports read it. */
import type { Effect, RunDocument } from '../results/document.js';
import type { Interval } from '../stats/effect.js';

/** What decides the numbers beside the system itself. */
export interface Environment {
  startedAt: string;
  tool: string;
  simulated: boolean;
  gpu: string;
  driver: string;
  host: string;
  /** How it was asked for: tier, symbol path, options. */
  manner: string;
  rounds: number;
  /** Median of the SM clock while a kernel ran; null where NVML did not tell. */
  smClockMhz: number | null;
}

export type Outcome = 'passed' | 'failed' | 'inconclusive' | 'not measured' | 'invalid';

export interface Case {
  metric: string;
  name: string;
  system: string;
  kind: 'measured' | 'violation' | 'limit' | 'regression';
  /** In words, e.g. `at most 8 us`. */
  threshold: string;
  outcome: Outcome;
  countsAs: 'passed' | 'failed';
  /** What was compared with the threshold, in `unit`: the metric's own, or `ratio`, of which above 1 is worse. */
  value: number | null;
  interval: Interval | null;
  unit: string;
  reason: string;
  /** Said aloud although it changes no outcome. */
  improvement?: string;
}

export interface GateDocument {
  schemaVersion: 2;
  kind: 'gate';
  tool: RunDocument['tool'];
  /** Of the document that was judged. */
  startedAt: string;
  durationMs: number;
  simulated: boolean;
  /** Name of the stored baseline; null if systems were compared with the first of their own comparison. */
  baseline: string | null;
  environments: { now: Environment; baseline: Environment | null };
  passed: boolean;
  cases: Case[];
  /** Against the stored baseline, between sessions; empty without one. */
  effects: Effect[];
  warnings: string[];
}
