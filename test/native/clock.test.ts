/** A layer that halves the rate of the clocks halves every latency: no number from a process under it is published. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { command, emptyFolder, parseComparison, parseDocument } from '../cli/command.js';
import { loadAddon } from '../../lib/native/load.js';
import { attempt, measure, shortCalls } from './child.js';

const folder = emptyFolder();
const interposing = join(folder, 'interposing.so');
const patching = join(folder, 'patching-libc.so');
const catchingUp = join(folder, 'catching-up.so');
const few = ['OH-002', 'START-001', '--simulate', '--iterations', '3', '--json', '-'];

beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/slow-clock.c', import.meta.url));
  for (const [target, ...flags] of [[interposing], [patching, '-DPATCH']] as const)
    execFileSync('cc', ['-shared', '-fPIC', '-w', ...flags, '-o', target, source, '-ldl']);
  const other = fileURLToPath(new URL('fixtures/catching-up-clock.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', catchingUp, other, '-ldl']);
});

const half = /\(CLOCK_MONOTONIC_RAW ran at 0\.[45]\d+ of the rate of the raw system call/;

describe.each([
  ['stands in front of clock_gettime', () => interposing],
  ["overwrites libc's clock_gettime", () => patching],
])('a layer that %s', (_, layer) => {
  it('is named by run instead of every number, including those of fresh processes', async () => {
    const { stdout, code } = await command(['run', ...few], { LD_PRELOAD: layer() });
    const { metrics, system } = parseDocument(stdout);
    expect(metrics.map(({ status, value, stats }) => [status, value, stats])).toEqual([
      ['invalid', null, null],
      ['invalid', null, null],
    ]);
    for (const { reason } of metrics) {
      expect(reason).toContain(`the clock belongs to ${layer()} `);
      expect(reason).toMatch(half);
    }
    expect(system.attestation).toContainEqual(
      expect.objectContaining({ proof: "the clock is the system's", passed: false }),
    );
    expect(code).toBe(1);
  });

  it('is named by doctor and invalidates a library call', async () => {
    const { stdout } = await command(['doctor'], { LD_PRELOAD: layer() });
    expect(stdout).toContain(`error: No time can be measured: the clock belongs to ${layer()}`);
    const [answer] = await attempt([['measureMemoryAllocation', { iterations: 20 }]], {
      sim: shortCalls,
      environment: { LD_PRELOAD: layer() },
    });
    expect(answer?.result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(answer?.result?.reason).toContain(`the clock belongs to ${layer()} `);
  });
});

it('compare publishes nothing for a system under such a layer, and still publishes native', async () => {
  // The layer hooks no driver function, which alone would prevent publication.
  const slow = `custom:name=slow,interposes=false,env.LD_PRELOAD=${interposing}`;
  const systems = ['--system', 'native', '--system', slow];
  const output = ['--rounds', '1', '--output', join(emptyFolder(), 'out')];
  const { systems: documents } = parseComparison((await command(['compare', ...few, ...systems, ...output])).stdout);
  const states = documents.map(([round]) => round?.metrics.map(({ status }) => status));
  expect(states).toEqual([
    ['ok', 'ok'],
    ['invalid', 'invalid'],
  ]);
  expect(documents[1]?.[0]?.metrics[0]?.reason).toContain(`the clock belongs to ${interposing}`);
});

it('a result records what its clock was compared with', async () => {
  const [result] = await measure([['measureMemoryAllocation', { iterations: 20 }]], { sim: shortCalls });
  expect(result?.checks).toContainEqual({
    name: "the clock is the system's",
    passed: true,
    detail: expect.stringMatching(/^libc's, at the rate of the raw system call over \d+\.\d\d s/),
  });
});

/** Whether this machine has a counter to compare the clock with. */
const counted = loadAddon().clockReading().agreed !== null;

describe('a layer that takes its own time out of the clock and gives it back later', () => {
  it.runIf(counted)('shows against the counter, even where no process without it can be compared', async () => {
    const [answer] = await attempt([['measureMemoryAllocation', { iterations: 50 }]], {
      sim: shortCalls,
      environment: { LD_PRELOAD: catchingUp },
    });
    expect(answer?.result).toMatchObject({ status: 'invalid', value: null, details: {} });
    expect(answer?.result?.reason).toMatch(
      /^the clock is changed by an unknown library \(the clock and the processor's counter advanced differently between \d+ of \d+ readings, by up to [\d.]+ us\)$/,
    );
  });

  it("shows in the kernel's code for reading clocks, which is another than the coordinator's", async () => {
    const { metrics } = parseDocument((await command(['run', ...few], { LD_PRELOAD: catchingUp })).stdout);
    for (const { status, value, reason } of metrics) {
      expect([status, value]).toEqual(['invalid', null]);
      expect(reason).toMatch(/the clock is changed by an unknown library|vDSO/);
    }
  });

  it('is the only thing that the counter objects to', async () => {
    const [result] = await measure([['measureMemoryAllocation', { iterations: 50 }]], { sim: shortCalls });
    expect(result?.status).toBe('ok');
  });
});
