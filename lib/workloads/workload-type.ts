/** What is measured of a user's program: the program, how it is run, and the metrics of a run. */
import type { RawMap } from '../config/raw.js';
import type { Size } from '../config/size.js';
import type { LoadPlan } from '../load/load-plan.js';
import type { Direction } from '../metrics/core/metric.js';
import type { PerChoice } from '../metrics/core/per.js';
import type { AggressorKind } from '../native/addon-types.js';
import { DEFAULT_INTERVAL_MS } from '../monitor/options.js';
import type { Delta } from '../stats/rule/effect.js';

/** An argument list; no shell reads it. */
type Command = readonly string[];

/** What shows that the program can serve. */
export type Readiness =
  /** The program prints a line, on stdout or stderr, that holds this text. */
  | { by: 'line'; text: string }
  /** Something accepts connections at this TCP port of 127.0.0.1 or ::1. */
  | { by: 'port'; port: number }
  /**
   * A GET request is answered with a status from 200 to 299. If the host is this machine, either of those addresses may
   * answer.
   */
  | { by: 'http'; url: string }
  /** The file exists. */
  | { by: 'file'; path: string };

export interface CoolDown {
  /** The shortest pause before every run, in seconds. */
  pauseSeconds: number;
  /** The longest wait for the temperature, in seconds; 0 does not wait. */
  mostSeconds: number;
  /** How much warmer than before the first run the GPU may be, in degrees Celsius. */
  degrees: number;
}

/** Where a run prints the number of a metric. */
export type OutputSource = 'stdout' | 'stderr' | { file: string };

export type Extraction =
  /** The number is the first group of every match. */
  | { by: 'regex'; pattern: RegExp }
  /** The number is at a JSON pointer (RFC 6901) in the whole output, which is one JSON text. */
  | { by: 'json'; pointer: string }
  /** The number is at a JSON pointer in every line that is a JSON text. */
  | { by: 'jsonl'; pointer: string };

/** Which number to take if one run prints several. A percentile needs as many numbers as those of samples do. */
export const choices = [
  ...(['first', 'last', 'least', 'largest', 'mean', 'median', 'sum'] as const),
  ...(['p90', 'p95', 'p99', 'p99.9'] as const),
] as const;
export type Choice = (typeof choices)[number];

export interface ExtractedMetric {
  /** The end of the metric's id. */
  key: string;
  from: OutputSource;
  pick: Extraction;
  take: Choice;
  unit: string;
  direction: Direction;
  delta: Delta;
  /** What the metric counts by, where its unit does not say it. */
  per?: PerChoice;
}

/** How the GPU is read while the program runs. */
export interface Monitoring {
  intervalMs: number;
  /** Whether every run has a CSV file of the samples. */
  csv: boolean;
}

/** What happens between ready and load. */
export interface CheckpointPlan {
  /** How often the program is checkpointed and restored. */
  repeat: number;
  /** How long it stays checkpointed. */
  holdSeconds: number;
  /** What counts as the first answer after a restore; null: none is waited for. */
  answer: Readiness | null;
}

/** One program with one set of parameters. */
export interface Workload {
  /** The beginning of the ids of its metrics: `decode`, or `decode@batch=8` in a matrix. */
  name: string;
  argv: Command;
  /** Working directory, an absolute path. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Names of the caller's variables that the program gets as they are. */
  passEnv: readonly string[];
  /** Commands whose output is recorded, by name; absent: none. */
  record?: Readonly<Record<string, Command>>;
  /** Commands before and after the runs of every round, outside the system. */
  setup: readonly Command[];
  teardown: readonly Command[];
  /** Number of runs before those of every round that do not count. */
  warmup: number;
  /** Number of runs of every round. */
  iterations: number;
  /** Time limit of a run. */
  timeoutSeconds: number;
  /** Exit codes that are not a failure. */
  exitCodes: readonly number[];
  coolDown: CoolDown;
  ready: Readiness | null;
  /** Time from when the program is ready until it is stopped; null: it ends without being stopped. */
  stopAfterSeconds: number | null;
  /** Requests that are sent while the program is ready, before it is stopped; null: none. */
  load: LoadPlan | null;
  /** How the program is checkpointed once it is ready; absent: not at all. */
  checkpoint?: CheckpointPlan;
  monitor: Monitoring;
  metrics: readonly ExtractedMetric[];
  /** Tenants of a scene, the first victim of which is the program above; absent for a single program. */
  tenants?: readonly SceneTenant[];
}

/**
 * Limits of a tenant, in place of the system's. A limit that is absent, or that the system cannot set, stays the
 * system's.
 */
export interface TenantLimits {
  memory?: Size;
  smPercent?: number;
}

interface Named {
  /** The tenant's name in ids, logs and results. */
  name: string;
  limits: TenantLimits;
}

/** A program that is measured, alone and beside the others. */
export interface Victim extends Named {
  role: 'victim';
  program: Workload;
}

/** A program of the user that runs beside the victims. */
interface ProgramAggressor extends Named {
  role: 'aggressor';
  program: Workload;
}

/** An item of the fixed menu, whose work is counted on the device. */
export interface BuiltInAggressor extends Named {
  role: 'aggressor';
  task: AggressorKind;
}

export type SceneTenant = Victim | ProgramAggressor | BuiltInAggressor;

/** The settings as they were written, so that they can be read again. */
export interface WorkloadSource {
  settings: RawMap;
  /** Folder that relative paths start from. */
  folder: string;
}

/** Defaults of `checkpoint`. */
export const CHECKPOINT_DEFAULTS = { repeat: 3, holdSeconds: 0 } as const;

/** The defaults. The help of `exec` and docs/exec.md repeat them. */
export const DEFAULTS = {
  warmup: 3,
  iterations: 10,
  timeoutSeconds: 600,
  coolDown: { pauseSeconds: 0, mostSeconds: 60, degrees: 5 },
  monitor: { intervalMs: DEFAULT_INTERVAL_MS, csv: true },
} as const;
