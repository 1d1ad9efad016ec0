import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Extracted, extract, fileStates } from '../../../lib/workloads/metrics/extract.js';
import { pointed } from '../../../lib/workloads/metrics/json-pointer.js';
import { Captured, IN_MEMORY_BYTES } from '../../../lib/workloads/program/output.js';
import type { ExtractedMetric } from '../../../lib/workloads/workload-type.js';
import { temporaryFolder } from '../../temporary.js';

const metric = (change: Partial<ExtractedMetric>): ExtractedMetric => ({
  key: 'm',
  from: 'stdout',
  pick: { by: 'regex', pattern: /took (\S+) s/gm },
  take: 'last',
  unit: 's',
  direction: 'lower',
  delta: { relative: 0.02 },
  ...change,
});

async function captured(text: string): Promise<Captured> {
  const stream = new PassThrough();
  const all = new Captured(stream, null);
  const ended = new Promise((resolve) => stream.once('end', resolve));
  stream.end(text);
  await ended;
  return all;
}

async function found(change: Partial<ExtractedMetric>, stdout = '', stderr = '', cwd = '/'): Promise<Extracted> {
  const signal = new AbortController().signal;
  return extract(metric(change), {
    stdout: await captured(stdout),
    stderr: await captured(stderr),
    cwd,
    before: new Map(),
    signal,
  });
}

const number = (value: number, numbers = 1, notes: string[] = []) => ({ value, numbers, notes });

