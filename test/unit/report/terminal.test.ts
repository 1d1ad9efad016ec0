import { describe, expect, it } from 'vitest';
import { bytes, duration, number, plain } from '../../../lib/results/text/plain.js';
import { runReport, WATERMARK } from '../../../lib/report/formats/terminal.js';
import { device, result, runDocument } from '../run/fixtures.js';

const document = runDocument();

const stats = {
  count: 1000,
  mean: 3,
  stddev: 1,
  cv: 0.3,
  mad: 1,
  min: 1,
  p50: 3,
  p90: 4,
  p95: 5,
  p99: 6.54321,
  p999: null,
  max: 9,
  outliers: { mild: 0, severe: 0 },
};

const row = (id: string, text: string) => text.split('\n').find((line) => line.startsWith(id));

describe('the table of a run', () => {
  it('shows value, unit, interval, p99, samples and status', () => {
    const text = runReport({ ...document, metrics: [result('OH-001', { stats, processes: 2 })] });
    expect(row('OH-001', text)?.split(/ {2,}/)).toEqual([
      'OH-001 Name of OH-001',
      '3.457 us',
      '3.100 … 3.200',
      '6.543',
      '1000',
      'ok',
    ]);
  });

  it('counts processes if they are the samples', () => {
    const between = result('OH-004', { stats, processes: 4, ciScope: 'between-processes' });
    expect(row('OH-004', runReport({ ...document, metrics: [between] }))).toContain('4 processes');
  });

  it('shows no number if none was measured', () => {
    const unsupported = result('OH-001', { status: 'unsupported', reason: 'no MIG', value: null, ci95: null });
    const cells = row('OH-001', runReport({ ...document, metrics: [unsupported] }))?.split(/ {2,}/);
    expect(cells?.slice(1)).toEqual(['–', '–', '–', '–', 'unsupported: no MIG']);
  });

  it('marks a simulated GPU in the first line, and no real one', () => {
    const simulated = { ...document, gpu: [{ ...device(0), simulated: true }] };
    expect(runReport(simulated).split('\n')[0]).toBe(WATERMARK);
    expect(runReport(document)).not.toContain(WATERMARK);
  });

  it('names the layer and reports if it is not active', () => {
    const layer = { path: '/x/libvgpu.so', sha256: null, exports: 0, active: false };
    expect(runReport({ ...document, system: { ...document.system, layer } })).toContain('/x/libvgpu.so (INACTIVE)');
  });

  it('removes control characters from GPU, system and error names', () => {
    const evil = '\u001b[31mred\u001b]0;title\u0007\r\u202e';
    const text = runReport({
      ...document,
      gpu: [{ ...device(0), name: evil, simulated: false }],
      system: { ...document.system, name: evil },
      metrics: [result('OH-001', { status: 'failed', reason: evil })],
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the text must not contain them.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).toContain('red');
  });
});

describe('text', () => {
  it.each([
    [0, '0'],
    [0.0123456, '0.01235'],
    [3.45678, '3.457'],
    [-2.5, '-2.5'],
    [1234.56, '1235'],
    [12_345_678, '1.235e+7'],
    [0.00001234, '1.234e-5'],
  ])('writes %d as %s', (value, text) => expect(number(value)).toBe(text));

  it.each([
    [0.2, '1 s'],
    [90, '90 s'],
    [300, '5 min'],
  ])('writes %d seconds as %s', (seconds, text) => expect(duration(seconds)).toBe(text));

  it('writes GiB', () => expect(bytes(150_754_820_096)).toBe('140.4 GiB'));
  it('replaces several lines with one', () => expect(plain('a\nb\tc ')).toBe('a b c'));
});
