/** `exec` checkpoints programs and restores them, and no live restored process is ever ended. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moments } from '../moments.js';
import { processesIn } from '../region-processes.js';
import { restoredIn, RestoringRun } from '../restoring-run.js';
import { ownRegion, temporaryFolder } from '../temporary.js';
import { addonFile, command, emptyFolder, hasDriver, parseComparison, root, simulatedFolder } from './command.js';

const CHECKPOINT_US = 60_000;
const RESTORE_US = 40_000;
const COSTS = `init_ms=0,context_ms=0,memory_mib=1024,checkpoint_fixed_us=${CHECKPOINT_US},restore_fixed_us=${RESTORE_US}`;

/** `processes` hold a context each; they end after `seconds`. */
function configured(processes: number, settings: object, seconds = 600): string {
  const workload = {
    name: 'w',
    argv: [process.execPath, join(root, 'test/workers/fixtures/tree.mjs'), `${processes}`, `${seconds}`],
    env: { ADDON: addonFile, DRIVER: simulatedFolder },
    ready: { line: 'ready' },
    ...{ warmup: 0, iterations: 1, monitor: false, stopAfter: 0 },
    ...settings,
  };
  const config = join(emptyFolder(), 'w.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ workloads: [workload] }));
  return config;
}

const argsOf = (config: string): string[] => [
  ...['exec', '--simulate', '--rounds', '1', '--config', config],
  ...['--output', join(emptyFolder(), 'out'), '--json', '-'],
];

interface Row {
  checkpoints: { processes: number; checkpointSeconds: number; restoreSeconds: number }[];
}

async function measured(config: string, sim = '') {
  const region = ownRegion('exec-checkpoint');
  const record = temporaryFolder('exec-checkpoint');
  const { code, stdout, stderr } = await command(
    argsOf(config),
    {},
    `region=${region},record=${record},${COSTS}${sim}`,
  );
  const metrics = parseComparison(stdout).systems[0]?.[0]?.metrics ?? [];
  const result = (key: string) => metrics.find(({ id }) => id === `w/${key}`);
  const rows = metrics.flatMap(({ details }) => (details.runs as Row[] | undefined) ?? []);
  return { code, stderr, result, rows, restored: restoredIn(record), left: processesIn(region) };
}

const TIMES = ['checkpoint-lock', 'checkpoint-time', 'restore-time', 'restore-unlock', 'restore-answer'] as const;

// These tests run in parallel, because they wait for programs to start and to end.
describe.skipIf(hasDriver).concurrent('a checkpointed program', () => {
  it.each([1, 2])('has its times and its memory, of %i processes', async (processes) => {
    const checkpoint = { repeat: 2, answer: { line: 'step' } };
    const { code, result, rows, restored, left } = await measured(configured(processes, { checkpoint }));
    expect(code).toBe(0);
    for (const key of TIMES) expect(result(key)).toMatchObject({ status: 'ok', unit: 's' });
    const value = (key: string) => result(key)?.value ?? NaN;
    expect(value('checkpoint-time')).toBeGreaterThanOrEqual((processes * CHECKPOINT_US) / 1e6);
    expect(value('restore-time')).toBeGreaterThanOrEqual((processes * RESTORE_US) / 1e6);
    expect(value('restore-answer')).toBeGreaterThanOrEqual(value('restore-time') + value('restore-unlock'));
    expect(value('checkpoint-freed')).toBeGreaterThanOrEqual(processes * 8 * 2 ** 20);
    expect(rows[0]?.checkpoints.map((turn) => turn.processes)).toEqual([processes, processes]);
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  });

  it('may end by itself after its work', async () => {
    const settings = { checkpoint: { repeat: 1 }, stopAfter: undefined };
    const { code, result, restored, left } = await measured(configured(1, settings, 20));
    expect(code).toBe(0);
    expect(result('wall')).toMatchObject({ status: 'ok' });
    expect(result('restore-answer')).toBeUndefined();
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  });

  it.each([
    ['a driver before 570', ',driver=565', 'unsupported', /branch 570/],
    [
      'a driver that does not tell who has a context',
      ',hide=cuCheckpointProcessGetRestoreThreadId',
      'unsupported',
      /^cuCheckpointProcessGetRestoreThreadId is not/,
    ],
    [
      'a driver that cannot unlock',
      ',hide=cuCheckpointProcessUnlock',
      'unsupported',
      /^cuCheckpointProcessUnlock is not/,
    ],
    ['a refused checkpoint', ',fail=cuCheckpointProcessCheckpoint:801@1', 'unsupported', /checkpoint .*\(801\)/],
    ['a lock that fails', ',fail=cuCheckpointProcessLock:304@1', 'failed', /lock .*\(304\)/],
    ['a lock that kills', ',checkpoint_kills=1', 'failed', /killed by signal 11 in the lock of its checkpoint/],
    ['memory that cannot come back', ',fail=cuCheckpointProcessRestore:2@1', 'failed', /restore .*\(2\)/],
  ])('says what does not work: %s', async (_, sim, status, reason) => {
    const { result, restored, left } = await measured(configured(1, { checkpoint: true }), sim);
    expect(result('restore-time')).toMatchObject({ status, reason: expect.stringMatching(reason) });
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  });

  it('is stopped at its timeout when it is checkpointed', async () => {
    const settings = { checkpoint: { repeat: 1000 }, timeout: 3 };
    const { result, restored, left } = await measured(configured(2, settings));
    expect(result('restore-time')).toMatchObject({ status: 'failed', reason: expect.stringContaining('after 3 s') });
    expect({ restored, left }).toEqual({ restored: [], left: [] });
  });
});

const running = () => new RestoringRun(argsOf(configured(2, { checkpoint: { repeat: 1000 } })), COSTS);

describe.skipIf(hasDriver).concurrent('a run of a checkpointed program that is killed', () => {
  it.each(moments(400))('leaves no process, and ends none that is live and restored (%i ms later)', (ms) =>
    running().isKilled(ms),
  );

  it.each([1, 2])('leaves none after %i times Ctrl-C either', (times) => running().isInterrupted(times));
});
