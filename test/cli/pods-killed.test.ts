/**
 * Nothing of pods is left when the command is killed, a pod is evicted, or its node is lost, at random moments: no pod, no container, no
 * process. GVB_LONG=1: twenty moments of each.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../lib/stats/random.js';
import { type Fault, PodmanHost, TestCluster } from '../kubectl/cluster.js';
import { isLong } from '../moments.js';
import { emptyFolder, FIRST_CARD, parseComparison, processesOf, root, start } from './command.js';
import { withoutPodman } from './containers.js';

const seed = isLong ? Date.now() % 2 ** 31 : 1;
const moments = Array.from({ length: isLong ? 20 : 1 }, (_, at) => at);
/** Calls of kubectl that an undisturbed comparison makes, at least. */
const CALLS = 12;
const LONGEST_MS = 1_500;

describe.skipIf(withoutPodman('what is left of pods that are killed'))(`nothing is left, seed ${seed}`, () => {
  const random = seededRandom(seed);
  const clusters: TestCluster[] = [];
  let host: PodmanHost;
  beforeAll(() => {
    host = new PodmanHost();
  });
  afterAll(() => {
    for (const each of clusters) each.stop();
    host.remove();
  });

  function begun(faults: Fault[] = []) {
    const on = new TestCluster(host, { gpus: [FIRST_CARD], faults });
    clusters.push(on);
    const place = `package=${root.replace(/\/$/, '')},node=${process.execPath}`;
    const systems = ['--system', 'native', '--system', `pod:name=pod,template=${on.template('plain')},${place}`];
    const few = ['--simulate', '--tier', 'quick', '--rounds', '1', '--iterations', '20'];
    const output = ['--output', join(emptyFolder(), 'out'), '--json', '-'];
    return { on, running: start(['compare', 'OH-002', ...few, ...systems, ...output], on.environment) };
  }

  /** The pods of other moments are not of this cluster. */
  const containersOf = (on: TestCluster) =>
    host.containers().filter((name) => on.created().some((pod) => name.includes(pod)));

  async function expectNothingLeft(on: TestCluster, mark: string): Promise<void> {
    await expect.poll(() => on.pods()).toEqual([]);
    await expect.poll(() => containersOf(on)).toEqual([]);
    await expect.poll(() => processesOf(mark).filter(({ command }) => command.includes('worker/main'))).toEqual([]);
  }

  it.each(moments)('of a command that is killed (%i)', async () => {
    const { on, running } = begun();
    const nth = 1 + Math.floor(random() * CALLS);
    await expect.poll(() => on.calls().length, { interval: 5 }).toBeGreaterThanOrEqual(nth);
    running.child.kill('SIGKILL');
    await running.done;
    // Neither a kubectl that is creating a pod, nor the guardian, which removes that.
    await expect.poll(() => on.clients()).toEqual([]);
    await expect.poll(() => processesOf(running.mark)).toEqual([]);
    await expectNothingLeft(on, running.mark);
  });

  it.each<['evicted' | 'node-lost', number]>(
    moments.flatMap((at) => [
      ['evicted', at],
      ['node-lost', at],
    ]),
  )('of a pod that is hit (%s, %i)', async (kind) => {
    const fault = {
      nth: 1 + Math.floor(2 * random()),
      afterExecs: Math.floor(2 * random()),
      afterMs: LONGEST_MS * random(),
    };
    const { on, running } = begun([{ kind, pod: 'pod', ...fault }]);
    const { code, stdout } = await running.done;
    const [, rounds] = parseComparison(stdout).systems;
    const [metric] = rounds?.[0]?.metrics ?? [];
    // It may have ended before.
    if (metric?.status !== 'ok') {
      expect(metric?.reason).toMatch(
        kind === 'evicted' ? /Evicted|the pod is gone/ : /the node is lost|no route to host/,
      );
      expect([1, 5]).toContain(code);
    }
    await expectNothingLeft(on, running.mark);
  });
});
