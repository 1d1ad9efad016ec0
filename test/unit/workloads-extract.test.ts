import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Extracted, extract, fileStates } from '../../lib/workloads/extract.js';
import { pointed } from '../../lib/workloads/json-pointer.js';
import { Captured, IN_MEMORY_BYTES } from '../../lib/workloads/output.js';
import type { ExtractedMetric } from '../../lib/workloads/workload-type.js';
import { temporaryFolder } from '../temporary.js';

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

describe('a metric of a run', () => {
  it('is the last number that the pattern matches, on any line', async () => {
    expect(await found({}, 'took 1 s\ntook 2.5e-1 s\n')).toEqual({ value: 0.25 });
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
    expect(await found({ take }, 'took 4 s\ntook -1 s\ntook 8 s\ntook 1 s\n')).toEqual({ value });
  });

  it('is read from stderr where it is there', async () => {
    expect(await found({ from: 'stderr' }, 'took 1 s', 'took 2 s')).toEqual({ value: 2 });
  });

  it('is where a JSON pointer leads', async () => {
    const pick = { by: 'json', pointer: '/a~1b/1/m~0n' } as const;
    expect(await found({ pick }, '{"a/b": [0, {"m~n": 3}]}')).toEqual({ value: 3 });
  });

  it('is in lines of JSON, whatever other lines say', async () => {
    const pick = { by: 'jsonl', pointer: '/tps' } as const;
    const lines = 'loading {model}\n{"tps": 1}\n{"tps": "no"}\n{"tps": 3}\n{"tps": \n[1]\n';
    expect(await found({ pick, take: 'mean' }, lines)).toEqual({ value: 2 });
  });

  it.each([
    [{}, 'nothing here', { missing: 'nothing matched took (\\S+) s' }],
    [{}, 'took ages s', { missing: "the group of took (\\S+) s is 'ages', which is no number" }],
    [{}, 'took 1e999 s', { missing: expect.stringContaining('which is no number') }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"b": 1}', { missing: "there is nothing at '/a'" }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"a": "1"}', { missing: "what is at '/a' is no number" }],
    [{ pick: { by: 'json', pointer: '/a' } }, '{"a": 1', { missing: 'the output is not one JSON text' }],
    [{ pick: { by: 'jsonl', pointer: '/a' } }, 'x', { missing: "no line of JSON has a number at '/a'" }],
  ] as const)('is missing: %j in %j', async (change, text, missing) => {
    expect(await found(change, text)).toEqual(missing);
  });

  it('is given up where its pattern takes for ever', async () => {
    const hostile = { pick: { by: 'regex', pattern: /^(0+)+$x/gm } } as const;
    expect(await found(hostile, `${'0'.repeat(60)}1`)).toEqual({ missing: expect.stringContaining('was stopped') });
  });

  it('is found at both ends of an output that does not fit into memory, and the message says what was not searched', async () => {
    const filler = 'x'.repeat(3 * IN_MEMORY_BYTES);
    expect(await found({ take: 'sum' }, `took 1 s\n${filler}\ntook 2 s\n`)).toEqual({ value: 3 });
    expect(await found({}, filler)).toEqual({
      missing: expect.stringMatching(/only the first and the last 1 MiB were searched: write it to a file/),
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
    expect(await afterRun(rewrite)).toEqual({ value: 2 });
  });

  it('is not read from a device', async () => {
    const device = metric({ from: { file: '/dev/zero' } });
    const signal = new AbortController().signal;
    const output = { stdout: await captured(''), stderr: await captured(''), cwd, before: new Map(), signal };
    expect(await extract(device, output)).toEqual({ missing: "'/dev/zero' is not a regular file" });
  });
});

it('a JSON pointer leads to no inherited key', () => expect(pointed({}, '/constructor')).toBeUndefined());
