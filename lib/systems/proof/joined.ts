/** The attestation of a system that stands around another one. */
import type { Attestation } from '../system.js';

/** What was found outside stands before what was found inside. */
export function joined(outside: Attestation, inside: Attestation): Attestation {
  const why = [outside.invalid, inside.invalid].filter((reason) => reason !== undefined);
  return {
    ...inside,
    proofs: [...outside.proofs, ...inside.proofs],
    notChecked: [...(outside.notChecked ?? []), ...(inside.notChecked ?? [])],
    ...(why.length > 0 && { invalid: why.join('; and ') }),
  };
}
