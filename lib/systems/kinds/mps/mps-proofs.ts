/** Whether a client is that of our daemon, and in a partition of it. */
import type { SeenDevice } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';

/** A client of another daemon is under the limits of that one. */
export function ownPipes({ CUDA_MPS_PIPE_DIRECTORY: seen }: NodeJS.ProcessEnv, pipes: string | undefined): Finding {
  return {
    proof: 'the daemon whose pipes the process names',
    passed: seen === pipes,
    detail: seen === pipes ? `${pipes}` : `${seen ?? 'none'}, not ${pipes}`,
    advice: 'Let nothing change CUDA_MPS_PIPE_DIRECTORY on the way to the process.',
  };
}

export function partitionSize(device: SeenDevice, whole: number, chunks: number): Finding {
  const seen = device?.multiprocessors;
  const proof = 'multiprocessors in the partition';
  if (seen === undefined) return { proof, passed: null, detail: 'the worker does not report it' };
  return {
    proof,
    passed: seen > 0 && seen < whole && seen % chunks === 0,
    detail: `the tenant has ${seen} of ${whole} in a partition of ${chunks} chunks`,
    advice: 'Check server.log of the daemon: the client may have been given no partition.',
  };
}
