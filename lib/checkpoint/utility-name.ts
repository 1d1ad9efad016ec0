/** NVIDIA's program that makes checkpoint calls. */
export const UTILITY = 'cuda-checkpoint';
export const NO_UTILITY = `no ${UTILITY} in PATH: it is a single file of NVIDIA's repository github.com/NVIDIA/cuda-checkpoint (bin/x86_64_Linux)`;
