/**
 * What a look at the processes of a run showed. `outside`: one used the GPU without the layer or the daemon of its system, or
 * something hooks what should be the bare driver.
 */
export interface ProcessProof {
  state: 'proven' | 'unproven' | 'outside';
  detail: string;
}
