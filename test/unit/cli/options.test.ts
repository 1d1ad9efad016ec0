import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../lib/cli/options/exit-codes.js';
import { InterruptedError } from '../../../lib/cli/process/interruption.js';
import { parseRunOptions, type RawRunOptions } from '../../../lib/cli/options/options.js';
import { errorLine } from '../../../lib/cli/terminal/talk.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { CudaError } from '../../../lib/native/errors.js';
import { UsageError } from '../../../lib/errors/usage-error.js';

const parse = (raw: Partial<RawRunOptions>) => parseRunOptions({ tier: 'quick', path: 'runtime', ...raw });

describe('the options of run', () => {
  it('passes only given options to the measurement', () => expect(parse({}).measure).toEqual({}));

  it('turns text into numbers', () => {
    const { measure, seed, timeoutSeconds } = parse({
      iterations: '100',
      warmup: '0',
      resolution: '0.05',
      seed: '42',
      timeout: '1.5',
      samples: true,
    });
    expect(measure).toEqual({ iterations: 100, warmup: 0, resolution: 0.05, samples: true });
    expect({ seed, timeoutSeconds }).toEqual({ seed: 42, timeoutSeconds: 1.5 });
  });

  it('reads the sizes of a model', () => {
    const { measure } = parse({ workload: 'T5', model: 'layers=2, hidden=512,heads=4' });
    expect(measure).toEqual({ workload: 'T5', model: { layers: 2, hidden: 512, heads: 4 } });
  });

  it('draws a seed when none is given', () => expect(parse({}).seed).not.toBe(parse({}).seed));

  it.each<[Partial<RawRunOptions>, string]>([
    [{ iterations: '-5' }, 'Expected --iterations to be an integer from 1 to 10000000 but received -5.'],
    [{ iterations: '0' }, 'Expected --iterations to be an integer from 1 to 10000000 but received 0.'],
    [{ iterations: '1.5' }, 'Expected --iterations to be an integer from 1 to 10000000 but received 1.5.'],
    [{ iterations: '1e12' }, 'Expected --iterations to be an integer from 1 to 10000000 but received 1000000000000.'],
    [{ iterations: 'many' }, "Expected --iterations to be a number but received 'many'."],
    [{ iterations: '' }, "Expected --iterations to be a number but received ''."],
    [{ iterations: 'Infinity' }, "Expected --iterations to be a number but received 'Infinity'."],
    [{ warmup: '-1' }, 'Expected --warmup to be an integer from 0 to 10000000 but received -1.'],
    [{ resolution: '0' }, 'Expected --resolution to be a number above 0 and at most 1 but received 0.'],
    [{ tier: 'fast' }, "Expected --tier to be one of quick, standard, thorough but received 'fast'."],
    [{ path: 'bare' }, "Expected --path to be one of runtime, dlsym, linked but received 'bare'."],
    [
      { device: '-1' },
      'Expected --device to be an NVML index or a UUID, or several of them joined by commas, but received -1.',
    ],
    [
      { device: 'H200' },
      "Expected --device to be an NVML index or a UUID, or several of them joined by commas, but received 'H200'.",
    ],
    [{ timeout: '0' }, 'Expected --timeout to be a number of seconds above 0 and up to 86400 but received 0.'],
    [{ workload: 'T9' }, "Expected --workload to be one of T1, T2, T3, T4, T5, T6 but received 'T9'."],
    [{ model: 'big' }, "Expected --model to be comma-separated SIZE=NUMBER pairs but received 'big'."],
    [{ model: 'layers=x' }, "Expected --model layers to be a number but received 'x'."],
    [
      { model: 'layers=1,hidden=512,heads=3' },
      'Expected --model.hidden / model.heads to be 64 or 128 but received 170.66666666666666.',
    ],
    [{ json: '--simulate' }, "Expected --json to be a file or - but received '--simulate'."],
  ])('refuses %j', (raw, message) => expect(() => parse(raw)).toThrow(new UsageError(message)));

  it('refuses a negative seed', () => expect(() => parse({ seed: '-1' })).toThrow(/^Expected --seed to be an integer/));
});

describe('exit codes', () => {
  it.each([
    [new InterruptedError('SIGINT'), 130],
    [new UsageError('no'), 2],
    [new BenchError('SIM_SETTINGS', 'no such key'), 2],
    [new BenchError('NO_SUCH_DEVICE', 'no'), 2],
    [new BenchError('WORKER', 'gone'), 1],
    [new CudaError(100, 'CUDA_ERROR_NO_DEVICE', 'cuInit', 'looking'), 1],
    [new Error('bug'), 1],
    ['thrown text', 1],
  ])('answers %s with %d', (error, code) => expect(exitCodeOf(error)).toBe(code));
});

describe('an error', () => {
  it('is one line', () => expect(errorLine(new Error('first\n  second\u001b[0m'))).toBe('error: first second\n'));
});
