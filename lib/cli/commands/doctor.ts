/** `gpu-virt-bench doctor` */
import { type CheckpointTrial, NOT_LISTED } from '../../checkpoint/trial.js';
import type { GpuInfo } from '../../results/document.js';
import { loadAddon, simulatedDriverFolder } from '../../native/load.js';
import { cudaVersion } from '../../results/text/cuda-version.js';
import { bytes, plain } from '../../results/text/plain.js';
import { table } from '../../report/tables/table.js';
import { type Diagnosis, diagnose } from '../../run/diagnosis.js';
import { lostWithout, type MissingFunction } from '../../systems/proof/missing-functions.js';
import { environmentSystem } from '../../systems/process/environment.js';
import { exitCodes } from '../options/exit-codes.js';
import { checkJson, type RawJson, writeJson } from '../options/json-option.js';
import { parseTimeout } from '../options/options.js';
import { writeText } from '../files/output.js';

export async function doctor(options: RawJson & { timeout?: string }): Promise<number> {
  await checkJson(options.json);
  const seconds = parseTimeout(options.timeout);
  const diagnosis = await diagnose({
    system: environmentSystem(),
    loadAddon,
    simulatedFolder: simulatedDriverFolder,
    ...(seconds !== null && { timeoutMs: 1_000 * seconds }),
  });
  if (options.json === undefined) await writeText(`${diagnosisText(diagnosis)}\n`);
  else await writeJson(options.json, diagnosis);
  return diagnosis.ready ? exitCodes.ok : exitCodes.failed;
}

