/** Every process that gives a number is judged, including later workers, fresh processes and tenants. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunDocument } from '../../lib/results/document.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { runMetrics } from '../../lib/run/run.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { MpsSystem } from '../../lib/systems/kinds/mps/mps-system.js';
import { SOLE_TENANT, type System, type Tenant } from '../../lib/systems/system.js';
import { describe as describeWorker } from '../../lib/workers/description.js';
import { localStart } from '../../lib/workers/local.js';
import { Worker } from '../../lib/workers/worker.js';
import { onOneProcessor } from '../processors.js';
import { metricNamed } from '../metric-named.js';
import { cardIn, emptyFolder, simulatedFolder } from './child.js';

const region = `attested-${randomUUID().slice(0, 13)}`;
const nvmlLayer = join(emptyFolder(), 'nvml-layer.so');
const GVB_SIM = cardIn(region);
const bare = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM };

beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/nvml-layer.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', nvmlLayer, source, '-ldl']);
});
afterAll(() => rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true }));

/** `onMetric` is called when a metric begins; the metrics run in the order of `ids`. */
async function runUnder(
  system: System,
  ids: readonly string[],
  onMetric: (id: string) => void,
  iterations = 1,
): Promise<{ document: RunDocument; said: string[] }> {
  const said: string[] = [];
  const document = await runMetrics(
    {
      plan: { metrics: ids.map(metricNamed), tier: 'quick', seed: 1, estimatedSeconds: 1 },
      target: { simulatedDriver: simulatedFolder, simulate: true, notice: null },
      system,
      device: undefined,
      requireGpu: false,
      options: { path: 'runtime', iterations },
      timeoutSeconds: null,
      strict: false,
      signal: new AbortController().signal,
    },
    {
      onPrepared: () => {},
      onMetric: ({ id }) => onMetric(id),
      onProgress: () => {},
      onResult: () => {},
      onFailedProof: (reason) => said.push(reason),
    },
  );
  return { document, said };
}

/** Under the layer, except for processes started while one of the metrics in `without` is measured. */
function underLayer(ids: readonly string[], layer: NodeJS.ProcessEnv, without: readonly string[]) {
  let bareNow = false;
  const environment = () => (bareNow ? bare : { ...bare, ...layer });
  return runUnder({ ...environmentSystem(environment()), environment }, ids, (id) => {
    bareNow = without.includes(id);
  });
}

const resultOf = ({ metrics }: RunDocument, id: string) => metrics.find((result) => result.id === id);

const interposed = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'cuDevicePrimaryCtxRetain=+1us' };
const outside = /^layer not active: \w+ belongs to \S+ in this process, to \S+ in the first/;

/** Their processes have to run at the same time. */
const oneProcessor = onOneProcessor('OH-006 and START-006 with a process outside the layer');

describe('a process that a metric starts outside the layer', () => {
  const layers: Record<string, NodeJS.ProcessEnv> = {
    'START-001': interposed,
    'START-002': interposed,
    'START-003': interposed,
    'START-004': interposed,
    'START-005': { LD_PRELOAD: nvmlLayer },
    'OH-004': interposed,
    ...(!oneProcessor && { 'OH-006': interposed, 'START-006': interposed }),
    'OH-009': interposed,
    'OH-010': interposed,
  };
  const ids = Object.keys(layers);

  it.each([
    ['driver', interposed],
    ['NVML', layers['START-005']],
  ] as const)('none is reported while all of them are under a layer of the %s', async (_, layer) => {
    const mine = ids.filter((id) => layers[id] === layer);
    const { document, said } = await underLayer(mine, layer ?? {}, []);
    const { proven, of } = document.system.processes ?? { proven: -1, of: 0 };
    // Each metric has one of its own, except that OH-009 and OH-010 share the one in which sessions are.
    expect(of).toBeGreaterThanOrEqual(mine.length - 1);
    expect({ proven, said }).toEqual({ proven: of, said: [] });
    expect(document.metrics).toHaveLength(mine.length);
    for (const { reason } of document.metrics) expect(reason ?? '').not.toMatch(/layer not active/);
  });

  it.each(Object.entries(layers))('invalidates %s, and is reported at once', async (id, layer) => {
    const { document, said } = await underLayer([id], layer, [id]);
    const result = resultOf(document, id);
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result?.reason).toMatch(outside);
    expect(result?.reason).toContain(layer.LD_PRELOAD);
    expect(said.length).toBeGreaterThan(0);
    expect(document.system.processes?.proven).toBe(0);
  });
});