describe('a metric of a run', () => {
  it('is the last number that the pattern matches, on any line', async () => {
    expect(await found({}, 'took 1 s\ntook 2.5e-1 s\n')).toEqual(number(0.25, 2));
  });

  it.each([
    ['first', 4],
    ['last', 1],
    ['least', -1],
    ['largest', 8],
    ['mean', 3],
    ['median', 2.5],
    ['sum', 12],
  ] as const)('is the %s', async (take, value) => {
    expect(await found({ take }, 'took 4 s\ntook -1 s\ntook 8 s\ntook 1 s\n')).toEqual(number(value, 4));
  });

  it.each([
    ['p90', 29],
    ['p95', 59],
    ['p99', 299],
    ['p99.9', 2995],
  ] as const)('is the %s of at least %i numbers', async (take, floor) => {
    const ramp = (count: number) => Array.from({ length: count }, (_, i) => `took ${i + 1} s\n`).join('');
    const share = Number(take.slice(1)) / 100;
    const enough = await found({ take }, ramp(floor));
    expect(enough).toMatchObject({ value: expect.closeTo((floor + 1 / 3) * share + 1 / 3, 6), numbers: floor });
    expect(await found({ take }, ramp(floor - 1))).toEqual({
      missing: `a ${take} takes at least ${floor} numbers in a run, and there were ${floor - 1}`,
    });
  });

  it('is read from stderr where it is there', async () => {
    expect(await found({ from: 'stderr' }, 'took 1 s', 'took 2 s')).toEqual(number(2));
  });

  it('is where a JSON pointer leads', async () => {
    const pick = { by: 'json', pointer: '/a~1b/1/m~0n' } as const;
    expect(await found({ pick }, '{"a/b": [0, {"m~n": 3}]}')).toEqual(number(3));
  });

  const tps = { pick: { by: 'jsonl', pointer: '/tps' }, take: 'mean' } as const;

  it('is all matches of a pattern, however many, or none of them', async () => {
    const ones = { pick: { by: 'regex', pattern: /^(\d)$/gm }, take: 'sum' } as const;
    expect(await found(ones, '1\n'.repeat(1_000_000))).toEqual(number(1_000_000, 1_000_000));
    expect(await found(ones, '1\n'.repeat(1_000_001))).toEqual({
      missing: expect.stringMatching(/^\^\(\\d\)\$ matched more than 1000000 times: /),
    });
  });

  it('is no number behind more brackets than are tried', async () => {
    const tags = (count: number) => '[a] '.repeat(count);
    expect(await found(tps, `${tags(7)}{"tps": 1}\n`)).toMatchObject({ value: 1 });
    expect(await found(tps, `{"tps": 1}\n${tags(8)}{"tps": 2}\n`)).toEqual({
      missing: expect.stringMatching(/^the line '\[a\] .*' has more than 8 brackets before its JSON$/),
    });
    expect(await found(tps, `{"tps": 1}\n${tags(20)}\n`)).toMatchObject({ value: 1 });
  });

  it('is in lines of JSON, whatever other lines say', async () => {
    const lines = 'loading {model}\n{"tps": 1}\n{"loss": NaN}\n{"tps": 3}\n{"other": \n[1]\n';
    expect(await found(tps, lines)).toEqual(number(2, 2));
  });

  it.each([
    ['\uFEFF{"tps": 10}\n{"tps": 2}\n', []],
    ['[rank0]: {"tps": 10}\r\n{"tps": 2}\r\n', ['m: 1 of 2 numbers stood behind other text in their line']],
    [' 10%|#   |\r 99%|####|\r{"tps": 10}\n{"tps": 2}', []],
    [' 99%|####| {"tps": 10}\n12:30:01 INFO {"tps": 2}', ['m: 2 of 2 numbers stood behind other text in their line']],
  ])('is read past what stands before the JSON: %j', async (text, notes) => {
    expect(await found(tps, text)).toEqual(number(6, 2, notes));
  });

  it('is read past a byte order mark in one JSON text', async () => {
    expect(await found({ pick: { by: 'json', pointer: '/a' } }, '\uFEFF{"a": 3}')).toEqual(number(3));
  });

  it.each([
    '{"tps": NaN}',
    '{"tps": -Infinity}',
    '{"tps": null}',
    '{"tps": "2"}',
    '{"tps": 1e999}',
    '[rank0]: {"tps": nan}',
    '{"tps": 3',
    '{"tps": 3}{"tps": 4}',
  ])('is no number where one line gives none: %s', async (line) => {
    expect(await found(tps, `{"tps": 1}\n${line}\n{"tps": 3}\n`)).toEqual({
      missing: expect.stringContaining(`the line '${line}'`),
    });
  });

  it.each([
    [{}, 'nothing here', { missing: 'nothing matched took (\\S+) s' }],
    [{}, 'took ages s', { missing: "the group of took (\\S+) s is 'ages', which is no number" }],
    [{}, 'took 1e999 s', { missing: expect.stringContaining('which is no number') }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"b": 1}', { missing: "there is nothing at '/a'" }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"a": "1"}', { missing: "what is at '/a' is no number" }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"a": 1', { missing: 'the output is not one JSON text' }],
    [{ pick: { by: 'jsonl', pointer: '/a' } }, 'x {y}', { missing: "no line of JSON has a number at '/a'" }],
  ] as const)('is missing: %j in %j', async (change, text, missing) => {
    expect(await found(change, text)).toEqual(missing);
  });

  it('is given up where its pattern takes for ever', async () => {
    const hostile = { pick: { by: 'regex', pattern: /^(0+)+$x/gm } } as const;
    expect(await found(hostile, `${'0'.repeat(60)}1`)).toEqual({ missing: expect.stringContaining('was stopped') });
  });

  describe('in an output that does not fit into memory', () => {
    const filler = `${'x'.repeat(99)}\n`.repeat((3 * IN_MEMORY_BYTES) / 100);
    const text = `took 1 s\n${filler}took 2 s\n`;

    it('is the first or the last of all', async () => {
      expect(await found({ take: 'first' }, text)).toEqual(number(1));
      expect(await found({ take: 'last' }, text)).toEqual(number(2));
    });

    it.each(['sum', 'mean', 'median', 'least', 'largest', 'p99'] as const)('is not the %s of a part', async (take) => {
      expect(await found({ take }, text)).toEqual({
        missing: `of ${text.length} bytes only the first and the last 1 MiB are kept, and the ${take} needs all of them: let the program write it to a file`,
      });
    });

    it('is not of JSON of which a part is missing', async () => {
      const pick = { by: 'json', pointer: '/a' } as const;
      expect(await found({ pick }, `{"a": 1, "b": "${filler}"}`)).toEqual({
        missing: expect.stringContaining('JSON needs all of them'),
      });
    });

    it('says what was not searched', async () => {
      expect(await found({}, filler)).toEqual({
        missing: expect.stringMatching(/in the last 1 MiB \(of \d+ bytes only .* are kept: let the program write it/),
      });
    });

    it.each([7, 10, 11, 13])('never joins the halves of two lines of %i bytes', async (length) => {
      const line = `${'1234567890123'.slice(0, length - 1)}\n`;
      const lines = line.repeat(Math.ceil((3 * IN_MEMORY_BYTES) / length));
      for (const take of ['first', 'last'] as const)
        expect(await found({ pick: { by: 'regex', pattern: /^(\d+)$/gm }, take }, lines)).toMatchObject({
          value: Number(line),
        });
      const all = await captured(lines);
      const seen = new Set<string>();
      all.onLine = (each) => void seen.add(each);
      expect([...seen]).toEqual([line.trim()]);
    });
  });
});

describe('a metric of a file', () => {
  const cwd = temporaryFolder();
  const file = metric({ from: { file: 'out.json' }, pick: { by: 'json', pointer: '/v' } });

  async function afterRun(run: () => void): Promise<Extracted> {
    const before = await fileStates([file], cwd);
    run();
    const signal = new AbortController().signal;
    return extract(file, { stdout: await captured(''), stderr: await captured(''), cwd, before, signal });
  }
  const write = (text: string) => writeFileSync(join(cwd, 'out.json'), text);

  it('is missing where the run did not write it, or left that of an earlier run', async () => {
    expect(await afterRun(() => {})).toEqual({
      missing: expect.stringMatching(/^the run did not write '.*out\.json'$/),
    });
    write('{"v": 1}');
    expect(await afterRun(() => {})).toEqual({ missing: expect.stringMatching(/^the run left '.*' as it was$/) });
  });

  it('is what the run wrote, also where it is as large and as old as before', async () => {
    utimesSync(join(cwd, 'out.json'), 1, 1);
    const rewrite = () => {
      write('{"v": 2}');
      utimesSync(join(cwd, 'out.json'), 1, 1);
    };
    expect(await afterRun(rewrite)).toEqual(number(2));
  });

  it('is not that of an earlier run which the run only touched', async () => {
    write('{"v": 3}');
    const touch = () => utimesSync(join(cwd, 'out.json'), new Date(), new Date());
    expect(await afterRun(touch)).toEqual({
      missing: expect.stringMatching(/^the run left the content of '.*' as it was, and changed only its time$/),
    });
  });

  it('is what the run wrote, also where it wrote the same again', async () => {
    write('{"v": 4}');
    const longAgo = new Date(1e12);
    utimesSync(join(cwd, 'out.json'), longAgo, longAgo);
    expect(await afterRun(() => write('{"v": 4}'))).toEqual(number(4));
  });

  it('is not read from a device', async () => {
    const device = metric({ from: { file: '/dev/zero' } });
    const signal = new AbortController().signal;
    const output = { stdout: await captured(''), stderr: await captured(''), cwd, before: new Map(), signal };
    expect(await extract(device, output)).toEqual({ missing: "'/dev/zero' is not a regular file" });
  });
});

it('a JSON pointer leads to no inherited key', () => expect(pointed({}, '/constructor')).toBeUndefined());
