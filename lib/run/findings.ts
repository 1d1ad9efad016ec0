/**
 * The conclusions of `doctor`: what prevents a measurement of a real GPU, what would disturb it, and how to fix it.
 */
import type { HostInfo } from '../results/document.js';
import type { MpsState } from '../environment/mps.js';
import { judgeClock } from '../native/clock.js';
import { startRemedy } from '../native/start-remedy.js';
import type { NativeDevice } from '../native/addon-types.js';
import { applicationPaths, type Interceptor } from '../systems/proof/interception.js';
import type { Attestation } from '../systems/system.js';
import type { Description } from '../workers/description.js';
import { isPod, podFindings } from './pod-findings.js';

export interface Finding {
  /** `error` prevents a measurement of a real GPU. */
  severity: 'error' | 'warning' | 'note';
  text: string;
  /** A command that fixes it, if there is one. */
  fix: string | null;
}

export interface Facts {
  host: HostInfo;
  environment: NodeJS.ProcessEnv;
  mps: MpsState;
  /** Whether an NVIDIA device is on the PCI bus; null if the bus cannot be read. */
  pciGpu: boolean | null;
  addonError: string | null;
  driverError: string | null;
  /** Why no process in this environment could inspect the GPU. */
  workerError: string | null;
  /** A command after which a process can inspect the GPU; null if there is none. */
  workerFix?: string | null;
  /** The variable without which a process could inspect the GPU; null if there is none. */
  workerWithout?: string | null;
  description: Description | null;
  attestation: Attestation | null;
  interceptors: readonly Interceptor[];
}

type Device = NativeDevice;

const finding = (severity: Finding['severity'], text: string, fix: string | null = null): Finding => ({
  severity,
  text,
  fix,
});

export function findings(facts: Facts): Finding[] {
  return [
    ...whatStops(facts),
    ...deviceFindings(facts),
    ...layerFindings(facts),
    ...podFindings(facts.environment, facts.description),
  ];
}

function whatStops(facts: Facts): Finding[] {
  const { addonError, driverError, workerError, workerFix = null, description } = facts;
  if (addonError !== null) return [finding('error', addonError)];
  const found: Finding[] = [];
  if (driverError !== null) found.push(noDriver(facts, driverError));
  if (workerError !== null) found.push(finding('error', workerError, workerFix));
  const inspection = description?.inspection;
  if (!inspection) return found;
  if (driverError === null && inspection.simulated)
    found.push(finding('error', `${inspection.libcuda} is the simulated driver.`, 'unset LD_LIBRARY_PATH'));
  const { cuda, nvml, clock } = inspection;
  const { invalid } = judgeClock(clock);
  if (invalid !== null) found.push(finding('error', `No time can be measured: ${invalid}.`));
  if (cuda) {
    const remedy = startRemedy(cuda.call, cuda.code, {
      CUDA_MPS_PIPE_DIRECTORY: facts.mps.pipeDirectory,
      ...facts.environment,
    });
    const cause = remedy ? ` ${remedy.cause}.` : '';
    const said = cuda.missing ?? `${cuda.call} returned ${cuda.name} (${cuda.code}).${cause}`;
    found.push(finding('error', said, remedy?.command ?? null));
  }
  if (!cuda && inspection.devices.length === 0)
    found.push(finding('error', 'The driver lists no GPU.', 'nvidia-smi -L'));
  if (nvml)
    found.push(
      finding(
        'warning',
        `${nvml.call} returned ${nvml.name} (${nvml.code}): clocks and foreign processes cannot be monitored.`,
        'nvidia-smi',
      ),
    );
  else if (inspection.libnvidiaMl === null)
    found.push(
      finding(
        'warning',
        'libnvidia-ml.so.1 was not found: clocks and foreign processes cannot be monitored.',
        containerFix(facts),
      ),
    );
  return found;
}

