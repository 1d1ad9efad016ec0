/** Results survive later failures: of the final check of the workers, and of the clean-up of tenants. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { runDocumentSchema } from '../../lib/results/document.js';
import type { Progress } from '../../lib/metrics/core/metric.js';
import { labelComputeLimit } from '../../lib/run/effects/compute-limit.js';
import { makePlan } from '../../lib/run/plan/plan.js';
import { runMetrics } from '../../lib/run/run.js';
import type { RunRequest } from '../../lib/run/run-request.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { System } from '../../lib/systems/system.js';
import { processesOf, workersOf } from '../cli/command.js';
import { metricNamed } from '../metric-named.js';
import { undisturbed } from '../undisturbed.js';
import { cardIn, emptyFolder, simulatedFolder } from './child.js';

const mark = randomUUID();
const region = `survival-${mark.slice(0, 13)}`;
afterEach(() => rmSync(`/dev/shm/gvb-sim-${process.getuid?.()}-${region}`, { force: true }));

const plain = environmentSystem({
  PATH: process.env.PATH,
  HOME: emptyFolder(),
  GVB_TEST_MARK: mark,
  GVB_SIM: cardIn(region, 'init_ms=8,context_ms=8'),
});

/** Called when a metric has its result, and with the id of a metric that reports progress. */
interface Hooks {
  measured?: () => void;
  progress?: (id: string) => void;
}

/** Metrics are measured in the order of `ids`. */
function measure(ids: string | string[], system: System, hooks: Hooks = {}) {
  const definitions = [ids].flat().map(metricNamed);
  const request: RunRequest = {
    plan: { ...makePlan(definitions, 'quick', 1), metrics: definitions },
    target: { simulatedDriver: simulatedFolder, simulate: true, notice: null },
    system,
    device: undefined,
    requireGpu: false,
    options: { path: 'runtime', samples: false, iterations: 2 },
    timeoutSeconds: null,
    strict: false,
    signal: new AbortController().signal,
  };
  const nothing = () => {};
  const { measured = nothing, progress = nothing } = hooks;
  const onProgress = ({ id }: Progress) => progress(id);
  return runMetrics(request, { onPrepared: nothing, onMetric: nothing, onProgress, onResult: measured });
}

describe('the final check', () => {
  it('keeps and marks the results if no worker can be started any more', async () => {
    let broken = false;
    const system = { ...plain, argvPrefix: () => (broken ? ['/nonexistent/prefix'] : []) };
    const document = await measure('START-005', system, {
      measured: () => {
        broken = true;
      },
    });
    expect(document.metrics).toMatchObject([{ id: 'START-005', status: 'ok', value: expect.any(Number) as number }]);
    expect(document.system.notCheckedAfter).toMatch(/could not be started \(spawn \/nonexistent\/prefix ENOENT\)/);
    expect(document.warnings).toContainEqual(
      expect.stringMatching(/could not check whether it was still active after measuring: .*ENOENT/),
    );
    expect(v.is(runDocumentSchema, document)).toBe(true);
  });

  it('withdraws the results if a proof fails', async () => {
    let lost = false;
    const system: System = {
      ...plain,
      attest: async (...look) => ({
        ...(await plain.attest(...look)),
        ...(lost && { invalid: 'layer not active: x' }),
      }),
    };
    const document = await measure('START-005', system, {
      measured: () => {
        lost = true;
      },
    });
    expect(document.metrics).toMatchObject([
      { status: 'invalid', value: null, reason: 'layer not active: x (after measuring)' },
    ]);
    expect(document.system.notCheckedAfter).toBeUndefined();
  });

  it('withdraws the results if the worker is under another layer', async () => {
    let lost = false;
    const other = { path: '/opt/other.so', sha256: null, exports: 1, active: true };
    const system: System = {
      ...plain,
      attest: async (...look) => ({ ...(await plain.attest(...look)), ...(lost && { layer: other }) }),
    };
    const document = await measure('START-005', system, {
      measured: () => {
        lost = true;
      },
    });
    expect(document.metrics).toMatchObject([{ status: 'invalid', value: null }]);
    expect(document.metrics[0]?.reason).toMatch(/^layer not active: .*other\.so/);
  });
});

describe('the check of an earlier worker', () => {
  // Each launch takes so long that its worker is killed before the metric is done.
  const slow = environmentSystem({ ...plain.environment(), GVB_SIM: `region=${region},launch_ns=300000000` });
  const progress = (id: string) => {
    if (id === 'OH-001') for (const { pid } of workersOf(mark)) process.kill(pid, 'SIGKILL');
  };

  it('marks the results of a worker that was killed in a later metric', async () => {
    const document = await measure(['OH-002', 'OH-001'], slow, { progress });
    expect(document.metrics).toMatchObject([
      { id: 'OH-001', status: 'failed', value: null },
      { id: 'OH-002', status: 'ok', value: expect.any(Number) as number },
    ]);
    const reason = 'a worker could not be checked after it measured OH-002: it had ended';
    expect(document.system).toMatchObject({ notCheckedAfter: reason, processes: { proven: 0, of: 1 } });
    expect(document.warnings).toContainEqual(expect.stringContaining(reason));
  });

  it('marks no result that was measured after such a worker', async () => {
    const document = await measure(['OH-001', 'OH-002'], slow, { progress });
    expect(document.metrics.map(({ status }) => status)).toEqual(['failed', 'ok']);
    expect(document.system.notCheckedAfter).toBeUndefined();
    expect(document.system.processes).toEqual({ proven: 1, of: 1 });
  });

  it('marks its results if the check fails', async () => {
    let looks = 0;
    const system: System = {
      ...plain,
      attest: (...look) =>
        look[1]?.phase === 'after' && looks++ === 0 ? Promise.reject(new Error('no look')) : plain.attest(...look),
    };
    const document = await measure(['OH-002', 'START-005'], system);
    expect(document.metrics.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect(document.system.notCheckedAfter).toBe('a worker could not be checked after it measured OH-002: no look');
  });
});

describe('state of a tenant that cannot be removed', () => {
  const stubborn: System = { ...plain, reap: ({ id }) => Promise.reject(new Error(`state of ${id} stayed`)) };

  it('does not affect numbers, and is reported in the result and as a warning', async () => {
    const document = await undisturbed(
      () => measure('OH-009', stubborn),
      ({ metrics }) => metrics,
    );
    expect(document.metrics).toMatchObject([{ id: 'OH-009', status: 'ok', value: expect.any(Number) as number }]);
    const check = { name: 'state of tenants removed', passed: false, detail: 'state of 1 stayed' };
    expect(document.metrics[0]?.checks).toContainEqual(check);
    expect(document.warnings).toContain('OH-009: not all state of tenants removed: state of 1 stayed');
  });

  it('does not end a comparison during the check of its compute limits', async () => {
    const left: string[] = [];
    const system: System = {
      ...stubborn,
      capabilities: { ...plain.capabilities, computeLimit: 'softDutyCycle' },
      limits: () => ({ memoryBytes: null, smPercent: 50 }),
      prepareTenant: () => Promise.reject(new Error('no tenant today')),
    };
    const target = { simulatedDriver: simulatedFolder, device: undefined, path: 'runtime' } as const;
    const { signal } = new AbortController();
    const label = await labelComputeLimit(system, target, 'quick', signal, (what) => void left.push(what));
    expect(label).toMatchObject({ label: 'not checked', detail: 'no tenant today' });
    expect(left).toEqual(['state of 0 stayed']);
  });

  it('leaves no process', () => expect.poll(() => processesOf(mark)).toEqual([]));
});
