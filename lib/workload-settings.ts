/** Workloads as a program describes them to `execWorkloads`: the keys of the YAML file of `exec --config`. */
import { type RawMap, rawOf } from './config/raw.js';
import type { LoadSettings } from './load-settings.js';
import type { AggressorKind } from './native/addon-types.js';
import type { WorkloadSource } from './workloads/workload-type.js';

/** A command is a list of arguments; no shell reads it. */
type Command = readonly string[];

interface Extracting {
  /** Default `stdout`. Not together with `file`. */
  from?: 'stdout' | 'stderr';
  /** A file that the run writes, relative to its folder. */
  file?: string;
  /** Of several numbers of one run. Default `last`. */
  take?: 'first' | 'last' | 'least' | 'largest' | 'mean' | 'median' | 'sum';
  unit: string;
  /** Which is better. */
  direction: 'lower' | 'higher' | 'none';
  /** What counts as a difference: `2%`, or a number in the unit for values that may be zero or negative. Default `2%`. */
  delta?: string | number;
  /** What it counts by, where its unit does not say it (`tokens/s`, `requests/s`, `steps/s`). `none`: nothing. */
  per?: 'token' | 'request' | 'step' | 'none';
}

/** One of a regular expression, whose first group is the number, and a JSON pointer into the output or each line of it. */
export type ExtractedMetricSettings = Extracting & ({ regex: string } | { json: string } | { jsonl: string });

/** A number may be a text that holds a parameter. */
type ParametersOf<Settings> = Settings extends unknown
  ? { [Key in keyof Settings]: number extends Settings[Key] ? Settings[Key] | string : Settings[Key] }
  : never;

/** A program, or a built-in aggressor, that shares the GPU with the others of its scene. */
export interface TenantSettings {
  /** Part of the ids. Default of a task: its name. */
  name?: string;
  /** A victim is measured alone and beside the others; aggressors run until it has ended. Default `victim`; of a task `aggressor`. */
  role?: 'victim' | 'aggressor';
  /** This or `task`. */
  argv?: Command;
  /** An item of the fixed menu, whose work the device counts. */
  task?: AggressorTask;
  /** Instead of those of the system, where it has such: `10GiB` or `50%` of memory, per cent of the SMs. */
  limits?: { memory?: string; sm?: number };
  /** As of a workload, which go before those of the scene. */
  folder?: string;
  env?: Readonly<Record<string, string | number>>;
  passEnv?: readonly string[];
  exit?: number | readonly number[];
  ready?: Ready;
  /** Of a victim. */
  stopAfter?: number;
  /** Of a victim. */
  load?: ParametersOf<LoadSettings>;
  /** Of a victim. */
  metrics?: Readonly<Record<string, ExtractedMetricSettings>>;
}

/** As the keys of a file are written: `longKernels` is `long-kernels`. */
type Hyphenated<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Hyphenated<Rest>}`
  : Text;

export type AggressorTask = Hyphenated<AggressorKind>;

type Ready = { line: string } | { port: number } | { http: string } | { file: string };

export interface WorkloadSettings {
  /** How ids of its metrics begin. */
  name: string;
  /** Not needed with tenants; beside them it is the victim. */
  argv?: Command;
  /** Makes it a scene: all of them share the GPU. */
  tenants?: readonly TenantSettings[];
  /** Beside tenants, of its own program: instead of those of the system. */
  limits?: TenantSettings['limits'];
  /** Where it runs. Default: the current directory. */
  folder?: string;
  env?: Readonly<Record<string, string | number>>;
  /** Variables of this process that it gets as they are. */
  passEnv?: readonly string[];
  /** Before and after the runs of every round, outside the system. */
  setup?: Command | readonly Command[];
  teardown?: Command | readonly Command[];
  /** Runs of every round before those that count. Default 3. */
  warmup?: number;
  /** Runs of every round that count. Default 10. */
  iterations?: number;
  /** Of a run, in seconds. Default 600. */
  timeout?: number;
  /** Exit codes that are no failure. Default 0. */
  exit?: number | readonly number[];
  /** Before every run, in seconds and degrees Celsius. Default: no pause, at most 60 s until within 5 °C. */
  coolDown?: { pause?: number; most?: number; degrees?: number };
  /** How it is seen that it can serve. */
  ready?: Ready;
  /** Seconds from when it is ready, or from the end of its load, until it is stopped. Default: it ends by itself; with a load, 0. */
  stopAfter?: number;
  /** Requests that are sent to it while it is ready, which needs `ready`. `{NAME}` stands for a value of `matrix`. */
  load?: ParametersOf<LoadSettings>;
  /** How often the GPU is read, such as `100ms` (the default), and whether every run has a CSV; `false`: no CSV. */
  monitor?: false | { interval?: string; csv?: boolean };
  /** Values for `{NAME}` in the other settings: one workload for every combination. */
  matrix?: Readonly<Record<string, readonly (string | number)[]>>;
  metrics?: Readonly<Record<string, ExtractedMetricSettings>>;
}

/** Throws TypeError for what YAML could not hold either. */
export const sourceFrom = (settings: WorkloadSettings): WorkloadSource => ({
  settings: rawOf(settings, 'a workload') as RawMap,
  folder: process.cwd(),
});
