/** The library as a caller uses it: import, options, errors, samples, order, old drivers, the shape of results. */

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type GpuInfo, gpuSchema, metricResultSchema } from '../../lib/results/document.js';
import * as library from '../../lib/index.js';
import { metrics as registry } from '../../lib/metrics/registry.js';
import { attempt, hasDriver, measure, type Request, scenario } from './child.js';
import { onOneProcessor } from '../processors.js';
import { undisturbed } from '../undisturbed.js';
import { expectSamples } from './samples.js';

const functions = { ...library };
const MEASURE = Object.keys(functions).filter((name) => /^(measure|audit|check)/.test(name)) as Request[0][];
const quick = { init_ms: 6, context_ms: 2, alloc_us: 5, free_us: 5, vmm_us: 5, launch_ns: 800 };

describe('importing', () => {
  it('lists the metrics without addon and driver, each with its function', () => {
    const metrics = library.listMetrics();
    expect(metrics.map(({ id }) => id)).toEqual(registry.map(({ id }) => id));
    expect(metrics.map(({ functionName }) => functionName).sort()).toEqual([...MEASURE].sort());
    // Plain data: neither functions nor schemas.
    expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics);
  });
});

it('lets many calls share one signal without a leak warning', async () => {
  const sim = { init_ms: 1, context_ms: 1, alloc_us: 2, free_us: 2, vmm_us: 2 };
  const { warnings, statuses } = await scenario<{ warnings: string[]; statuses: string[] }>('sharedSignal', { sim });
  expect(statuses).toEqual(Array.from({ length: 17 }, () => 'ok'));
  expect(warnings).toEqual([]);
});

describe.skipIf(hasDriver)('without a driver', () => {
  const oneProcessor = onOneProcessor('OH-006 without a driver');

  it('every function rejects with NO_DRIVER and advice', async () => {
    const seen =
      await scenario<{ name: string; code: string; isBenchError: boolean; message: string }[]>('withoutSimulate');
    expect(seen.map(({ name }) => name).sort()).toEqual([...MEASURE, 'getProvenance', 'listDevices'].sort());
    // Some are unsupported because of the environment or the machine, which is decided before looking for a driver.
    const ofLimits = registry.filter(({ needs }) => needs.some((need) => /\blimit\b/.test(need)));
    const limited = ofLimits.map(({ functionName }) => functionName);
    const lacking = [...limited, ...(oneProcessor ? ['measureLockContention'] : [])];
    const looking = seen.filter(({ name }) => !lacking.includes(name));
    for (const { name, code, isBenchError, message } of looking) {
      expect({ name, code, isBenchError }).toEqual({ name, code: 'NO_DRIVER', isBenchError: true });
      expect(message).toMatch(/^No NVIDIA driver: .*libcuda\.so\.1.*simulate: true/);
    }
  });
});

