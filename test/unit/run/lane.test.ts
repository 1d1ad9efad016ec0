/** The lane of workers with a fake launcher: which worker measures, which is inspected, and which numbers are kept. */
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { Lane } from '../../../lib/run/lane.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import type { System } from '../../../lib/systems/system.js';
import type { Description } from '../../../lib/workers/description.js';
import { type Answer, FakeLauncher } from '../../fake-launcher.js';
import { WAIT_MS } from '../../limits.js';
import { description, LAYER, metric, provenance, result } from './fixtures.js';

const target = { simulatedDriver: null, device: undefined, path: 'runtime' as const };
const request = { options: { path: 'runtime' as const }, deadlineMs: WAIT_MS, onProgress: () => {} };

/** `looks`: the result of each inspection of a worker, over all workers; the last one repeats. */
function laneOf(answers: Record<string, Answer>, looks: Description[] = [description()]) {
  let look = 0;
  const launcher = new FakeLauncher({
    answers: { describe: () => looks[Math.min(look++, looks.length - 1)], ...answers },
  });
  const system: System = { ...environmentSystem({}), launcher };
  return { lane: new Lane(system, target, new AbortController().signal), launcher };
}

const measured: Answer = ({ id }) => result(id as string, { value: 1 });

describe('a lane', () => {
  it('measures metrics that may share a worker in one worker', async () => {
    const { lane, launcher } = laneOf({ measure: measured });
    await lane.prepare();
    for (const id of ['X-001', 'X-002']) expect((await lane.measure(metric(id), request)).value).toBe(1);
    await lane.close();
    expect(launcher.started).toHaveLength(1);
    expect(launcher.started[0]?.requests.map(({ method }) => method)).toEqual([
      'describe',
      'measure',
      'measure',
      'describe',
    ]);
    expect(lane.proofs.counts).toEqual({ proven: 1, of: 1 });
  });

  it('loses only the current metric if a worker dies', async () => {
    const { lane, launcher } = laneOf({
      measure: (params, process) => (params.id === 'X-001' ? process.signal('SIGSEGV') : measured(params, process)),
    });
    await lane.prepare();
    await expect(lane.measure(metric('X-001'), request)).rejects.toThrow(/was killed by SIGSEGV/);
    expect((await lane.measure(metric('X-002'), request)).value).toBe(1);
    await lane.close();
    expect(launcher.started).toHaveLength(2);
  });

  it('starts a new worker after a metric that failed: its context may be poisoned', async () => {
    const failed = (id: string): MetricResult => result(id, { status: 'failed', value: null, reason: 'x' });
    const { lane, launcher } = laneOf({ measure: ({ id }) => failed(id as string) });
    await lane.prepare();
    await lane.measure(metric('X-001'), request);
    await lane.measure(metric('X-002'), request);
    await lane.close();
    expect(launcher.started).toHaveLength(2);
  });

  it('measures nothing in a worker whose layer differs from that of the first', async () => {
    const { lane } = laneOf({ measure: (_, process) => process.signal('SIGKILL') }, [
      description({ provenance: provenance(['runtime']) }),
      description(),
    ]);
    await lane.prepare();
    await expect(lane.measure(metric('X-001'), request)).rejects.toThrow(/SIGKILL/);
    await expect(lane.measure(metric('X-002'), request)).rejects.toMatchObject({
      code: 'INVALID_RESULT',
      message: expect.stringMatching(
        /belongs to .*libcuda.* in this process, to .*libvgpu.*\(in a worker that was started later\)$/,
      ),
    });
  });

  it('invalidates the results of a worker that has lost its layer since', async () => {
    const under = description({ provenance: provenance(['runtime']) });
    const { lane } = laneOf({ measure: measured }, [under, description()]);
    await lane.prepare();
    await lane.measure(metric('X-001'), request);
    await lane.close();
    expect([...lane.takenBack.keys()]).toEqual(['X-001']);
    expect(lane.takenBack.get('X-001')).toContain(LAYER);
    expect(lane.proofs.counts).toEqual({ proven: 0, of: 1 });
  });

  it('reports which numbers it could not verify afterwards', async () => {
    const { lane, launcher } = laneOf({ measure: measured });
    await lane.prepare();
    await lane.measure(metric('X-001'), request);
    launcher.started[0]?.signal('SIGKILL');
    await launcher.started[0]?.ended;
    await new Promise(setImmediate);
    await lane.close();
    expect(lane.notSeenAgain).toEqual(['a worker could not be checked after it measured X-001: it had ended']);
    expect(lane.proofs.counts).toEqual({ proven: 0, of: 1 });
  });
});
