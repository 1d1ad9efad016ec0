/** Whether the systems of a document were active, according to its results. */
import type { MetricResult, RunDocument } from '../results/document.js';

/** Matches the wording of attestation (systems/proof/judgement.ts). */
export const isInactive = ({ status, reason }: MetricResult): boolean =>
  status === 'invalid' && reason?.startsWith('layer not active') === true;

/** Not shown to be active, or not until the last measurement. */
export const isUnattested = ({ system, metrics }: RunDocument): boolean =>
  system.notCheckedAfter !== undefined || system.attestation.some(({ passed }) => !passed) || metrics.some(isInactive);
