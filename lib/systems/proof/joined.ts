/** The attestation of a system that stands around another one. */
import type { Attestation, Proof } from '../system.js';

/** What was found outside stands before what was found inside, and what both found stands once. */
export function joined(outside: Attestation, inside: Attestation): Attestation {
  const why = [outside.invalid, inside.invalid].filter((reason) => reason !== undefined);
  return {
    ...inside,
    proofs: [
      ...outside.proofs,
      ...inside.proofs.filter((found) => !outside.proofs.some((other) => isSame(found, other))),
    ],
    notChecked: [...(outside.notChecked ?? []), ...(inside.notChecked ?? [])],
    ...(why.length > 0 && { invalid: why.join('; and ') }),
  };
}

const isSame = (a: Proof, b: Proof): boolean => a.proof === b.proof && a.passed === b.passed && a.detail === b.detail;
