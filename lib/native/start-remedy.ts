/** What to do where the driver refuses to start, by the code of cuInit or cuDeviceGetCount (driver API documentation). */

interface StartRemedy {
  /** The cause: a sentence without its full stop. */
  cause: string;
  /** A command that shows or mends it. */
  command: string;
}

const START_CALLS: ReadonlySet<string> = new Set(['cuInit', 'cuDeviceGetCount']);

/** The directory in which processes with this environment look for an MPS daemon. */
export const mpsPipeDirectory = ({ CUDA_MPS_PIPE_DIRECTORY = '/tmp/nvidia-mps' }: NodeJS.ProcessEnv): string =>
  CUDA_MPS_PIPE_DIRECTORY;

/** Null if the call does not start the driver, or nothing is known of the code. */
export function startRemedy(call: string, code: number, environment: NodeJS.ProcessEnv): StartRemedy | null {
  if (!START_CALLS.has(call)) return null;
  const visible = environment.CUDA_VISIBLE_DEVICES;
  const remedies: Record<number, StartRemedy> = {
    46: {
      cause: 'Another process has the GPU to itself, or its compute mode is prohibited',
      command: 'nvidia-smi -q -d COMPUTE',
    },
    100:
      visible === undefined
        ? { cause: 'The driver sees no GPU', command: 'nvidia-smi -L' }
        : { cause: `CUDA_VISIBLE_DEVICES=${visible} hides every GPU`, command: 'unset CUDA_VISIBLE_DEVICES' },
    101: { cause: 'CUDA_VISIBLE_DEVICES names a GPU that is not there', command: 'unset CUDA_VISIBLE_DEVICES' },
    802: {
      cause: 'GPUs joined by NVSwitches are not ready until the fabric manager runs',
      command: 'sudo systemctl restart nvidia-fabricmanager',
    },
    803: {
      cause: 'The library libcuda.so.1 and the kernel module are of different driver versions, as after an update',
      command: 'sudo reboot',
    },
    804: {
      cause: 'The library libcuda.so.1 is a forward-compatibility library, which works on data centre GPUs only',
      command: 'unset LD_LIBRARY_PATH',
    },
    805: {
      cause: 'The MPS daemon does not answer',
      command: `CUDA_MPS_PIPE_DIRECTORY=${mpsPipeDirectory(environment)} nvidia-cuda-mps-control -d`,
    },
    999: {
      cause: 'The kernel module or its device files are missing or broken',
      command: 'sudo nvidia-modprobe -u -c=0',
    },
  };
  return remedies[code] ?? null;
}