describe('bad options', () => {
  const integers = 'an integer from';
  const cases: [object | null | string, typeof TypeError | typeof RangeError, string][] = [
    [null, TypeError, 'Expected options to be an object but received null.'],
    ['fast', TypeError, "Expected options to be an object but received 'fast'."],
    [{ device: -1 }, RangeError, `Expected device to be ${integers} 0 to 1023 but received -1.`],
    [{ device: 1024 }, RangeError, `Expected device to be ${integers} 0 to 1023 but received 1024.`],
    [{ device: 0.5 }, RangeError, `Expected device to be ${integers} 0 to 1023 but received 0.5.`],
    [{ device: '' }, RangeError, "Expected device to be an NVML index or a UUID but received ''."],
    [{ device: null }, TypeError, `Expected device to be ${integers} 0 to 1023 but received null.`],
    [{ device: [0] }, TypeError, `Expected device to be ${integers} 0 to 1023 but received an array.`],
    [{ warmup: -1 }, RangeError, `Expected warmup to be ${integers} 0 to 10000000 but received -1.`],
    [{ warmup: 1e9 }, RangeError, `Expected warmup to be ${integers} 0 to 10000000 but received 1000000000.`],
    [{ warmup: '3' }, TypeError, `Expected warmup to be ${integers} 0 to 10000000 but received '3'.`],
    [{ iterations: 0 }, RangeError, `Expected iterations to be ${integers} 1 to 10000000 but received 0.`],
    [{ iterations: -5 }, RangeError, `Expected iterations to be ${integers} 1 to 10000000 but received -5.`],
    [{ iterations: 2.5 }, RangeError, `Expected iterations to be ${integers} 1 to 10000000 but received 2.5.`],
    [{ iterations: Number.NaN }, RangeError, `Expected iterations to be ${integers} 1 to 10000000 but received NaN.`],
    [{ iterations: 10n }, TypeError, `Expected iterations to be ${integers} 1 to 10000000 but received 10.`],
    [{ resolution: 0 }, RangeError, 'Expected resolution to be a number above 0 and at most 1 but received 0.'],
    [{ resolution: 1.1 }, RangeError, 'Expected resolution to be a number above 0 and at most 1 but received 1.1.'],
    [
      { resolution: Number.NaN },
      RangeError,
      'Expected resolution to be a number above 0 and at most 1 but received NaN.',
    ],
    [{ resolution: {} }, TypeError, 'Expected resolution to be a number above 0 and at most 1 but received an object.'],
    [{ path: 'bare' }, RangeError, "Expected path to be one of runtime, dlsym, linked but received 'bare'."],
    [{ path: 1 }, TypeError, 'Expected path to be one of runtime, dlsym, linked but received 1.'],
    [{ simulate: 1 }, TypeError, 'Expected simulate to be true or false but received 1.'],
    [{ samples: 'yes' }, TypeError, "Expected samples to be true or false but received 'yes'."],
    [{ tier: 'fast' }, RangeError, "Expected tier to be one of quick, standard, thorough but received 'fast'."],
    [{ tier: 2 }, TypeError, 'Expected tier to be one of quick, standard, thorough but received 2.'],
    [{ seed: -1 }, RangeError, `Expected seed to be ${integers} 0 to 281474976710655 but received -1.`],
    [{ seed: 2 ** 48 }, RangeError, `Expected seed to be ${integers} 0 to 281474976710655 but received ${2 ** 48}.`],
    [{ seed: '7' }, TypeError, `Expected seed to be ${integers} 0 to 281474976710655 but received '7'.`],
    [{ workload: 'T7' }, RangeError, "Expected workload to be one of T1, T2, T3, T4, T5, T6 but received 'T7'."],
    [{ model: 7 }, TypeError, 'Expected model to be an object with layers, hidden and heads but received 7.'],
    [{ signal: {} }, TypeError, 'Expected signal to be an AbortSignal but received an object.'],
    [{ onProgress: true }, TypeError, 'Expected onProgress to be a function but received true.'],
    [{ signal: () => {} }, TypeError, 'Expected signal to be an AbortSignal but received a function.'],
    [
      { iteration: 5 },
      TypeError,
      'Expected options out of device, warmup, iterations, resolution, path, simulate, samples, tier, seed, workload, model, ' +
        "signal, onProgress but received 'iteration': did you mean iterations?",
    ],
  ];

  it.each(cases.map(([options, Kind, message]) => [message, options, Kind] as const))(
    '%s',
    async (message, options, Kind) => {
      for (const name of MEASURE) {
        const error = await functions[name](options as object).catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(Kind);
        expect((error as Error).message).toBe(message);
      }
    },
  );

  it('every option has a case', () => {
    const options = /out of (.*) but/.exec(cases.at(-1)?.[2] ?? '')?.[1]?.split(', ');
    const tried = cases.flatMap(([value]) => (typeof value === 'object' && value ? Object.keys(value) : []));
    expect(options?.filter((name) => !tried.includes(name))).toEqual([]);
  });

  it('names a device that does not exist, and those that do', async () => {
    const answers = await attempt(
      [
        ['measureKernelLaunch', { device: 2 }],
        ['measureKernelLaunch', { device: 'GPU-00000000-0000-0000-0000-000000000000' }],
        ['measureContextCreation', { device: 2 }],
      ],
      { sim: { ...quick, devices: 2 } },
    );
    for (const { error } of answers) {
      expect(error).toMatchObject({ name: 'BenchError', code: 'NO_SUCH_DEVICE' });
      expect(error?.message).toMatch(
        /^Expected device to be the index or UUID of one of the 2 visible GPUs .* but received (2|GPU-0.*)\.$/,
      );
    }
  });

  it('refuses invalid settings of the simulation by name', async () => {
    const [answer] = await attempt([['measureKernelLaunch']], { sim: { launch_us: 2 } });
    expect(answer?.error).toMatchObject({ name: 'BenchError', code: 'SIM_SETTINGS' });
    expect(answer?.error?.message).toContain('launch_us');
  });
});