function noDriver(facts: Facts, reason: string): Finding {
  const text = `No NVIDIA driver found (dlopen libcuda.so.1: ${reason}): run would measure the SIMULATED GPU.`;
  if (isPod(facts.environment))
    return finding(
      'error',
      `${text} This is a pod: it needs resources.limits with a GPU (nvidia.com/gpu: 1), and runtimeClassName: nvidia where that runtime is not the default one.`,
    );
  if (facts.pciGpu === false) return finding('error', `${text} No NVIDIA device is on the PCI bus.`);
  return finding('error', text, containerFix(facts) ?? 'sudo ubuntu-drivers install');
}

/** In a pod it is the cluster that gives a GPU, which no command inside does. */
const containerFix = ({ host, environment }: Facts): string | null =>
  host.container && !isPod(environment)
    ? 'docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE'
    : null;

function deviceFindings({ description, mps }: Facts): Finding[] {
  const inspection = description?.inspection;
  if (!inspection || inspection.simulated) return [];
  const found = inspection.devices.flatMap((device) => [...modeFindings(device), ...clientFindings(device)]);
  if (mps.controlPipe)
    found.push(
      finding(
        'note',
        `An MPS daemon answers at ${mps.pipeDirectory}: every CUDA process of this user becomes its client.`,
        'echo quit | nvidia-cuda-mps-control',
      ),
    );
  return found;
}

function modeFindings({ index, computeMode, persistenceMode, migMode }: Device): Finding[] {
  const found: Finding[] = [];
  if (computeMode === 'prohibited')
    found.push(
      finding(
        'error',
        `GPU ${index} has compute mode prohibited: no process can use it.`,
        `sudo nvidia-smi -i ${index} -c DEFAULT`,
      ),
    );
  if (computeMode === 'exclusive-process' || computeMode === 'exclusive-thread')
    found.push(
      finding(
        'warning',
        `GPU ${index} has compute mode ${computeMode}: one process at a time.`,
        `sudo nvidia-smi -i ${index} -c DEFAULT`,
      ),
    );
  if (persistenceMode === false)
    found.push(
      finding(
        'warning',
        `GPU ${index} is not in persistence mode: the start of a process may include the start of the GPU.`,
        `sudo nvidia-smi -i ${index} -pm 1`,
      ),
    );
  if (migMode === 'enabled')
    found.push(finding('note', `GPU ${index} is in MIG mode: a process sees one instance.`, 'nvidia-smi -L'));
  return found;
}

const clientFindings = ({ index, mpsClient }: Device): Finding[] =>
  mpsClient ? [finding('note', `On GPU ${index} a process of this environment is an MPS client.`)] : [];

function layerFindings({ attestation, interceptors }: Facts): Finding[] {
  if (!attestation) return [];
  const found = attestation.warnings.map((text) => finding('warning', text));
  if (attestation.groundTruth === 'none')
    found.push(
      finding(
        'warning',
        '/etc/ld.so.preload names a GPU layer: every process is hooked, so nothing can be checked against the bare GPU.',
        'sudo mv /etc/ld.so.preload /etc/ld.so.preload.off',
      ),
    );
  for (const interceptor of interceptors) found.push(...disagreement(interceptor));
  return found;
}

/**
 * Notes functions that are intercepted on some paths only. That is legal, and decides whether a program runs under the
 * layer.
 */
function disagreement({ owner, functions, byPath }: Interceptor): Finding[] {
  return applicationPaths.flatMap((path) => {
    const escaped = functions.filter((name) => !byPath[path].includes(name));
    if (escaped.length === 0) return [];
    const names =
      escaped.length > 4 ? `${escaped.slice(0, 3).join(', ')} and ${escaped.length - 3} more` : escaped.join(', ');
    const text = `${owner} intercepts ${names} on ${otherPaths(escaped, byPath)} but not on ${path}.`;
    return [finding('note', text)];
  });
}

const otherPaths = (names: readonly string[], byPath: Interceptor['byPath']): string =>
  applicationPaths.filter((path) => names.some((name) => byPath[path].includes(name))).join(' and ');
