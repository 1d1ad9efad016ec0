/** From a request to a document, with a fake launcher: no driver, no process. */
import { describe, expect, it } from 'vitest';
import { type MeasureContext, type MetricDefinition, unsupported } from '../../lib/metrics/core/metric.js';
import { violationsOf } from '../../lib/results/violations.js';
import { runMetrics } from '../../lib/run/run.js';
import type { RunRequest } from '../../lib/run/run-request.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { Description, PreloadEntry } from '../../lib/workers/description.js';
import { type Answer, FakeLauncher } from '../fake-launcher.js';
import { WAIT_MS } from '../limits.js';
import { description, LAYER, metric, provenance, result } from '../unit/run/fixtures.js';

const hooks = { onPrepared: () => {}, onMetric: () => {}, onProgress: () => {}, onResult: () => {} };
const definitions = [metric('X-001'), metric('X-002')];

function run(answers: Record<string, Answer>, change: Partial<RunRequest> = {}) {
  const launcher = new FakeLauncher({ answers: { describe: () => description(), ...answers } });
  const request: RunRequest = {
    plan: { tier: 'quick', seed: 1, metrics: definitions, estimatedSeconds: 1 },
    target: { simulatedDriver: null, simulate: false, notice: null },
    system: { ...environmentSystem({}), launcher },
    device: undefined,
    requireGpu: false,
    options: { path: 'runtime' },
    timeoutSeconds: WAIT_MS / 1_000,
    strict: false,
    before: [],
    signal: new AbortController().signal,
    ...change,
  };
  return runMetrics(request, hooks);
}

describe('a run', () => {
  it("returns a document of its workers' answers", async () => {
    const document = await run({ measure: ({ id }) => result(id as string, { value: 2 }) });
    expect(document).toMatchObject({
      completed: true,
      groundTruth: 'nvml',
      system: { processes: { proven: 1, of: 1 } },
    });
    expect(document.metrics.map(({ id, value }) => [id, value])).toEqual([
      ['X-001', 2],
      ['X-002', 2],
    ]);
  });

  it('keeps the other metrics if a worker dies in one', async () => {
    const document = await run({
      measure: ({ id }, process) => (id === 'X-001' ? process.signal('SIGBUS') : result(id as string, { value: 2 })),
    });
    expect(document.metrics.map(({ status, reason }) => [status, reason])).toEqual([
      ['failed', 'The worker process was killed by SIGBUS.'],
      ['ok', undefined],
    ]);
  });

  it('reports the violations of its metrics, except those of withdrawn numbers', async () => {
    const violations = [{ detail: '12 GiB were held under a limit of 10 GiB' }];
    const measure: Answer = ({ id }) => result(id as string, { ...(id === 'X-002' && { violations }) });
    expect(violationsOf(await run({ measure }))).toEqual([
      { system: 'environment', metric: 'X-002', ...violations[0] },
    ]);
    let looks = 0;
    const lost = await run({
      measure,
      describe: () => description(looks++ > 0 ? { provenance: provenance(['runtime']) } : {}),
    });
    expect(lost.metrics.map(({ status }) => status)).toEqual(['invalid', 'invalid']);
    expect(violationsOf(lost)).toEqual([]);
  });

  it('returns the results so far if it is aborted', async () => {
    const controller = new AbortController();
    const document = await run(
      {
        measure: ({ id }) => {
          if (id === 'X-002') return new Promise(() => controller.abort(new Error('enough')));
          return result(id as string, { value: 2 });
        },
      },
      { signal: controller.signal },
    );
    expect(document.completed).toBe(false);
    expect(document.metrics.map(({ id }) => id)).toEqual(['X-001']);
    expect(document.warnings).toContain('Interrupted: 1 of 2 metrics were measured.');
  });

  /** Whether a metric that starts its own processes receives NVML's readings. */
  async function truthUnder(change: Partial<Description>): Promise<boolean> {
    let given: MeasureContext['truth'] | undefined;
    const judging: MetricDefinition = {
      ...metric('X-003'),
      where: 'fresh-processes',
      measure: (context) => {
        given = context.truth;
        return Promise.resolve(unsupported('it only looks'));
      },
    };
    const plan = { tier: 'quick' as const, seed: 1, metrics: [judging], estimatedSeconds: 1 };
    const document = await run({ describe: () => description(change) }, { plan });
    expect(document.metrics[0]).toMatchObject({ status: 'unsupported', reason: 'it only looks' });
    expect(given).toBeDefined();
    return given !== null;
  }

  it("passes NVML's readings to metrics if the coordinator sees the GPU without a layer", async () => {
    expect(await truthUnder({})).toBe(true);
    const preload: PreloadEntry[] = [{ entry: LAYER, source: 'LD_PRELOAD', mapped: LAYER }];
    expect(await truthUnder({ provenance: provenance(['runtime']), preload })).toBe(true);
  });

  it('passes no readings to metrics if every process is hooked', async () => {
    const preload: PreloadEntry[] = [{ entry: LAYER, source: '/etc/ld.so.preload', mapped: LAYER }];
    expect(await truthUnder({ provenance: provenance(['runtime']), preload })).toBe(false);
  });
});
