/** What a measured system is: how its workers start, and how it is shown that a worker is under it. */
import type { LayerInfo, RunDocument } from '../document.js';
import type { Description } from '../workers/description.js';

export type Proof = RunDocument['system']['attestation'][number];

export interface Attestation {
  layer: LayerInfo | null;
  proofs: Proof[];
  groundTruth: RunDocument['groundTruth'];
  warnings: string[];
}

export interface System {
  name: string;
  kind: string;
  /** What was set for it: environment variables, limits. */
  settings: Record<string, string>;
  /** The whole environment of its workers. */
  environment: NodeJS.ProcessEnv;
  /** Judges what a worker said of itself. */
  attest(description: Description): Promise<Attestation>;
}
