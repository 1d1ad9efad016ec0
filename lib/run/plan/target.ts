/** Real or simulated GPU: decided and reported once, before anything is measured. */
import type { DriverProbe, Inspection, NativeAddon, Target } from '../../native/addon-types.js';
import { BenchError } from '../../errors/bench-error.js';
import type { System } from '../../systems/system.js';

export interface TargetRequest {
  simulate: boolean;
  requireGpu: boolean;
  /** Timeout for loading the driver's library. Null: LOADING_S. */
  timeoutSeconds: number | null;
}

/** Timeout for loading a driver, which takes some 20 ms, or seconds over a network. */
const LOADING_S = 60;

/** Whether all GPUs are on other machines, where real drivers are. A simulated card is this machine's. */
export const isElsewhere = (systems: readonly System[], { simulatedDriver }: Target): boolean =>
  simulatedDriver === null && systems.length > 0 && systems.every(({ looksElsewhere }) => looksElsewhere === true);

/** The driver of another machine. */
export const ELSEWHERE: ChosenTarget = { simulatedDriver: null, simulate: false, notice: null };

export const probeDriver = (addon: Pick<NativeAddon, 'probeDriver'>, timeoutSeconds: number | null): DriverProbe =>
  addon.probeDriver({ timeoutMs: 1_000 * (timeoutSeconds ?? LOADING_S) });

export interface ChosenTarget extends Target {
  simulate: boolean;
  /** The warning if there is no driver and the GPU is simulated without --simulate. */
  notice: string | null;
}

/** Chooses the real or the simulated GPU. `simulatedFolder` is called only if needed. */
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

/** The error if a driver exists but cannot be loaded: simulating instead would hide that it is broken. */
export const fatalText = ({ error }: DriverProbe): string => `libcuda.so.1 cannot be loaded: ${error}.`;

/** Removes the library's name, which every message here already contains. */
export const dlopenReason = (error: string | null): string => error?.replace(/^libcuda\.so\.1: /, '') ?? 'not found';

function simulated(simulatedFolder: () => string | null, notice: string | null): ChosenTarget {
  const simulatedDriver = simulatedFolder();
  if (simulatedDriver === null)
    throw new BenchError('NO_DRIVER', 'The simulated driver is not built: run npm run build:native in the checkout.');
  return { simulatedDriver, simulate: true, notice };
}

/** Warns of settings that the loaded driver ignores. The simulated driver may also come from LD_LIBRARY_PATH. */
export function targetWarnings({ simulated }: Pick<Inspection, 'simulated'>, environment: NodeJS.ProcessEnv): string[] {
  return simulated || environment.GVB_SIM === undefined
    ? []
    : ['GVB_SIM is ignored: this machine has a driver; --simulate measures the simulated GPU instead.'];
}
