/** Tenants that take turns on the simulated card: switches as it was told to take, and nothing left, whoever is killed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FrontierRow } from '../../lib/metrics/llm/generation.js';
import type { MetricResult, RunDocument } from '../../lib/results/document.js';
import { command } from '../cli/command.js';
import { moments } from '../moments.js';
import { RestoringRun } from '../restoring-run.js';
import { temporaryFolder } from '../temporary.js';

const LOCK_MS = 4;
const CHECKPOINT_MS = 50;
const RESTORE_MS = 30;
const UNLOCK_MS = 5;
const SWITCH_MS = LOCK_MS + CHECKPOINT_MS + RESTORE_MS + UNLOCK_MS;
const SLICE_MS = 100;
const COSTS =
  `init_ms=0,context_ms=0,checkpoint_lock_us=${1e3 * LOCK_MS},checkpoint_fixed_us=${1e3 * CHECKPOINT_MS},` +
  `checkpoint_us_per_mib=0,restore_fixed_us=${1e3 * RESTORE_MS},restore_us_per_mib=0,unlock_us=${1e3 * UNLOCK_MS}`;

async function measured(id: string, card = COSTS): Promise<Record<'swap' | 'native', MetricResult>> {
  const output = join(temporaryFolder('swap'), 'results');
  const systems = ['--system', `swap:slice=${SLICE_MS}ms`, '--system', 'native'];
  const plan = ['--tier', 'quick', '--rounds', '1', '--seed', '1', '--timeout', '600', '--simulate'];
  await command(['compare', id, ...systems, ...plan, '--output', output], undefined, card);
  const resultOf = (system: number) => {
    const { metrics } = JSON.parse(
      readFileSync(join(output, `raw/round-0001-system-${system}.json`), 'utf8'),
    ) as RunDocument;
    return metrics[0] as MetricResult;
  };
  return { swap: resultOf(1), native: resultOf(2) };
}

it('says what each phase of a switch took, which is at least what the card was told', async () => {
  const { status, reason, details } = (await measured('LLM-004')).swap;
  expect({ status, reason }).toEqual({ status: 'ok', reason: undefined });
  const rotation = details.rotation as Record<string, number>;
  expect(rotation.switches).toBeGreaterThan(3);
  expect(rotation.lockMs).toBeGreaterThanOrEqual(LOCK_MS);
  expect(rotation.checkpointMs).toBeGreaterThanOrEqual(CHECKPOINT_MS);
  expect(rotation.restoreMs).toBeGreaterThanOrEqual(RESTORE_MS);
  expect(rotation.unlockMs).toBeGreaterThanOrEqual(UNLOCK_MS);
  expect(rotation.wholeMs).toBeGreaterThanOrEqual(SWITCH_MS);
});

it('says what the turns cost: tokens of both tenants, and the wait of a request', async () => {
  const { swap, native } = await measured('LLM-011', `${COSTS},kernel_ns=600000`);
  expect([swap.status, native.status]).toEqual(['ok', 'ok']);
  expect(swap.value).toBeLessThan(0.9 * (native.value as number));
  const [alone, , together] = swap.details.frontier as [FrontierRow, FrontierRow, FrontierRow];
  // A tenant is away for a turn of the other and two switches, and a moment of it is near its begin.
  const awayMs = SLICE_MS + 2 * SWITCH_MS;
  expect(together.waitP99Ms).toBeGreaterThan(0.7 * awayMs);
  expect(together.p50Ms).toBeLessThan(SLICE_MS);
  expect(alone.waitP99Ms).toBeLessThan(together.waitP99Ms as number);
  const rotation = swap.details.rotation as Record<string, number>;
  // From a token of the one to a token of the other lies a whole switch.
  expect(rotation.firstTokenMs).toBeGreaterThanOrEqual(SWITCH_MS);
  expect(native.details).not.toHaveProperty('rotation');
});

it('has no number of tenants that would have to be there at once', async () => {
  const { swap, native } = await measured('IS-010');
  expect(swap).toMatchObject({ status: 'unsupported', reason: expect.stringContaining('take turns of 100 ms') });
  expect(native).toMatchObject({ status: 'ok' });
});

// These tests run in parallel, because they wait for what the guardians do.
describe.concurrent('a run that is killed while tenants take turns', () => {
  it.each(moments(400))(
    'leaves no process, and ends none that is live and restored (%i ms after the first)',
    async (ms) => {
      const systems = ['--system', 'swap:slice=100ms', '--system', 'swap:name=other,slice=150ms'];
      const plan = ['--tier', 'quick', '--simulate', '--json', '/dev/null'];
      await new RestoringRun(['compare', 'LLM-004', ...plan, ...systems], COSTS).isKilled(ms);
    },
  );
});
