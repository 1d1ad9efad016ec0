/** What is measured of a user's program: the program, how it is run, and the metrics of a run. */
import type { RawMap } from '../config/values.js';
import type { LoadPlan } from '../load/load-plan.js';
import type { Direction } from '../metrics/metric.js';
import type { PerChoice } from '../metrics/per.js';
import { DEFAULT_INTERVAL_MS } from '../monitor/options.js';
import type { Delta } from '../stats/effect.js';
import type { SceneTenant } from './scene-type.js';

/** An argument list; no shell reads it. */
export type Command = readonly string[];

/** By what it is seen that the program can serve. */
export type Readiness =
  /** A line that it prints, on stdout or stderr, holds this text. */
  | { by: 'line'; text: string }
  /** Something accepts connections at this TCP port of 127.0.0.1. */
  | { by: 'port'; port: number }
  /** A GET request is answered with a status from 200 to 299. */
  | { by: 'http'; url: string }
  /** The file exists. */
  | { by: 'file'; path: string };

export interface CoolDown {
  /** Before every run, at least, in seconds. */
  pauseSeconds: number;
  /** At most, in seconds; 0 waits for no temperature. */
  mostSeconds: number;
  /** How much warmer than before the first run the GPU may be, in degrees Celsius. */
  degrees: number;
}

/** Where a run prints the number of a metric. */
export type OutputSource = 'stdout' | 'stderr' | { file: string };

export type Extraction =
  /** The first group of every match. */
  | { by: 'regex'; pattern: RegExp }
  /** Of the whole output, which is one JSON text (RFC 6901). */
  | { by: 'json'; pointer: string }
  /** Of every line that is a JSON text. */
  | { by: 'jsonl'; pointer: string };

/** Which of several numbers of one run. */
export const choices = ['first', 'last', 'least', 'largest', 'mean', 'median', 'sum'] as const;
export type Choice = (typeof choices)[number];

export interface ExtractedMetric {
  /** As its id ends. */
  key: string;
  from: OutputSource;
  pick: Extraction;
  take: Choice;
  unit: string;
  direction: Direction;
  delta: Delta;
  /** What it counts by, where its unit does not say it. */
  per?: PerChoice;
}

/** What is measured of every program, in the order of reports. */
export const builtInKeys = ['wall', 'ready', 'cpu', 'host-memory', 'gpu-memory', 'energy'] as const;
export type BuiltInKey = (typeof builtInKeys)[number];

/** And of its load, after them. */
export const loadKeys = [
  ...(['ttft', 'ttft-p99', 'itl', 'itl-p99', 'tpot', 'latency', 'latency-p99'] as const),
  ...(['tokens-per-second', 'requests-per-second', 'errors'] as const),
];
export type LoadKey = (typeof loadKeys)[number];

/** How the GPU is read while the program runs. */
export interface Monitoring {
  intervalMs: number;
  /** Whether every run has a file of it. */
  csv: boolean;
}

/** One program with one set of parameters. */
export interface Workload {
  /** As its ids begin: `decode`, of a matrix `decode@batch=8`. */
  name: string;
  argv: Command;
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Variables of the caller that it gets as they are. */
  passEnv: readonly string[];
  /** Before and after the runs of every round, outside the system. */
  setup: readonly Command[];
  teardown: readonly Command[];
  /** Runs that are not counted, before those of every round. */
  warmup: number;
  /** Runs of every round. */
  iterations: number;
  /** Of a run. */
  timeoutSeconds: number;
  /** That a run may end with. */
  exitCodes: readonly number[];
  coolDown: CoolDown;
  ready: Readiness | null;
  /** From when it is ready until it is stopped; null: it ends by itself. */
  stopAfterSeconds: number | null;
  /** Sent while it is ready, before it is stopped. */
  load: LoadPlan | null;
  monitor: Monitoring;
  metrics: readonly ExtractedMetric[];
  /** Of a scene, whose first victim the program above is. */
  tenants?: readonly SceneTenant[];
}

/** As it was written, so that it can be read again. */
export interface WorkloadSource {
  settings: RawMap;
  /** What relative paths are relative to. */
  folder: string;
}

/** Of a run, where nothing else is said. Also in the help of `exec` and in docs/exec.md. */
export const DEFAULTS = {
  warmup: 3,
  iterations: 10,
  timeoutSeconds: 600,
  coolDown: { pauseSeconds: 0, mostSeconds: 60, degrees: 5 },
  monitor: { intervalMs: DEFAULT_INTERVAL_MS, csv: true },
} as const;
