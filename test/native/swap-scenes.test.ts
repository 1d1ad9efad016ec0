/** Programs of a scene that take turns on the simulated card by checkpoint: their figures, and nothing left of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MetricResult, RunDocument } from '../../lib/results/document.js';
import { addonFile, command, root, simulatedFolder } from '../cli/command.js';
import { closedPort } from '../ports.js';
import { moments } from '../moments.js';
import { processesIn } from '../region-processes.js';
import { restoredIn, RestoringRun } from '../restoring-run.js';
import { onGpu } from '../scene-programs.js';
import { ownRegion, temporaryFolder } from '../temporary.js';

const LOCK_MS = 4;
const CHECKPOINT_MS = 50;
const RESTORE_MS = 30;
const UNLOCK_MS = 5;
const SWITCH_MS = LOCK_MS + CHECKPOINT_MS + RESTORE_MS + UNLOCK_MS;
const COSTS =
  `init_ms=0,context_ms=0,checkpoint_lock_us=${1e3 * LOCK_MS},checkpoint_fixed_us=${1e3 * CHECKPOINT_MS},` +
  `checkpoint_us_per_mib=0,restore_fixed_us=${1e3 * RESTORE_MS},restore_us_per_mib=0,unlock_us=${1e3 * UNLOCK_MS}`;

const MIB = 2 ** 20;
/** So many that one more turn of a server, which may be needed for its last requests, is little beside them all. */
const REQUESTS = 250;
const HELD_BYTES = 64 * MIB;

/** A server with memory on the card, which does some work on the card for every request. */
const server = (port: number): string[] =>
  onGpu(`
    const work = () => addon.load(id, { call: 'cuLaunchKernel', nodes: 1, blocksPerMultiprocessor: 1, blocks: 0,
      threadsPerBlock: 64, rounds: 100, kernelNs: 1e5, inFlight: 1, startAtNs: addon.now(), durationNs: 20e6,
      binNs: 20e6, gapNs: 50000, mostListed: 1, partition: 0 });
    await addon.checkpointHold(id, { bytes: ${HELD_BYTES}, allocations: 2 });
    let last = work();
    await last;
    require('http').createServer((_, response) => {
      last = last.then(work);
      last.then(() => response.end('done'), () => process.exit(3));
    }).listen(${port}, '127.0.0.1');`);

/** Processes that hold a context each. */
const tree = (processes: number, seconds: number): string[] => [
  process.execPath,
  join(root, 'test/workers/fixtures/tree.mjs'),
  `${processes}`,
  `${seconds}`,
];

const env = { ADDON: addonFile, DRIVER: simulatedFolder };
const once1 = { warmup: 0, iterations: 1, monitor: false };