describe('results', () => {
  // Measured in test/truth instead: OH-001 waits for the simulated device, which here waits for a processor; the others
  // take seconds.
  const elsewhere = ['OH-001', 'OH-006', 'OH-009', 'OH-010'];
  const namesOf = (wanted: string) =>
    registry
      .filter(({ category, id }) => category === wanted && !elsewhere.includes(id))
      .map(({ functionName }) => functionName as Request[0]);

  it.each([
    ['overhead', 6, ['OH-002', 'OH-003', 'OH-004', 'OH-007']],
    // Once, because START-006 starts eleven processes each time.
    ['start-up', 1, ['START-001', 'START-002', 'START-003', 'START-004', 'START-005']],
  ])('of the metrics of %s fit the schema, with and without samples', async (category, iterations, counted) => {
    const requests = namesOf(category).map((name): Request => [name, { iterations, samples: true, seed: 5 }]);
    const results = await measure([...requests, ['measureMemoryAllocation', { iterations: 40 }]], { sim: quick });
    for (const result of results) v.parse(metricResultSchema, result);
    const plain = results.pop();
    expect(plain).not.toHaveProperty('samples');
    expect(plain?.stats?.count).toBe(40);
    // The others measure for a time, in rows of their own number, or need something that a plain environment lacks.
    const withSamples = results.filter(({ samples }) => samples !== undefined);
    expect(withSamples.map(({ id }) => id)).toEqual(expect.arrayContaining(counted));
    for (const result of withSamples) expectSamples(result, counted.includes(result.id) ? iterations : null);
  });

  it('contain percentiles from their sample floors on', async () => {
    const counts = [28, 29, 58, 59, 298, 299];
    const results = await measure(
      counts.map((iterations): Request => ['measureMemoryAllocation', { iterations }]),
      { sim: { ...quick, alloc_us: 1 } },
    );
    expect(results.map(({ stats }) => [stats?.p90, stats?.p95, stats?.p99].map((p) => typeof p === 'number'))).toEqual([
      [false, false, false],
      [true, false, false],
      [true, false, false],
      [true, true, false],
      [true, true, false],
      [true, true, true],
    ]);
    for (const { stats } of results) expect(stats?.p999).toBeNull();
  });

  it('have the same order with the same seed', async () => {
    const orders = async (...seeds: number[]) =>
      (
        await attempt(
          seeds.map((seed): Request => ['measureMemoryAllocation', { iterations: 1, seed }]),
          { sim: quick },
        )
      ).map(({ steps }) => steps.join());
    const [one, again, ...others] = await orders(1, 1, 2, 3, 4);
    expect(again).toBe(one);
    expect(new Set(others).size).toBe(3);
    expect(others).not.toContain(one);
  });

  it('list the devices, validly', async () => {
    const devices = await scenario<GpuInfo[]>('devices', { sim: { devices: 3, sms: 78, memory_mib: 4096 } });
    for (const device of devices) v.parse(gpuSchema, device);
    expect(devices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(devices.map(({ uuid }) => uuid)).size).toBe(3);
    for (const device of devices) expect(device).toMatchObject({ simulated: true, multiprocessors: 78 });
  });
});

describe('a driver too old for a function', () => {
  const newer = (name: string) =>
    `${name} is not offered by this driver on the runtime path; it needs a newer driver: CUDA 1`;

  it('leaves functions of OH-005 out by name, and measures the others', async () => {
    const [result] = await undisturbed(
      () => measure([['measureApiInterception', { iterations: 10 }]], { sim: { ...quick, driver_version: 11_040 } }),
      (results) => results,
    );
    if (!result) throw new Error('unreachable');
    const { missing, functions } = result.details as {
      missing: { name: string; unsupported: string }[];
      functions: [];
    };
    expect(missing.map(({ name }) => name)).toContain('cuModuleGetLoadingMode');
    for (const { name, unsupported } of missing) expect(unsupported).toContain(newer(name));
    expect(functions.length).toBeGreaterThanOrEqual(25);
    expect(result.status).toBe('ok');
  });

  it('leaves out the pool if it lacks pools', async () => {
    const [allocation] = await measure([['measureMemoryAllocation', { iterations: 20 }]], {
      sim: { ...quick, hide: 'cuMemAllocAsync' },
    });
    const rows = allocation?.details.sizes as { api: string; unsupported?: string }[];
    expect(rows.filter(({ unsupported }) => unsupported).map(({ api }) => api)).toEqual(['cuMemAllocAsync']);
    expect(allocation?.status).toBe('ok');
  });
});

it('leaves a row out, with the reason, if the card is too small for its size', async () => {
  const [result] = await measure([['measureMemoryAllocation', { iterations: 10 }]], {
    sim: { ...quick, memory_mib: 300, context_mib: 10 },
  });
  const rows = result?.details.sizes as { api: string; bytes: number; live: number; unsupported?: string }[];
  const big = rows.filter(({ bytes }) => bytes === 64 * 1024 ** 2);
  expect(big).toEqual([expect.objectContaining({ unsupported: expect.stringMatching(/fewer than two blocks/) })]);
  expect(result?.status).toBe('ok');
  for (const { unsupported, live } of rows) if (!unsupported) expect(live).toBeGreaterThanOrEqual(2);
});
