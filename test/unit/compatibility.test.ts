/** COMPAT-001: how a probe's process is compared with its native one, and in which order probes run. */
import { describe, expect, it } from 'vitest';
import { escapeOf, referenceOf } from '../../lib/metrics/compatibility/escape.js';
import { excludedBecause, nativeText, outcomeOf } from '../../lib/metrics/compatibility/outcome.js';
import type { Observation, Step } from '../../lib/metrics/compatibility/probe-process.js';
import { inTurns } from '../../lib/metrics/compatibility/turns.js';
import type { Ending } from '../../lib/workers/launcher.js';
import { CUDA, description } from './systems/fixtures.js';

const exit = (exitCode: number): Ending => ({ how: `ended with exit code ${exitCode}`, exitCode, signal: null });
const killed = (signal: NodeJS.Signals): Ending => ({ how: `was killed by ${signal}`, exitCode: null, signal });
const code = (step: string, value: number): Step => ({ gvb: 'code', step, code: value });
const data = (step: string, value: string, otherwise?: string): Step => ({
  gvb: 'data',
  step,
  value,
  ...(otherwise !== undefined && { otherwise }),
});

const steps = [code('cuInit', 0), code('cuMemAlloc_v2', 0), data('memory', 'right')];
const seen = (change: Partial<Observation> = {}): Observation => ({
  ending: exit(0),
  steps,
  last: 'cuMemFree_v2',
  done: true,
  over: null,
  count: null,
  under: null,
  rows: [],
  unrepeated: null,
  ...change,
});

describe("a probe's native run", () => {
  it.each([
    ['works', {}, null],
    ['hangs', { ending: null, done: false }, 'natively it hangs in cuMemFree_v2'],
    ['crashes', { ending: killed('SIGSEGV'), done: false }, 'natively it crashes in cuMemFree_v2: SIGSEGV'],
    ['crashes after its end', { ending: killed('SIGABRT') }, 'natively it crashes in cuMemFree_v2: SIGABRT'],
    ['cannot go on', { ending: exit(3), done: false, over: 'cuInit answered 100' }, 'cuInit answered 100'],
    ['reads wrong data', { steps: [data('memory', 'wrong')] }, 'natively its data is wrong: memory'],
    ['sees other memory', { steps: [data('total', '1 of 2', 'open')] }, 'natively its data is wrong: total'],
    ['ends early', { done: false }, 'natively it ended with exit code 0'],
    ['ends with a code', { ending: exit(1) }, 'natively it ended with exit code 1'],
  ] as const)('%s', (_, change, reason) => expect(excludedBecause(seen(change as Partial<Observation>))).toBe(reason));

  it('is described with the codes other than 0', () => {
    expect(nativeText(seen())).toBe('works');
    expect(nativeText(seen({ count: 25 }))).toBe('works, 25 made');
    const refused = ['a', 'b', 'b', 'c', 'd'].map((step) => code(step, 1));
    expect(nativeText(seen({ steps: refused }))).toBe('works, with a 1, b 1, c 1 and 1 more');
  });
});

describe('the outcome of a probe', () => {
  it.each<[string, Partial<Observation>, string, string | undefined]>([
    ['the same', {}, 'same', undefined],
    ['a hang', { ending: null }, 'hang', 'cuMemFree_v2'],
    ['a crash, also after the last step', { ending: killed('SIGSEGV') }, 'crash SIGSEGV', 'cuMemFree_v2'],
    ['another code', { steps: [code('cuInit', 0), code('cuMemAlloc_v2', 2)] }, 'code 2 instead of 0', 'cuMemAlloc_v2'],
    ['other data', { steps: [...steps.slice(0, 2), data('memory', 'wrong')] }, 'wrong data', 'memory'],
    ['another step', { steps: [code('cuInit', 0), code('cuCtxCreate', 0)] }, 'wrong data', 'cuCtxCreate'],
    ['a step more', { steps: [...steps, code('cuInit', 0)] }, 'wrong data', 'cuInit'],
    ['an exit code', { steps: steps.slice(0, 1), ending: exit(7), done: false }, 'exit 7 instead of 0', 'cuMemFree_v2'],
    ['an exit code after the last step', { ending: exit(1) }, 'exit 1 instead of 0', 'cuMemFree_v2'],
    ['steps that are missing', { steps: steps.slice(0, 2) }, 'ends early', 'cuMemFree_v2'],
    ['an end before the last word', { done: false }, 'ends early', 'cuMemFree_v2'],
  ])('is %s', (_, change, outcome, at) => {
    expect(outcomeOf(seen(), seen(change))).toEqual({ outcome, ...(at !== undefined && { at }) });
  });

  it("has the probe's own name if it reports one", () => {
    const native = seen({ steps: [data('total', 'the same', 'limit fails open')] });
    const own = seen({ steps: [data('total', '2 instead of 1', 'limit fails open')] });
    expect(outcomeOf(native, own)).toEqual({ outcome: 'limit fails open', at: 'total' });
  });
});

