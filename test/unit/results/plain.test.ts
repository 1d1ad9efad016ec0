import { describe, expect, it } from 'vitest';
import { cudaVersion } from '../../../lib/results/text/cuda-version.js';
import { duration } from '../../../lib/results/text/plain.js';

describe('a duration', () => {
  it.each([
    [0.2, '1 s'],
    [119, '119 s'],
    [120, '2 min'],
    [90 * 60, '90 min'],
    [91 * 60, '1 h 31 min'],
    [120 * 60, '2 h'],
    [9 * 3_600 + 59 * 60, '9 h 59 min'],
    [10 * 3_600, '10 h'],
    [14.4 * 3_600, '14 h'],
  ])('of %d s is %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe('a CUDA version', () => {
  it.each([
    [13000, '13.0'],
    [12040, '12.4'],
    [null, 'unknown'],
  ])('encoded as %s is %s', (encoded, text) => expect(cudaVersion(encoded)).toBe(text));
});
