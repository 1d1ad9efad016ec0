/** What `compare` and `exec` measure and publish. */
import type { Comparison } from '../../api/comparison.js';
import type { Stage } from '../../run/effects/detect.js';
import type { RawRunOptions, RunOptions } from '../options/options.js';
import type { Gating, RawGating } from './gating.js';
import type { StoredRequest } from './stored-request.js';
import type { RawTolerance } from './tolerance.js';

/** Options of both commands. */
export interface RawComparing extends RawRunOptions, RawGating, RawTolerance {
  output?: string;
  resume?: string;
}

export interface Comparing {
  raw: RawComparing;
  options: RunOptions;
  comparison: Comparison;
  /** Text of the plan. */
  words: readonly string[];
  kept: StoredRequest;
  /** Whether the run continues the comparison in its directory. */
  isResumed: boolean;
  gating: Gating | null;
  /** Input files, which must not be overwritten. */
  inputs: readonly string[];
  /** Called with the results directory before anything is measured. */
  onDirectory?: (path: string) => void;
  onRound?: (round: number, index: number, stage: Stage) => void;
}