function configured(workload: object, systems: unknown[]): string {
  const file = join(temporaryFolder('swap'), 'w.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ systems, workloads: [{ ...once1, env, ...workload }] }));
  return file;
}

async function measured(workload: object, sim = '') {
  const output = join(temporaryFolder('swap'), 'results');
  const [region, record] = [ownRegion('swap'), temporaryFolder('swap')];
  const args = ['exec', '--simulate', '--rounds', '1', '--config', configured(workload, ['swap:slice=300ms'])];
  await command([...args, '--output', output], {}, `region=${region},record=${record},${COSTS}${sim}`);
  const { system, metrics } = JSON.parse(
    readFileSync(join(output, 'raw/round-0001-system-1.json'), 'utf8'),
  ) as RunDocument;
  const of = (id: string) => metrics.find((each) => each.id === `s/${id}`) as MetricResult;
  return { of, all: metrics, system, restored: restoredIn(record), left: processesIn(region) };
}

describe('two servers that take turns', () => {
  it('have switches of at least what the card was told, answer after them, and never have the card together', async () => {
    const [first, second] = [await closedPort(), await closedPort()];
    const tenant = (name: string, port: number) => ({
      ...{ name, argv: server(port), ready: { port }, stopAfter: 0 },
      load: { url: `http://127.0.0.1:${port}/`, requests: REQUESTS, concurrency: 2, timeout: 300 },
    });
    const { of, all, system, restored, left } = await measured({
      name: 's',
      tenants: [tenant('first', first), tenant('second', second)],
    });
    expect(of('switch-time').reason).toBeUndefined();
    expect(of('switches').value).toBeGreaterThanOrEqual(2);
    const rotation = of('switch-time').details.rotation as Record<string, number>;
    expect(rotation.lockMs).toBeGreaterThanOrEqual(LOCK_MS);
    expect(rotation.checkpointMs).toBeGreaterThanOrEqual(CHECKPOINT_MS);
    expect(rotation.restoreMs).toBeGreaterThanOrEqual(RESTORE_MS);
    expect(rotation.unlockMs).toBeGreaterThanOrEqual(UNLOCK_MS);
    expect(of('switch-time').value).toBeGreaterThanOrEqual(SWITCH_MS / 1e3);
    expect(of('switch-answer').value).toBeGreaterThanOrEqual((SWITCH_MS - UNLOCK_MS) / 1e3);
    const memory = of('switch-memory').value as number;
    const [one = NaN, two = NaN] = ['first', 'second'].map((name) => of(`${name}/gpu-memory`).value as number);
    expect(Math.min(one, two)).toBeGreaterThanOrEqual(HELD_BYTES);
    expect(memory).toBeGreaterThanOrEqual(Math.max(one, two));
    expect(memory).toBeLessThan(one + two);
    // A request that waits for the turn of its server has not failed; whether the client kept up depends on the machine.
    const rows = all.find(({ details }) => details.runs)?.details.runs as {
      arm: string;
      load: { succeeded: number; errors: unknown[] };
    }[];
    expect(rows.map(({ load: { succeeded, errors } }) => [succeeded, errors])).toEqual(Array(4).fill([REQUESTS, []]));
    expect(system.name).toBe('swap');
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  });
});

it.concurrent(
  'a program takes turns with all its processes, beside a built-in aggressor, and its output counts as an answer',
  async () => {
    const { of, restored, left } = await measured({
      name: 's',
      tenants: [
        { name: 'tree', argv: tree(2, 5), ready: { line: 'ready' } },
        { name: 'noise', task: 'launch-storm' },
      ],
    });
    expect(of('tree/wall').reason).toBeUndefined();
    expect(of('tree/wall/slowdown')).toMatchObject({ status: 'ok' });
    const { lockMs, checkpointMs } = of('switch-time').details.rotation as Record<string, number>;
    // The aggressor has one process.
    expect(lockMs).toBeGreaterThanOrEqual(LOCK_MS);
    expect(checkpointMs).toBeGreaterThanOrEqual(CHECKPOINT_MS);
    expect(of('switch-answer').details.answers).toMatchObject([{ victim: 'tree' }]);
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  },
);

it.concurrent.each([
  ['a refused checkpoint', ',fail=cuCheckpointProcessCheckpoint:801@3', /the checkpoint of process \d+ returned/],
  ['memory that stays', ',checkpoint_keeps=1', /NVML still lists/],
])('turns that fail end the scene, and no number counts: %s', async (_, sim, reason) => {
  const tenant = (name: string) => ({ name, argv: tree(1, 600), ready: { line: 'ready' }, stopAfter: 3 });
  const { of, restored, left } = await measured({ name: 's', tenants: [tenant('first'), tenant('second')] }, sim);
  for (const id of ['first/ready', 'switches'])
    expect(of(id)).toMatchObject({
      status: expect.stringMatching(/invalid|unsupported/),
      reason: expect.stringMatching(reason),
    });
  expect({ restored, left }).toEqual({ restored: [], left: [] });
});

// These tests run in parallel, because they wait for what the guardians do.
describe.concurrent('a run of a scene that is killed while its programs take turns', () => {
  function running(): RestoringRun {
    const program = { argv: tree(2, 600), ready: { line: 'ready' } };
    const tenants = [
      { ...program, name: 'first', stopAfter: 5 },
      { ...program, name: 'second', role: 'aggressor' },
    ];
    const config = configured({ name: 's', tenants }, ['swap:slice=100ms']);
    return new RestoringRun(['exec', '--simulate', '--rounds', '1', '--config', config, '--output', 'out'], COSTS);
  }

  it.each(moments(600))('leaves no process, and ends none that is live and restored (%i ms after the first)', (ms) =>
    running().isKilled(ms),
  );

  it.each([1, 2])('leaves none after %i times Ctrl-C either', (times) => running().isInterrupted(times));

  it('leaves none where its controller is killed', async () => {
    const run = running();
    await run.restores();
    for (const { pid, command: line } of run.left()) if (line.includes('worker/main.js')) process.kill(pid, 'SIGKILL');
    await run.ended();
    await run.endsSafely();
  });
});
