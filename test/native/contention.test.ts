/** OH-006 without enough memory, with a dying tenant, and after an abort. */
import { describe, expect, it } from 'vitest';
import { processesOf, workersOf } from '../cli/command.js';
import { onOneProcessor } from '../processors.js';
import { environmentUnder, mark, measured } from './measured.js';

const gone = () => expect.poll(() => processesOf(mark)).toEqual([]);

describe.skipIf(onOneProcessor('OH-006, whose tenants need one each'))('OH-006', () => {
  it('is unsupported if only one process fits into memory', async () => {
    // A context takes 500 MiB of the simulated card.
    const result = await measured('OH-006', environmentUnder(null, 'memory_mib=800'));
    expect(result).toMatchObject({
      status: 'unsupported',
      reason: 'fewer than 2 processes fit into memory',
      value: null,
      details: { leftOut: [{ processes: 2, reason: expect.stringContaining('CUDA_ERROR_OUT_OF_MEMORY') }] },
    });
    await gone();
  });

  it('fails when a tenant dies', async () => {
    const onProgress = () => {
      for (const { pid } of workersOf(mark)) process.kill(pid, 'SIGKILL');
    };
    const result = await measured('OH-006', environmentUnder(null), { onProgress });
    expect(result).toMatchObject({ status: 'failed', value: null, reason: expect.stringContaining('SIGKILL') });
    await gone();
  });

  it('ends with the reason of an abort and leaves no process', async () => {
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    const aborted = measured('OH-006', environmentUnder(null), { signal: controller.signal, onProgress });
    await expect(aborted).rejects.toThrow('enough');
    await gone();
  });
});
