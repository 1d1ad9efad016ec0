/** Kernels that should fill the card: what is proven of them, and what they give where the driver or a layer lies. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureMetric } from '../../../lib/metrics/core/measure.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import { faultIsolationBy } from '../../../lib/metrics/isolation/is-010-fault-isolation.js';
import { noisyNeighborBy } from '../../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import { MENU } from '../../../lib/metrics/isolation/shared/aggressor-menu.js';
import { FAULTS } from '../../../lib/metrics/isolation/shared/faults.js';
import { preemptionLatencyBy } from '../../../lib/metrics/scheduling/sched-004-preemption-latency.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { metricNamed } from '../../metric-named.js';
import { emptyFolder } from '../../native/child.js';
import { environment } from '../../native/measured.js';
import { undisturbed } from '../../undisturbed.js';

const layer = join(emptyFolder(), 'lazy-layer.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-std=c++17', '-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const measured = (id: string, measure: MetricDefinition['measure'], env: NodeJS.ProcessEnv) =>
  undisturbed(
    () =>
      measureMetric(
        { ...metricNamed(id), measure },
        { simulate: true, tier: 'quick', seed: 1 },
        { system: environmentSystem(env) },
      ),
    (result) => [result],
    (result) => (sawFullness(result) ? [] : [{ id, reason: 'a kernel was over before the host had looked at it' }]),
  );

/** Whether no row of kernels that should fill the card lacks an answer. */
function sawFullness({ details }: MetricResult): boolean {
  const rows = [details.ownKernels, details.faults, details.interference].flat().filter((row) => row !== undefined);
  return (rows as object[]).every(
    (row) => !('p50Ms' in row || 'usedBytes' in row || ('code' in row && row.code !== null)) || isFull(row),
  );
}
const isFull = (row: object) => 'cardFull' in row && row.cardFull === true;

const named = <T extends { name: string }>(all: readonly T[], beginning: string) =>
  all.filter(({ name }) => name.startsWith(beginning));

const preemption = preemptionLatencyBy({ rows: [{ kernelMs: 10, queued: 1 }], windowMs: 200, series: 1 });
const longKernels = noisyNeighborBy({
  menu: named(MENU, 'long kernels'),
  times: { aloneMs: 100, togetherMs: 200, aggressorAloneMs: 60, together: 1 },
  traceMs: 50,
});
const endless = faultIsolationBy({ rounds: 1, faults: named(FAULTS, 'endless kernel') });

describe.each(['', 'card=rtx-5090', 'card=a100-40gb,mig=1g.5gb'])('on a card %s', (sim) => {
  const env = () => environment(null, sim);

  it('is proven full in SCHED-004, IS-009 and IS-010', async () => {
    const [own, beside, killed] = [
      await measured('SCHED-004', preemption, env()),
      await measured('IS-009', longKernels, env()),
      await measured('IS-010', endless, env()),
    ];
    expect(own.details.ownKernels).toMatchObject([{ cardFull: true }, { cardFull: true }]);
    expect(beside.details.interference).toMatchObject([{ cardFull: true, degradationPercent: expect.any(Number) }]);
    expect(killed.details.faults).toMatchObject([{ cardFull: true, code: 'SIGKILL' }]);
    expect(killed.status).toBe('ok');
  });
});

// Two thirds: one of two blocks of 1024 threads, two of three of 512.
describe.each([
  ['the driver', () => environment(null, 'occupancy_percent=67')],
  ['the driver of an RTX 5090', () => environment(null, 'card=rtx-5090,occupancy_percent=67')],
  ['a layer', () => ({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_LAZY: 'card=roomy' })],
])('where %s says that fewer blocks fit than do', (_, env: () => NodeJS.ProcessEnv) => {
  const began = expect.stringMatching(/small kernel began/) as string;

  it('has no own row of SCHED-004', async () => {
    const { details } = await measured('SCHED-004', preemption, env());
    expect(details.ownKernels).toMatchObject([{ failed: began }, { failed: began }]);
    for (const row of details.ownKernels as object[]) expect(row).not.toHaveProperty('p50Ms');
  });

  it('has no row of long kernels in IS-009', async () => {
    const { status, details } = await measured('IS-009', longKernels, env());
    expect(status).toBe('invalid');
    expect(details.interference).toMatchObject([{ degradationPercent: null, reason: began }]);
  });

  it('has no endless kernel in IS-010', async () => {
    const { status, reason, details } = await measured('IS-010', endless, env());
    expect([status, reason]).toEqual(['invalid', began]);
    expect(details.faults).toMatchObject([{ code: null, notRaised: began, passed: false }]);
  });
});
