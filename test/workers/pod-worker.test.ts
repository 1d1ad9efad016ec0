/** A worker in a pod, which a container runtime starts and leaves: the runtime's end must not be the worker's. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localStart } from '../../lib/workers/local.js';
import { Worker } from '../../lib/workers/worker.js';
import { WAIT_MS } from '../limits.js';
import { temporaryFolder } from '../temporary.js';

/** Starts the command below a shell that ends once the file exists; the first shell stays, as kubectl does. */
const LEAVING = '( "$@" <&3 & until [ -e "$LEAVE" ]; do sleep 0.02; done ) 3<&0; exec sleep 600';

/** A worker below a process that has ended after the worker's first message. */
async function orphaned(environment: Record<string, string>): Promise<Worker> {
  const leave = join(temporaryFolder('orphan'), 'leave');
  const start = localStart({ PATH: process.env.PATH, LEAVE: leave, ...environment });
  const worker = await Worker.start({ start: { ...start, argvPrefix: ['sh', '-c', LEAVING, 'sh'] } });
  const parent = parentOf(worker.pid);
  writeFileSync(leave, '');
  await expect.poll(() => parentOf(worker.pid)).not.toBe(parent);
  return worker;
}

/** Null where the process has ended. */
function parentOf(pid: number): string | null {
  try {
    const [, state, parent] =
      /State:\s+(\w)[\s\S]*PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return state === 'Z' ? null : (parent ?? null);
  } catch {
    return null;
  }
}

describe('a worker whose starter ends', () => {
  it('goes on in a pod, where that is the container runtime', async () => {
    const worker = await orphaned({ GVB_POD: 'gvb-0-pod-1' });
    expect(await worker.request('clock', {}, { deadlineMs: WAIT_MS })).toEqual({ nowNs: expect.any(Number) });
    await worker.kill();
  });

  it('ends elsewhere, where that is the coordinator', async () => {
    const worker = await orphaned({});
    await expect.poll(() => parentOf(worker.pid)).toBeNull();
    await worker.kill();
  });
});
