/** Tenants that take turns on the simulated card: switches as it was told to take, and nothing left, whoever is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { MetricResult, RunDocument } from '../../lib/results/document.js';
import { command, main } from '../cli/command.js';
import { processesIn, until } from '../region-processes.js';
import { ownRegion, temporaryFolder } from '../temporary.js';

const LOCK_MS = 4;
const CHECKPOINT_MS = 50;
const RESTORE_MS = 30;
const UNLOCK_MS = 5;
const COSTS =
  `init_ms=0,context_ms=0,checkpoint_lock_us=${1e3 * LOCK_MS},checkpoint_fixed_us=${1e3 * CHECKPOINT_MS},` +
  `checkpoint_us_per_mib=0,restore_fixed_us=${1e3 * RESTORE_MS},restore_us_per_mib=0,unlock_us=${1e3 * UNLOCK_MS}`;

async function measured(): Promise<MetricResult> {
  const output = join(temporaryFolder('swap'), 'results');
  const systems = ['--system', 'swap:slice=100ms', '--system', 'native'];
  const plan = ['--tier', 'quick', '--rounds', '1', '--seed', '1', '--timeout', '600', '--simulate'];
  await command(['compare', 'LLM-004', ...systems, ...plan, '--output', output], undefined, COSTS);
  const { metrics } = JSON.parse(readFileSync(join(output, 'raw/round-0001-system-1.json'), 'utf8')) as RunDocument;
  return metrics[0] as MetricResult;
}

it('says what each phase of a switch took, which is at least what the card was told', async () => {
  const { status, reason, details } = await measured();
  expect({ status, reason }).toEqual({ status: 'ok', reason: undefined });
  const rotation = details.rotation as Record<string, number>;
  expect(rotation.switches).toBeGreaterThan(3);
  expect(rotation.lockMs).toBeGreaterThanOrEqual(LOCK_MS);
  expect(rotation.checkpointMs).toBeGreaterThanOrEqual(CHECKPOINT_MS);
  expect(rotation.restoreMs).toBeGreaterThanOrEqual(RESTORE_MS);
  expect(rotation.unlockMs).toBeGreaterThanOrEqual(UNLOCK_MS);
  expect(rotation.wholeMs).toBeGreaterThanOrEqual(LOCK_MS + CHECKPOINT_MS + RESTORE_MS + UNLOCK_MS);
});

describe('a run that is killed while tenants take turns', () => {
  /** Random, so that each run of the tests kills at other moments; the title says which. */
  const moments = Array.from({ length: 3 }, () => Math.round(400 * Math.random()));

  it.each(moments)('leaves no process, and ends none that is live and restored (%i ms after the first)', async (ms) => {
    const record = temporaryFolder('swap');
    const region = ownRegion('swap');
    const run: ChildProcess = spawn(
      process.execPath,
      [
        main,
        'compare',
        'LLM-004',
        '--tier',
        'quick',
        '--simulate',
        '--system',
        'swap:slice=100ms',
        '--system',
        'swap:name=other,slice=150ms',
        '--json',
        '/dev/null',
      ],
      {
        env: {
          ...{ PATH: process.env.PATH, HOME: record },
          GVB_SIM: `region=${region},record=${record},${COSTS}`,
        },
        cwd: record,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let said = '';
    run.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const restored = () => readdirSync(record).filter((file) => file.startsWith('restored-'));
    const left = () => processesIn(region);
    await until(() => {
      if (run.exitCode !== null) throw new Error(`The run ended: ${said}`);
      return restored()[0];
    });
    await sleep(ms);
    run.kill('SIGKILL');
    await until(() => left().length === 0);
    expect(restored()).toEqual([]);
  });
});