it('withdraws only the numbers of a worker that started outside the layer', async () => {
  const { document, said } = await underLayer(['OH-002', 'START-001', 'OH-003', 'START-002'], interposed, ['OH-003']);
  expect(resultOf(document, 'OH-002')?.status).toBe('ok');
  for (const id of ['START-001', 'START-002']) expect(resultOf(document, id)?.status).toBe('ok');
  const lost = resultOf(document, 'OH-003');
  expect(lost).toMatchObject({ status: 'invalid', value: null, details: {} });
  expect(lost?.reason).toMatch(outside);
  expect(said).not.toEqual([]);
});

describe('under MPS', () => {
  let directory: string;
  let programs: string;
  beforeAll(() => {
    // A socket's path is short, so the run's directory must be too.
    directory = mkdtempSync(join(tmpdir(), 'gvb-'));
    programs = emptyFolder();
    const control = join(programs, 'nvidia-cuda-mps-control');
    copyFileSync(fileURLToPath(new URL('../cli/fixtures/nvidia-cuda-mps-control', import.meta.url)), control);
    chmodSync(control, 0o755);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  async function cardOf(environment: NodeJS.ProcessEnv) {
    const worker = await Worker.start({ start: localStart(environment) });
    try {
      const { inspection } = await describeWorker(worker, { simulatedDriver: simulatedFolder });
      return inspection.devices[0];
    } finally {
      await worker.stop();
    }
  }

  /** Processes started while one of `without` is measured cannot find the daemon. */
  async function underMps(name: string, ids: readonly string[], without: readonly string[]) {
    let lost = false;
    class Losing extends MpsSystem {
      override environment(tenant?: Tenant): NodeJS.ProcessEnv {
        const environment = super.environment(tenant);
        return lost ? { ...environment, CUDA_MPS_PIPE_DIRECTORY: join(directory, 'nowhere') } : environment;
      }
    }
    const PATH = `${programs}:${process.env.PATH}`;
    const system = new Losing({ name, caller: { ...bare, PATH }, memory: undefined, sm: undefined });
    const gpu = await cardOf(bare);
    if (!gpu) throw new Error('unreachable');
    const target = { simulatedDriver: simulatedFolder };
    await system.prepare({ runId: name, directory, gpu, otherGpus: [], target });
    try {
      await system.prepareTenant(SOLE_TENANT);
      const onMetric = (id: string) => {
        lost = without.includes(id);
      };
      return await runUnder(system, ids, onMetric, 3);
    } finally {
      await system.reap(SOLE_TENANT);
      await system.teardown();
    }
  }

  const noClient = /^layer not active: MPS attribute .*: 0: it runs without MPS/;

  it('publishes nothing from a later worker, a fresh process or a tenant that is no client', async () => {
    const without = ['START-001', 'OH-009', 'OH-003'];
    const { document, said } = await underMps('lost', ['OH-002', ...without, 'START-004'], without);
    for (const id of ['OH-002', 'START-004']) expect(resultOf(document, id)?.status).toBe('ok');
    for (const id of without) {
      const lost = resultOf(document, id);
      expect(lost).toMatchObject({ id, status: 'invalid', value: null, details: {} });
      expect(lost?.reason).toMatch(noClient);
    }
    expect(said).toContainEqual(expect.stringMatching(noClient));
  });

  it('counts every client as proven', async () => {
    const { document, said } = await underMps('kept', ['OH-002', 'START-001', 'OH-003'], []);
    expect(document.metrics.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    // Two workers, and the fresh processes of START-001.
    expect(document.system.processes).toEqual({ proven: 5, of: 5 });
    expect(said).toEqual([]);
  });
});
