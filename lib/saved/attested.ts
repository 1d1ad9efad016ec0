/** What the results of a document say of whether its systems were active. */
import type { MetricResult } from '../document.js';

/** As attestation words it (systems/judgement.ts). */
export const isInactive = ({ status, reason }: MetricResult): boolean =>
  status === 'invalid' && reason?.startsWith('layer not active') === true;
