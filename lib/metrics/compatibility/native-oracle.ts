/** Runs the probes natively, in an environment without the system, and proves that the driver is the bare one. */
import { join } from 'node:path';
import { BenchError } from '../../errors/bench-error.js';
import { probeProgram } from '../../native/load.js';
import { bareDriver } from '../../systems/proof/attestation.js';
import { type Description, describe } from '../../workers/description.js';
import type { Launcher, ProcessStart } from '../../workers/launcher.js';
import { Worker } from '../../workers/worker.js';
import type { MeasureContext } from '../core/metric.js';
import { nativeStart } from '../tenants/native-start.js';
import { targetOf } from '../tenants/scene.js';
import { excludedBecause } from './outcome.js';
import { type Observation, type ProbeRow, runProbe } from './probe-process.js';
import { inTurns } from './turns.js';

export interface Settings {
  deadlineMs: number;
  /** Selects the probes to run. */
  of: (probe: ProbeRow) => boolean;
}

export interface Native {
  probe: ProbeRow;
  observation: Observation;
  /** Why it is not compared; null if it is. */
  excluded: string | null;
}

export interface Oracle {
  all: Native[];
  /** Why the native runs cannot be a reference; null if they can. */
  notBare: string | null;
  /** The driver's libcuda. */
  driver: string;
  /** UUID of the measured device. */
  device: string;
}

async function describeNatively(context: MeasureContext, start: ProcessStart): Promise<Description> {
  const { signal } = context;
  const worker = await Worker.start({ start, signal });
  try {
    return await describe(worker, targetOf(context), signal);
  } finally {
    await worker.stop();
  }
}

function uuidOf({ options: { device } }: MeasureContext, { inspection: { devices } }: Description): string {
  if (typeof device === 'string') return device;
  const found = device === null ? devices[0] : devices.find(({ index }) => index === device);
  if (!found) throw new BenchError('NO_SUCH_DEVICE', `There is no GPU ${device ?? ''} for the probes to run on.`);
  return found.uuid;
}

/** The command for a probe; `more` are options in addition to those of every probe. */
export function probeCommand(
  context: MeasureContext,
  launcher: Launcher,
  name: string,
  { driver, device }: Pick<Oracle, 'driver' | 'device'>,
  more: readonly string[] = [],
): string[] {
  const { simulatedDriver, options } = context;
  const file = (path: string) => launcher.pathOf(path);
  const simulated =
    simulatedDriver === null
      ? []
      : [
          '--libcuda',
          file(join(simulatedDriver, 'libcuda.so.1')),
          '--nvml',
          file(join(simulatedDriver, 'libnvidia-ml.so.1')),
        ];
  return [file(program()), name, ...simulated, '--driver', driver, '--device', device, '--path', options.path, ...more];
}

function program(): string {
  const found = probeProgram();
  if (found === null)
    throw new BenchError(
      'FUNCTION_MISSING',
      'The program of the compatibility probes is not built: run npm run build:native.',
    );
  return found;
}

async function listProbes(start: ProcessStart, context: MeasureContext, { deadlineMs, of }: Settings) {
  const { rows } = await runProbe(start, [program(), 'list'], { deadlineMs, signal: context.signal });
  return rows.filter(of);
}

export async function nativeOracle(context: MeasureContext, lanes: number, settings: Settings): Promise<Oracle> {
  const { system, signal } = context;
  const start = nativeStart(context);
  const description = await describeNatively(context, start);
  const bare = bareDriver(description).find(({ passed }) => passed === false);
  const where = { driver: description.inspection.libcuda, device: uuidOf(context, description) };
  if (bare) return { ...where, all: [], notBare: `${bare.proof}: ${bare.detail}` };
  const { memoryBytes } = system.limits();
  const quota = memoryBytes === null ? [] : ['--memory', String(memoryBytes)];
  const probes = await listProbes(start, context, settings);
  const all = await inTurns(probes, { lanes, startMs: null }, async (probe): Promise<Native> => {
    const command = probeCommand(context, start.launcher, probe.name, where, quota);
    const { deadlineMs } = settings;
    // Some are probes of two metrics.
    const observation = await context.once.get(`probe ${probe.name} natively, ${deadlineMs} ms`, () =>
      runProbe(start, command, { deadlineMs, signal }),
    );
    return { probe, observation, excluded: excludedBecause(observation) };
  });
  return { ...where, all, notBare: null };
}
