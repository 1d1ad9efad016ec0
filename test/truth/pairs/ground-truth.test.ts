/** NVML's readings in a process that makes no CUDA call, about one that does, and fails. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { groundTruthOf } from '../../../lib/native/ground-truth.js';
import { loadAddon } from '../../../lib/native/load.js';
import { emptyFolder, simulatedFolder } from '../../cli/command.js';
import { WAIT_MS } from '../../limits.js';
import { ownRegion } from '../../temporary.js';

const MIB = 2 ** 20;

it('reports the memory of each process and of the card, and the errors since a time', async () => {
  const GVB_SIM = `region=${ownRegion('truth')},init_ms=1,context_ms=1,context_mib=500`;
  vi.stubEnv('GVB_SIM', GVB_SIM);
  const program = join(emptyFolder(), 'failing-client');
  execFileSync('cc', [
    '-o',
    program,
    fileURLToPath(new URL('../../native/fixtures/failing-client.c', import.meta.url)),
    '-ldl',
  ]);
  const client = spawn(program, [String(100 * MIB)], {
    env: { LD_LIBRARY_PATH: simulatedFolder, GVB_SIM },
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: WAIT_MS,
  });
  onTestFinished(() => void client.kill('SIGKILL'));
  const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('held');

  const target = { simulatedDriver: simulatedFolder };
  const { devices } = await loadAddon().inspect(target);
  const truth = groundTruthOf(target, devices[0]?.uuid as string);
  expect(await truth.processMemory(client.pid as number)).toBe(600 * MIB);
  expect(await truth.processMemory(process.pid)).toBeNull();
  expect((await truth.cardMemory())?.usedBytes).toBe((600 + 2) * MIB); // the card itself has 2
  expect(await truth.xids(0)).toEqual({ events: [] });

  const before = loadAddon().now();
  client.stdin.end();
  expect((await lines.next()).value).toBe('700');
  await once(client, 'close');
  const seen = await truth.xids(before);
  expect(seen).toEqual({ events: [{ atNs: expect.any(Number), xid: 31 }] });
  expect(await truth.xids(loadAddon().now())).toEqual({ events: [] });
  expect(await truth.processMemory(client.pid as number)).toBeNull();
});

it('reports why it cannot read errors, instead of an empty list', async () => {
  const truth = groundTruthOf({ simulatedDriver: simulatedFolder }, 'GPU-0');
  expect(await truth.xids(0)).toEqual({ unsupported: 'NVML knows no GPU GPU-0' });
});
