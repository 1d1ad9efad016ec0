/** `doctor` tries whether GPU processes can be checkpointed. */
import { describe, expect, it } from 'vitest';
import type { CheckpointTrial } from '../../lib/checkpoint/trial.js';
import { command, hasDriver } from './command.js';

const COSTS = 'checkpoint_lock_us=3000,checkpoint_fixed_us=40000';

async function trialOn(sim: string, args: readonly string[] = []): Promise<CheckpointTrial> {
  const { stdout } = await command(['doctor', '--json', ...args], {}, `${COSTS},${sim}`);
  return JSON.parse(stdout).checkpoint as CheckpointTrial;
}

describe.skipIf(hasDriver)('the trial of doctor', () => {
  it('locks and checkpoints a process, and says how long that took', async () => {
    const trial = await trialOn('devices=1');
    expect(trial).toMatchObject({ works: true, reason: null, fix: null });
    expect(trial.calls.map(({ call, code }) => [call, code])).toEqual([
      ['lock', 0],
      ['checkpoint', 0],
      ['state', 0],
    ]);
    const [lock, checkpoint] = trial.calls;
    expect(lock?.ms).toBeGreaterThanOrEqual(3);
    expect(checkpoint?.ms).toBeGreaterThanOrEqual(40);
    const { stdout } = await command(['doctor'], {}, COSTS);
    expect(stdout).toMatch(
      /^Checkpoint +works: a process of its own was locked in \d+\.\d ms and checkpointed in \d+ ms$/m,
    );
  });

  it.each([
    ['a driver before 570', 'driver=565', /^cuCheckpointProcessGetState is not offered .* \(branch 570\) or later\.$/],
    ['a driver that cannot restore', 'hide=cuCheckpointProcessRestore', /^cuCheckpointProcessRestore is not offered/],
    ['a client of MPS', 'mps=1', /^lock returned CUDA_ERROR_NOT_SUPPORTED \(801\): .* no client of MPS$/],
    ['a lock that kills', 'checkpoint_kills=1', /^the process was killed by SIGSEGV in this call: lock returned/],
    ['memory that stays on the GPU', 'checkpoint_keeps=1', /^NVML still lists the process after its checkpoint/],
    [
      'a refused checkpoint',
      'fail=cuCheckpointProcessCheckpoint:2@1',
      /^checkpoint returned .*\(2\): on a MIG instance/,
    ],
    ['another state than it should be', 'fail=cuCheckpointProcessGetState:401@2', /^state returned .*\(401\)$/],
    ['a context that cannot be made', 'fail=cuDevicePrimaryCtxRetain:2@1', /^cuDevicePrimaryCtxRetain returned/],
  ])('says what does not work: %s', async (_, sim, reason) =>
    expect(await trialOn(sim)).toMatchObject({ works: false, reason: expect.stringMatching(reason), fix: null }),
  );

  it('ends a controller whose call hangs', async () =>
    expect(await trialOn('checkpoint_hangs=1', ['--timeout', '3'])).toMatchObject({
      works: false,
      calls: [],
      reason: expect.stringMatching(/^Timed out after 3 s/),
    }));

  it('names persistence mode where the driver does not permit it to a process that may trace', async () => {
    const trial = await trialOn('fail=cuCheckpointProcessLock:800@1');
    const mayBePtrace = trial.mayTrace === false && trial.ptraceScope !== 0;
    const fix = mayBePtrace ? 'sudo sysctl kernel.yama.ptrace_scope=0' : 'sudo nvidia-smi -pm 1';
    expect(trial).toMatchObject({ works: false, fix, reason: expect.stringContaining('(800)') });
    const { stdout } = await command(['doctor'], {}, 'fail=cuCheckpointProcessLock:800@1');
    expect(stdout).toContain(`Checkpoint  does not work: lock returned CUDA_ERROR_NOT_PERMITTED (800); fix: ${fix}`);
  });

  it('says where NVML does not list the process, so that nothing shows whose memory is gone', async () => {
    const sim = `${COSTS},hide=nvmlDeviceGetComputeRunningProcesses_v3`;
    const { stdout } = await command(['doctor'], {}, sim);
    expect(stdout).toMatch(
      /^Checkpoint +works: .* ms; NVML does not list processes by their PIDs here, .* swap is unsupported$/m,
    );
  });

  it('is left out where no process can use a GPU', async () => expect(await trialOn('fail=cuInit:100@1')).toBeNull());
});
