/** A fresh process that is under another layer than the worker that was looked at has its number taken back. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type * as metricsRegistry from '../../lib/metrics/registry.js';
import { interposerLibrary } from '../../lib/native/load.js';
import type * as runRun from '../../lib/run/run.js';
import { environmentSystem } from '../../lib/systems/environment.js';
import { emptyFolder, simulatedFolder } from './child.js';

const built = (file: string) => fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
const region = `attested-${randomUUID().slice(0, 13)}`;
const nvmlLayer = join(emptyFolder(), 'nvml-layer.so');

beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/nvml-layer.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', nvmlLayer, source, '-ldl']);
});
afterAll(() => rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true }));

/** Under the layer but for what the metric itself starts, where `lost`. */
async function runUnder(id: string, layer: NodeJS.ProcessEnv, lost: boolean) {
  const { runMetrics } = (await import(built('run/run.js'))) as typeof runRun;
  const { findMetric } = (await import(built('metrics/registry.js'))) as typeof metricsRegistry;
  const definition = findMetric(id);
  if (!definition) throw new Error('unreachable');
  const bare = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: `region=${region},init_ms=4,context_ms=4` };
  let measuring = false;
  const environment = () => (measuring && lost ? bare : { ...bare, ...layer });
  const document = await runMetrics(
    {
      plan: { metrics: [definition], tier: 'quick', seed: 1, estimatedSeconds: 1 },
      target: { simulatedDriver: simulatedFolder, simulate: true, notice: null },
      system: { ...environmentSystem(environment()), environment },
      device: undefined,
      requireGpu: false,
      options: { path: 'runtime', iterations: 1 },
      timeoutSeconds: null,
      strict: false,
      signal: new AbortController().signal,
    },
    {
      onPrepared: () => {},
      onMetric: () => {
        measuring = true;
      },
      onProgress: () => {},
      onResult: () => {
        measuring = false;
      },
    },
  );
  return document.metrics[0];
}

const interposed = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: 'cuDevicePrimaryCtxRetain=+1us' };

// On a busy machine START-006 may not be ready at its release, and says so.
it.each([
  ['START-001', 'cuDevicePrimaryCtxRetain', interposed],
  ['START-004', 'cuDevicePrimaryCtxRetain', interposed],
  ['START-006', 'cuDevicePrimaryCtxRetain', interposed],
  ['START-005', 'nvmlInit_v2', { LD_PRELOAD: nvmlLayer }],
])('%s is held to the owner of %s', { retry: 2 }, async (id, name, layer) => {
  const kept = await runUnder(id, layer, false);
  expect([kept?.status, kept?.reason]).toEqual(['ok', undefined]);
  const lost = await runUnder(id, layer, true);
  expect(lost).toMatchObject({ status: 'invalid', value: null, stats: null });
  expect(lost?.reason).toMatch(new RegExp(`^layer not active: ${name} belongs to `));
  expect(lost?.reason).toContain(layer.LD_PRELOAD);
});