describe('whether a probe was under the layer', () => {
  const library = '/opt/layer.so';
  const reference = referenceOf(description(library, { memoryBytes: 1000 }), 'dlsym');
  const [uuid] = [...reference.memoryBytes.keys()];
  const under = (change: Partial<NonNullable<Observation['under']>> = {}): Observation =>
    seen({
      under: {
        owners: { cuInit: library, cuCtxSynchronize: CUDA },
        own: ['cuCtxSynchronize'],
        objects: [library],
        mps: 0,
        memory: { uuid: uuid as string, bytes: 1000 },
        ...change,
      },
    });

  it('is shown by owners, objects and memory', () => expect(escapeOf(under(), reference)).toBeNull());

  it.each([
    [
      'a function of the layer is the driver’s',
      { owners: { cuInit: CUDA }, own: ['cuInit'] },
      `cuInit belongs to ${CUDA}`,
    ],
    ['the library is not loaded', { objects: [] }, `${library} is not loaded`],
    ['it sees more memory', { memory: { uuid: uuid as string, bytes: 9000 } }, 'it sees 9000 bytes of memory'],
  ])('is refuted if %s', (_, change, text) => expect(escapeOf(under(change), reference)).toContain(text));

  it('is shown by addresses, whatever the code is called', () => {
    const { intercepted } = reference;
    expect([...intercepted]).toContain('cuInit');
    const unnamed = under({ owners: { cuInit: 'memory without a file', cuCtxSynchronize: CUDA } });
    expect(escapeOf(unnamed, reference)).toBeNull();
    const renamed = under({ owners: { cuInit: library }, own: ['cuInit'] });
    expect(escapeOf(renamed, reference)).toBe(`cuInit belongs to ${library}`);
  });

  it('is unknown if the probe does not report it', () => {
    expect(escapeOf(seen(), reference)).toBe('it did not report who owns the functions it called');
  });

  it('is refuted for a process that is no MPS client while others are', () => {
    const mps = referenceOf(description(null, { mpsClient: true, memoryBytes: 1000 }), 'dlsym');
    const client = under({ owners: {}, own: [], objects: [], memory: null, mps: 1 });
    expect(escapeOf(client, mps)).toBeNull();
    expect(escapeOf(under({ owners: {}, own: [], objects: [], memory: null, mps: 0 }), mps)).toBe(
      'it is no MPS client',
    );
  });
});

describe('the order of probes', () => {
  interface One {
    name: string;
    alone: boolean;
  }
  const one = (name: string, alone = false): One => ({ name, alone });

  /** Fake processes, each of which ends when it is told to. */
  function stage() {
    const running = new Map<string, () => void>();
    const run = ({ name }: One) =>
      new Promise<string>((end) => {
        running.set(name, () => {
          running.delete(name);
          end(name);
        });
      });
    const names = () => [...running.keys()].join('');
    return { run, names, end: (name: string) => running.get(name)?.() };
  }

  it('runs several at a time, or alone if requested, with results in order', async () => {
    const { run, names, end } = stage();
    const all = inTurns([one('a', true), one('b'), one('c'), one('d')], { lanes: 2, startMs: null }, run);
    for (const [now, next] of [
      ['bc', 'c'],
      ['bd', 'b'],
      ['d', 'd'],
      ['a', 'a'],
    ] as const) {
      await expect.poll(names).toBe(now);
      end(next);
    }
    expect(await all).toEqual(['a', 'b', 'c', 'd']);
  });

  it('waits for a probe that starts, but not for one that hangs', async () => {
    const { run, names, end } = stage();
    const all = inTurns([one('a'), one('b'), one('c')], { lanes: 3, startMs: 300 }, run);
    await expect.poll(names).toBe('a');
    end('a');
    await expect.poll(names).toBe('b');
    await expect.poll(names).toBe('bc');
    end('b');
    end('c');
    expect(await all).toEqual(['a', 'b', 'c']);
  });
});
