/** ERR-003 under layers that spoil one kind of error: each is found in the scenarios that meet it, and in no other. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProbeRow } from '../../lib/metrics/compatibility/probe-process.js';
import { gracefulDegradationWith } from '../../lib/metrics/error-recovery/err-003-graceful-degradation.js';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import { Once } from '../../lib/metrics/core/once.js';
import { compatibilityWith } from '../../lib/metrics/compatibility/compat-001-compatibility.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { System } from '../../lib/systems/system.js';
import { processesOf } from '../processes.js';
import { emptyFolder } from './child.js';
import { customUnder, environment, mark } from './measured.js';

const layer = join(emptyFolder(), 'incompatible.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/incompatible.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', layer, source, '-ldl']);
});

interface Details {
  passed: number;
  judged: number;
  probes: { probe: string; outcome: string; native: string; at?: string; repetitions: number }[];
}

async function check(
  system: System,
  only?: readonly string[],
  more: { deadlineMs?: number; repetitions?: number } = {},
) {
  const of = ({ name, errors }: ProbeRow) => errors && (only?.includes(name) ?? true);
  const definition = gracefulDegradationWith({ deadlineMs: 10_000, repetitions: 1, ...more, of });
  const result = await measureMetric(definition, { simulate: true, path: 'dlsym' }, { system });
  return { ...result, details: result.details as unknown as Details };
}

const spoiled = (fault: string, name: string): System =>
  environmentSystem({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_FAULT: fault, GVB_TEST_FUNCTION: name });
const outcomes = ({ probes }: Details) => Object.fromEntries(probes.map(({ probe, outcome }) => [probe, outcome]));

const PINNED = 'more pinned memory than any machine has';
const TWICE = 'memory freed twice';
const FORKED = 'fork after initialisation';
const CORRUPT = 'corrupt module';
const STATE = ["the layer's file deleted", "the layer's file read-only", "the layer's file left by a killed process"];

describe('ERR-003', () => {
  it('is 100 % under a system that changes nothing, without the scenarios of a file that it does not have', async () => {
    const { status, value, details, violations } = await check(environmentSystem(environment(null)));
    expect({ status, value, violations }).toEqual({ status: 'ok', value: 100, violations: undefined });
    const left = details.probes.filter(({ outcome }) => outcome === 'not run');
    expect(left.map(({ probe }) => probe)).toEqual(STATE);
    expect(details.judged).toBe(details.probes.length - STATE.length);
    const native = Object.fromEntries(details.probes.map(({ probe, native: said }) => [probe, said]));
    expect(native[CORRUPT]).toBe('works, with cuModuleLoadDataEx 200, cuModuleLoadDataEx 218');
    expect(native[TWICE]).toBe('works, with cuMemFree_v2 1');
    expect(native['all memory, some given back, and on']).toContain('until it is refused 2');
  });

  it.each([
    ['refuse', 'cuMemHostAlloc', 'code 2 instead of 0', PINNED],
    ['crash', 'cuMemFree_v2', 'crash SIGSEGV', TWICE],
    ['refuse', 'cuModuleLoadDataEx', 'code 2 instead of 200', CORRUPT],
    ['leave', 'cuMemHostAlloc', 'exit 7 instead of 0', PINNED],
  ] as const)('finds the fault %s of %s', async (fault, name, outcome, scenario) => {
    const { value, details, violations } = await check(spoiled(fault, name), [scenario]);
    expect({ value, outcomes: outcomes(details) }).toEqual({ value: 0, outcomes: { [scenario]: outcome } });
    expect(violations).toEqual([{ detail: `${scenario}: ${outcome} in ${name}` }]);
  });

  it('kills what hangs, and asks for all repetitions', async () => {
    const own = { deadlineMs: 1_500, repetitions: 2 };
    const { value, details } = await check(spoiled('hang', 'cuMemHostAlloc'), [PINNED, CORRUPT], own);
    expect({ value, outcomes: outcomes(details) }).toEqual({
      value: 50,
      outcomes: { [PINNED]: 'hang', [CORRUPT]: 'same' },
    });
    expect(details.probes.map(({ repetitions }) => repetitions)).toEqual([2, 2]);
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it("deletes, protects and spoils only the file of the scenario's own tenant", async () => {
    const state = '{runDir}/state-{tenant}';
    const system = await customUnder(`memory=4GiB,cuMemAlloc_v2=+0ns,lock=1us,state=${state}`, state);
    const { details } = await check(system, [...STATE, TWICE]);
    expect(details.judged).toBe(4);
    const found = outcomes(details);
    expect(found[TWICE]).toBe('same');
    expect(found["the layer's file deleted"]).toBe('same');
    expect(found["the layer's file left by a killed process"]).toBe('same');
    // The interposer cannot open what it may not write to.
    expect(found["the layer's file read-only"]).not.toBe('same');
  });

  it('does not run again what COMPAT-001 has run in the same round, except to repeat it', async () => {
    const log = join(emptyFolder(), 'started');
    const prefix = ['sh', '-c', 'printf "%s\\n" "$*" >>"$0"; exec "$@"', log];
    const system: System = { ...environmentSystem(environment(null)), argvPrefix: () => prefix };
    const shared = { deadlineMs: 10_000, of: ({ name }: ProbeRow) => name === FORKED };
    const surroundings = { system, once: new Once() };
    const options = { simulate: true, path: 'dlsym' } as const;
    const results = [
      await measureMetric(compatibilityWith(shared), options, surroundings),
      await measureMetric(gracefulDegradationWith({ ...shared, repetitions: 2 }), options, surroundings),
    ];
    expect(results.map(({ value }) => value)).toEqual([100, 100]);
    const starts = readFileSync(log, 'utf8').split('\n');
    expect(starts.filter((line) => line.includes(` ${FORKED} `))).toHaveLength(2);
  });

  it('has no value where nothing works natively', async () => {
    const { status, reason } = await check(environmentSystem(environment(null, 'fail=cuModuleLoadDataEx:2@1')), [
      TWICE,
    ]);
    expect({ status, reason }).toEqual({
      status: 'unsupported',
      reason: expect.stringMatching(/^no scenario works natively here \(.*cuModuleLoadDataEx/),
    });
  });
});
