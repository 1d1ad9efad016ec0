/** Turns findings into an attestation: whether numbers may be published under the system's name, and if not, why. */
import type { LayerInfo } from '../../results/document.js';
import type { Description } from '../../workers/description.js';
import { asProof, isProof } from './attestation.js';
import type { Finding } from './proof-finding.js';
import { groundTruth } from '../process/environment.js';
import { libcWarnings } from './hidden-interception.js';
import type { Attestation, Evidence, Proof } from '../system.js';

export function judge(
  description: Description,
  { phase }: Evidence,
  layer: LayerInfo | null,
  findings: readonly Finding[],
): Attestation {
  const named = findings.map((found) => (phase === 'after' ? { ...found, proof: `${found.proof}, after` } : found));
  const proofs = named.filter(isProof).map(asProof);
  const notChecked = named.filter((found) => !isProof(found)).map(({ proof, detail }) => ({ proof, detail }));
  const invalid = whyInvalid(proofs, phase === 'process' ? [] : notChecked);
  return {
    layer,
    proofs,
    groundTruth: groundTruth(description),
    warnings: libcWarnings(description),
    notChecked,
    ...(invalid !== null && { invalid }),
  };
}

/** The first failed proof decides what to do; the others follow from it, and the document lists them. */
function whyInvalid(proofs: readonly Proof[], notChecked: readonly { proof: string }[]): string | null {
  const [first, ...others] = proofs.filter(({ passed }) => !passed);
  const more = others.length > 0 ? ` (failed too: ${others.map(({ proof }) => proof).join(', ')})` : '';
  if (first) return `layer not active: ${first.proof}: ${first.detail}${more}`;
  if (proofs.length > 0 || notChecked.length === 0) return null;
  return `layer not active: nothing could be checked (${notChecked.map(({ proof }) => proof).join(', ')})`;
}
