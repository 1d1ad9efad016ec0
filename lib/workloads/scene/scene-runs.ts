/** What the runs of a scene are asked for, and what they give. */
import type { Check } from '../../results/document.js';
import type { MeasureContext } from '../../metrics/core/metric.js';
import type { GpuState } from '../../native/addon-types.js';
import type { Tenant } from '../../systems/system.js';
import type { ExecSettings, Memory } from '../round/round-of-runs.js';
import type { MeasuredRun } from '../program/measured-run.js';
import type { RoundMonitor } from '../round/round-monitor.js';
import type { SceneTurns } from './answered-switches.js';
import type { AnswerTimes } from './answer-times.js';
import { type Scene, victimsOf } from './scene-type.js';
import type { Together } from './together.js';

/** How a victim is run. */
export const arms = ['alone', 'together'] as const;
export type Arm = (typeof arms)[number];

/** A run without the state of the GPU before it. */
export type PlayedRun = Omit<MeasuredRun, 'cooled'> & {
  /** Null where it takes no turns, or is not measured. */
  answers: AnswerTimes | null;
};

export type VictimRuns = Record<Arm, MeasuredRun[]>;

export interface SceneRound {
  /**
   * Why no number of the round counts: a failure, else `invalid` or `unsupported`. All three are null if numbers count.
   */
  failure: string | null;
  invalid: string | null;
  unsupported: string | null;
  /** Runs of each victim that count, by its name. */
  victims: ReadonlyMap<string, VictimRuns>;
  warmups: ReadonlyMap<string, VictimRuns>;
  /** The largest CV of all victims, alone and together, after the first runs and after each repeat. */
  cvs: (number | null)[];
  /** The runs together, without warm-ups. */
  together: Together<PlayedRun>[];
  /** Null where the tenants do not take turns. */
  turns: SceneTurns | null;
  /** What each tenant was limited to. */
  limits: { tenant: string; memoryBytes: number | null; smPercent: number | null }[];
  checks: Check[];
  notes: string[];
}

export const noRuns = ({ tenants }: Scene): Map<string, VictimRuns> =>
  new Map(victimsOf({ tenants }).map(({ name }) => [name, { alone: [], together: [] }]));

/** What rounds of one scene share. */
export interface SceneMemory extends Memory {
  /** Why what an earlier round measured is not of this scene, by system. */
  readonly invalid: Map<string, string>;
}

export interface SceneRequest {
  scene: Scene;
  settings: ExecSettings;
  memory: SceneMemory;
  context: MeasureContext;
  /** Tenants as the system sees them, with their limits, in the order of the scene's tenants. */
  tenants: readonly Tenant[];
  readGpu: () => Promise<GpuState | null>;
  monitor: RoundMonitor;
}
