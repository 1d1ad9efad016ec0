/**
 * What a look at the processes of a run showed. `outside`: one used the GPU without the layer or the daemon of its system, or
 * something hooks what should be the bare driver.
 */
export interface ProcessProof {
  state: 'proven' | 'unproven' | 'outside';
  detail: string;
}

const STATES = ['outside', 'unproven', 'proven'] as const;

/** Every claim must hold: what contradicts one counts before what leaves one open. */
export function worstOf(proofs: readonly ProcessProof[]): ProcessProof {
  const state = STATES.find((each) => proofs.some((proof) => proof.state === each)) ?? 'unproven';
  const details = proofs.filter((proof) => proof.state === state).map(({ detail }) => detail);
  return { state, detail: details.join('; ') };
}
