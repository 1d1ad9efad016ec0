/** What a comparison of systems is asked for, and what it tells meanwhile. */
import type { RunDocument } from '../results/document.js';
import type { System } from '../systems/system.js';
import type { FinishedRound } from './finished-round.js';
import type { Choice } from './plan/device.js';
import type { RunHooks, RunRequest } from './run-request.js';

export interface CompareRequest extends Omit<RunRequest, 'system'> {
  /** Systems to compare; the first is the baseline. */
  systems: readonly System[];
  rounds: number;
  /**
   * Rounds of an earlier run of the same request, by system and round, which are not measured again. Rounds of another
   * request are refused.
   */
  finished: readonly (readonly (RunDocument | undefined)[])[];
  /** Keep systems that cannot be measured here as `unsupported` and measure the others. Default false: refuse. */
  allowMissing?: boolean;
  /** Measure further rounds of a system after one of its proofs failed. Default false. */
  keepGoing?: boolean;
  /** The caller's environment; workers inherit an allow-list of it. */
  environment: NodeJS.ProcessEnv;
}

export interface CompareHooks extends Omit<RunHooks, 'onLog'> {
  /** Receives the warnings that can be given before anything is measured. */
  onStart: (choice: Choice, warnings: readonly string[]) => void;
  /** Called before the compute limit of each system is checked, which takes no time where there is none. */
  onComputeLimit: (system: System) => void;
  /**
   * Called before a worker starts. `further`: the number of a further worker, from 1; null for the one that measures
   * everything.
   */
  onRound: (round: number, system: System, further: number | null) => void;
  /** Called when a proof of a system failed, whose further rounds are then not measured. */
  onGivenUp?: (system: System) => void;
  /** Receives a finished round and is awaited, so that a round that was announced as finished is on disk. */
  onDocument: (round: number, systemIndex: number, finished: FinishedRound) => Promise<void>;
}
