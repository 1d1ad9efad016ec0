/** COMPAT-001 under layers that break one function: each fault is found in the probes that use it, and in no other. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { compatibilityWith } from '../../lib/metrics/compatibility/compat-001-compatibility.js';
import type { ProbeRow } from '../../lib/metrics/compatibility/probe-process.js';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { System } from '../../lib/systems/system.js';
import { command, hasDriver, parseDocument, root, simulatedFolder, start } from '../cli/command.js';
import { processesOf } from '../processes.js';
import { emptyFolder } from './child.js';
import { customUnder, environment, mark } from './measured.js';

const layer = join(emptyFolder(), 'incompatible.so');
beforeAll(() => {
  const source = fileURLToPath(new URL('fixtures/incompatible.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', layer, source, '-ldl']);
});

interface Details {
  same: number;
  judged: number;
  probes: { probe: string; issue: string; outcome: string; native: string; at?: string }[];
}

async function check(system: System, only?: readonly string[], deadlineMs = 10_000) {
  const of = ({ name, compatibility }: ProbeRow) => compatibility && (only?.includes(name) ?? true);
  const definition = compatibilityWith({ deadlineMs, of });
  const result = await measureMetric(definition, { simulate: true, path: 'dlsym' }, { system });
  return { ...result, details: result.details as unknown as Details };
}

const spoiled = (fault: string, name: string): System =>
  environmentSystem({ ...environment(null), LD_PRELOAD: layer, GVB_TEST_FAULT: fault, GVB_TEST_FUNCTION: name });

const NOT_RUN = 'not run';
const notRun = ({ probes }: Details) =>
  Object.fromEntries(probes.flatMap(({ probe, outcome, native }) => (outcome === NOT_RUN ? [[probe, native]] : [])));
const outcomes = ({ probes }: Details) => Object.fromEntries(probes.map(({ probe, outcome }) => [probe, outcome]));

const VMM = 'VMM, device memory';
const FORK = 'fork before the first call';
const ASYNC = 'asynchronous allocation, free and trim';
const INFO = 'cuMemGetInfo, free is null';
const IPC = 'IPC, export, open and close';

describe('COMPAT-001', () => {
  it('is 100 % of the natively working probes under a system that changes nothing', async () => {
    const { status, value, details, processes } = await check(environmentSystem(environment(null)));
    expect({
      status,
      value,
      other: details.probes.filter(({ outcome }) => !['same', NOT_RUN].includes(outcome)),
    }).toEqual({
      status: 'ok',
      value: 100,
      other: [],
    });
    expect(processes).toBe(details.judged);
    const names = details.probes.map(({ probe }) => probe);
    expect(new Set(names).size).toBe(names.length);
    for (const { issue } of details.probes) expect(issue).toMatch(/^[\w.-]+#\d+$/);
    const reasons = notRun(details);
    expect(details.judged + Object.keys(reasons).length).toBe(names.length);
    expect(reasons['CUDA_VISIBLE_DEVICES=1']).toBe('cuInit answered 100');
    expect(reasons['NCCL, 1 rank, dlopened']).toMatch(/^NCCL is not installed: /);
  });

  it.each([
    ['crash', 'cuMemCreate', 'crash SIGSEGV', [VMM], [INFO]],
    ['hide', 'cuMemCreate', 'code 500 instead of 0', [VMM], [INFO]],
    ['leave', 'cuMemAllocAsync', 'exit 7 instead of 0', [ASYNC], [INFO]],
    ['refuse', 'cuMemGetInfo_v2', 'code 2 instead of 1', [INFO], [VMM]],
    ['spoil', 'cuMemcpyDtoH_v2', 'wrong data', [VMM, FORK, IPC], [INFO]],
    ['crash', 'cuIpcOpenMemHandle_v2', 'crash SIGSEGV', [IPC], [VMM]],
    ['late crash', 'cuInit', 'crash SIGSEGV', [VMM, INFO], []],
  ] as const)('finds the fault %s of %s', async (fault, name, outcome, met, others) => {
    const { value, details } = await check(spoiled(fault, name), [...met, ...others]);
    expect(outcomes(details)).toEqual(
      Object.fromEntries([...met.map((probe) => [probe, outcome]), ...others.map((probe) => [probe, 'same'])]),
    );
    expect(value).toBe((100 * others.length) / (met.length + others.length));
  });

  it('kills a hanging probe with its second process', async () => {
    const { details } = await check(spoiled('hang', 'cuIpcOpenMemHandle_v2'), [IPC, VMM], 8_000);
    expect(outcomes(details)).toEqual({ [IPC]: 'hang', [VMM]: 'same' });
    expect(details.probes.find(({ probe }) => probe === IPC)).toMatchObject({ issue: 'HAMi#2760', native: 'works' });
    await expect.poll(() => processesOf(mark)).toEqual([]);
  });

  it('leaves no process behind if the coordinator is killed', async () => {
    const hanging = { LD_PRELOAD: layer, GVB_TEST_FAULT: 'hang', GVB_TEST_FUNCTION: 'cuIpcOpenMemHandle_v2' };
    const args = ['run', 'COMPAT-001', '--simulate', '--path', 'dlsym'];
    const { child, mark: own, done } = start(args, hanging, 'init_ms=1,context_ms=1');
    const waiting = () =>
      processesOf(own).filter(({ command }) => command.includes(IPC) && command.includes('--token'));
    await expect.poll(() => waiting().length).toBe(1);
    child.kill('SIGKILL');
    await done;
    await expect.poll(() => processesOf(own)).toEqual([]);
  });

  it.skipIf(hasDriver)('has no reference if no process is under the bare driver', async () => {
    const replaced = join(emptyFolder(), 'libcuda.so.1');
    const flags = ['-shared', '-fPIC', '-w', '-std=c++17', '-Wl,-soname,libcuda.so.1', `-I${root}/native`];
    const driver = `-DDRIVER="${simulatedFolder}/libcuda.so.1"`;
    const source = fileURLToPath(new URL('fixtures/forwarding-libcuda.cpp', import.meta.url));
    execFileSync('c++', [...flags, driver, '-o', replaced, source, '-ldl']);
    const folders = { LD_LIBRARY_PATH: `${dirname(replaced)}:${simulatedFolder}` };
    const { stdout } = await command(['run', 'COMPAT-001', '--json', '-'], folders, 'init_ms=1,context_ms=1');
    const [result] = parseDocument(stdout).metrics;
    expect(result).toMatchObject({ status: 'unsupported', value: null });
    expect(result?.reason).toMatch(/^there is nothing to compare with, because no process uses the bare driver: /);
  });

  it('does not count a process without the layer as tested', async () => {
    const { value, details } = await check(spoiled('absent', 'cuMemcpyDtoH_v2'), [VMM, INFO]);
    expect(outcomes(details)).toEqual({ [VMM]: 'escapes the layer', [INFO]: 'same' });
    expect(value).toBe(50);
  });

  it("does not take a layer's output for a report", async () => {
    const { value } = await check(spoiled('noise', ''), [INFO]);
    expect(value).toBe(100);
  });

  it.each(['child with an empty environment', 'statically linked child'])(
    'shows a limit that fails open: %s',
    async (child) => {
      const { details } = await check(await customUnder('memory=4GiB'), [child, VMM]);
      // Not every machine can link statically.
      const left = notRun(details);
      if (left[child] !== undefined) expect(left[child]).toMatch(/^there is no statically linked program here: /);
      const outcome = left[child] === undefined ? 'limit fails open' : NOT_RUN;
      expect(outcomes(details)).toEqual({ [child]: outcome, [VMM]: 'same' });
    },
  );

  it('lists probes that fail natively, and does not count them', async () => {
    const failing = environmentSystem(environment(null, 'fail=cuMemCreate:2@1'));
    const { value, details } = await check(failing, [VMM, INFO]);
    expect({ value, judged: details.judged, left: notRun(details) }).toEqual({
      value: 100,
      judged: 1,
      left: { [VMM]: 'cuMemCreate answered 2' },
    });
  });

  it('has no value if nothing works natively', async () => {
    const failing = environmentSystem(environment(null, 'fail=cuMemCreate:2@1'));
    const { status, reason, value } = await check(failing, [VMM]);
    expect({ status, reason, value }).toEqual({
      status: 'unsupported',
      reason: expect.stringMatching(/^no probe works natively here \(.*cuMemCreate/),
      value: null,
    });
  });
});
