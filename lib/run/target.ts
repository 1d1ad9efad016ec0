/** Real or simulated GPU: decided once, before anything is measured, and reported. */
import type { DriverProbe, Inspection, NativeAddon, Target } from '../native/addon-types.js';
import { BenchError } from '../native/errors.js';

export interface TargetRequest {
  simulate: boolean;
  requireGpu: boolean;
  /** Most time for loading the driver's library. Null: LOADING_S. */
  timeoutSeconds: number | null;
}

/** Loading a driver takes some 20 ms, and seconds where it comes over a network. */
const LOADING_S = 60;

export const probeDriver = (addon: Pick<NativeAddon, 'probeDriver'>, timeoutSeconds: number | null): DriverProbe =>
  addon.probeDriver({ timeoutMs: 1_000 * (timeoutSeconds ?? LOADING_S) });

export interface ChosenTarget extends Target {
  simulate: boolean;
  /** The warning where there is no driver and the GPU is simulated without --simulate. */
  notice: string | null;
}

/** `simulatedFolder` is asked only when it is needed. */
export function chooseTarget(
  request: TargetRequest,
  addon: Pick<NativeAddon, 'probeDriver'>,
  simulatedFolder: () => string | null,
): ChosenTarget {
  if (request.simulate) return simulated(simulatedFolder, null);
  const probe = probeDriver(addon, request.timeoutSeconds);
  const { path, error } = probe;
  if (path !== null) return { simulatedDriver: null, simulate: false, notice: null };
  if (probe.fatal)
    throw new BenchError(
      'NO_DRIVER',
      `${fatalText(probe)} Repair or remove that library; gpu-virt-bench doctor says more, --simulate measures the simulated GPU.`,
    );
  const reason = `dlopen libcuda.so.1: ${dlopenReason(error)}`;
  if (request.requireGpu)
    throw new BenchError(
      'NO_DRIVER',
      `No NVIDIA driver found (${reason}): install it, or start the container with --gpus all; gpu-virt-bench doctor says more.`,
    );
  return simulated(
    simulatedFolder,
    `No NVIDIA driver found (${reason}): measuring the SIMULATED GPU. These numbers say nothing about real hardware.`,
  );
}

/** Not "no driver": one is there, and simulating in its place would hide that it is broken. */
export const fatalText = ({ error }: DriverProbe): string => `libcuda.so.1 cannot be loaded: ${error}.`;

/** dlerror() begins with the name, which every message here has said. */
export const dlopenReason = (error: string | null): string => error?.replace(/^libcuda\.so\.1: /, '') ?? 'not found';

function simulated(simulatedFolder: () => string | null, notice: string | null): ChosenTarget {
  const simulatedDriver = simulatedFolder();
  if (simulatedDriver === null)
    throw new BenchError('NO_DRIVER', 'The simulated driver is not built: run npm run build:native in the checkout.');
  return { simulatedDriver, simulate: true, notice };
}

/** What the loaded driver turned out to be decides: the simulated one may also come from LD_LIBRARY_PATH. */
export function targetWarnings({ simulated }: Pick<Inspection, 'simulated'>, environment: NodeJS.ProcessEnv): string[] {
  return simulated || environment.GVB_SIM === undefined
    ? []
    : ['GVB_SIM is ignored: this machine has a driver; --simulate measures the simulated GPU instead.'];
}