function diagnosisText(diagnosis: Diagnosis): string {
  const parts = [facts(diagnosis), owners(diagnosis), missing(diagnosis), conclusions(diagnosis)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function facts({ tool, host, driver, gpu, mps, preload, workerError, workerWithout, checkpoint }: Diagnosis): string {
  const none = workerError === null ? 'none' : 'unknown: the worker process ended before it could inspect the GPU';
  const seen = workerWithout === null ? '' : ` (without ${workerWithout})`;
  const notMapped = workerError === null ? 'NOT LOADED' : 'its process ended';
  const container = host.container ? ', in a container' : '';
  const rows = [
    ['Tool', `${tool.name} ${tool.version}, Node ${host.node}`],
    [
      'Host',
      `${host.platform} ${host.kernel} ${host.arch}, ${host.usableCores} of ${host.cores} cores usable${container}`,
    ],
    [
      'Driver',
      driver
        ? `${driver.version ?? 'version unknown'}, CUDA ${cudaVersion(driver.cudaVersion)}, ${driver.libcuda}${seen}`
        : none,
    ],
    ['NVML', driver ? (driver.libnvidiaMl ?? 'none') : none],
    ...gpu.map((device) => [`GPU ${device.index}`, gpuText(device)]),
    ['MPS', `${mps.controlPipe ? 'a control pipe' : 'no daemon'} at ${mps.pipeDirectory}`],
    ['MPS R615', mpsText(mps.features)],
    [
      'Preload',
      preload.map(({ entry, source, mapped }) => `${source}: ${entry} (${mapped ?? notMapped})`).join('; ') || 'none',
    ],
    ['Checkpoint', checkpoint === null ? 'not tried' : checkpointText(checkpoint)],
  ];
  const width = Math.max(...rows.map(([label = '']) => label.length));
  return rows.map(([label = '', text = '']) => `${label.padEnd(width)}  ${plain(text)}`).join('\n');
}

function mpsText({ protocol3, memoryLimits, whyNoDmem }: Diagnosis['mps']['features']): string {
  const has = (feature: boolean | null, program: string) =>
    feature === null ? `unknown, as ${program} is not in PATH` : feature ? 'yes' : 'no';
  return [
    `protocol 3: ${has(protocol3, 'nvidia-cuda-mps-control')}`,
    `nvidia-smi memory-limits: ${has(memoryLimits, 'nvidia-smi')}`,
    `cgroup controller dmem: ${whyNoDmem ?? 'yes'}`,
  ].join('; ');
}

function checkpointText({ works, listed, calls, reason, fix }: CheckpointTrial): string {
  if (!works) return `does not work: ${reason}${fix === null ? '' : `; fix: ${fix}`}`;
  const [lock, checkpoint] = calls;
  const took = `works: a process of its own was locked in ${lock?.ms.toFixed(1)} ms and checkpointed in ${checkpoint?.ms.toFixed(0)} ms`;
  return listed ? took : `${took}; ${NOT_LISTED} a checkpoint frees memory, so system swap is unsupported`;
}

function gpuText(gpu: GpuInfo): string {
  return [
    gpu.simulated ? `SIMULATED: ${gpu.name}` : gpu.name,
    bytes(gpu.memoryBytes),
    `compute capability ${gpu.computeCapability}`,
    `${gpu.multiprocessors} SMs`,
    gpu.uuid,
    `MIG ${gpu.migMode}`,
    `persistence ${gpu.persistenceMode === null ? 'unknown' : gpu.persistenceMode ? 'on' : 'off'}`,
    `compute mode ${gpu.computeMode ?? 'unknown'}`,
    `MPS client ${gpu.mpsClient === null ? 'unknown' : gpu.mpsClient ? 'yes' : 'no'}`,
  ].join(', ');
}

const ownerColumns = [
  { title: 'Owner of driver functions' },
  { title: 'Functions', align: 'right' },
  { title: 'runtime', align: 'right' },
  { title: 'dlsym', align: 'right' },
  { title: 'linked', align: 'right' },
  { title: 'NVML', align: 'right' },
  { title: 'patched', align: 'right' },
] as const;

function owners({ functions, interceptors, missing: lacking, driver, workerError }: Diagnosis): string {
  if (!driver || workerError !== null) return '';
  if (interceptors.length === 0)
    return lacking.length === 0
      ? `No interception: the driver owns all ${functions} functions on every symbol path.`
      : 'No interception: the driver owns every function that it has.';
  const rows = interceptors.map(({ owner, functions: names, byPath, nvml, patched }) => {
    const { runtime, dlsym, linked } = byPath;
    const counts = [names, runtime, dlsym, linked, nvml, patched].map(({ length }) => length);
    return [plain(owner), ...counts.map(String)];
  });
  return table(ownerColumns, rows);
}

const missingColumns = [
  { title: 'Missing functions', wraps: true },
  { title: 'Why', wraps: true },
  { title: 'What is lost', wraps: true },
] as const;

/** Functions that are missing for the same reason and cost the same share a row. */
function missing(diagnosis: Diagnosis): string {
  const rows = new Map<string, { names: string[]; why: string; lost: string }>();
  for (const each of diagnosis.missing) {
    const [why, lost] = [reasonOf(each, diagnosis), lostWithout(each)];
    const row = rows.get(`${why} ${lost}`) ?? { names: [], why, lost };
    rows.set(`${why} ${lost}`, row);
    row.names.push(each.name);
  }
  if (rows.size === 0) return '';
  return table(
    missingColumns,
    [...rows.values()].map(({ names, why, lost }) => [names.join(', '), why, lost]),
  );
}

function reasonOf({ sinceDriver, hiddenOn }: MissingFunction, { layer, interceptors }: Diagnosis): string {
  if (hiddenOn.length > 0) {
    const owner = layer?.path ?? interceptors[0]?.owner ?? 'a library';
    return plain(`hidden by ${owner} (${hiddenOn.join(', ')})`);
  }
  return sinceDriver === null ? 'not in this driver, though every driver has it' : `needs driver ${sinceDriver}`;
}

function conclusions({ findings, ready }: Diagnosis): string {
  const lines = findings.flatMap(({ severity, text, fix }) => [
    `${severity}: ${plain(text)}`,
    ...(fix === null ? [] : [`  fix: ${plain(fix)}`]),
  ]);
  return [...lines, ready ? 'Ready: run measures a real GPU.' : 'Not ready: run would not measure a real GPU.'].join(
    '\n',
  );
}
