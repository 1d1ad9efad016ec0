/** Phases of a call profile: the calls counted between their ends, and the marks that name them. */
import { describe, expect, it } from 'vitest';
import { markIn, Phases, type Snapshot } from '../../../lib/run/plan/phases.js';

const at = (seconds: number, calls: Record<string, number> = {}): Snapshot => ({
  atMs: 1_000 * seconds,
  calls: new Map(Object.entries(calls)),
});

describe('a phase', () => {
  it('has the calls and the time between its beginning and its end, most frequent first', () => {
    const phases = new Phases();
    phases.begin('decode', at(1, { cuInit: 1, cuLaunchKernel: 10 }));
    phases.end({ steps: 4, seconds: null }, at(3.5, { cuInit: 1, cuLaunchKernel: 12, cuEventRecord: 5 }));
    expect(phases.all).toEqual([
      { name: 'decode', seconds: 2.5, steps: 4, calls: { cuEventRecord: 5, cuLaunchKernel: 2 } },
    ]);
    expect(Object.keys(phases.all[0]?.calls ?? {})).toEqual(['cuEventRecord', 'cuLaunchKernel']);
  });

  it('adds its repetitions; steps are known only if every end reports them', () => {
    const phases = new Phases();
    phases.begin('a', at(0));
    phases.end({ steps: 2, seconds: null }, at(1, { cuInit: 3 }));
    phases.begin('b', at(1, { cuInit: 3 }));
    phases.end({ steps: null, seconds: null }, at(2, { cuInit: 4 }));
    phases.begin('a', at(5, { cuInit: 4 }));
    phases.end({ steps: 3, seconds: null }, at(6, { cuInit: 9 }));
    phases.begin('b', at(6, { cuInit: 9 }));
    phases.end({ steps: 1, seconds: null }, at(7, { cuInit: 9 }));
    expect(phases.all).toEqual([
      { name: 'a', seconds: 2, steps: 5, calls: { cuInit: 8 } },
      { name: 'b', seconds: 2, steps: null, calls: { cuInit: 1 } },
    ]);
  });

  it('ends where the next one begins; an end without a beginning is ignored', () => {
    const phases = new Phases();
    phases.end({ steps: 1, seconds: null }, at(0));
    phases.begin('a', at(0));
    expect(phases.open).toBe('a');
    phases.begin('b', at(1, { cuInit: 1 }));
    phases.end({ steps: null, seconds: null }, at(2, { cuInit: 1 }));
    expect(phases.open).toBeNull();
    expect(phases.all.map(({ name, calls }) => [name, calls])).toEqual([
      ['a', { cuInit: 1 }],
      ['b', {}],
    ]);
  });
});

describe('the seconds of a phase', () => {
  it('are those reported by the program, if any', () => {
    const phases = new Phases();
    phases.begin('a', at(0));
    phases.end({ steps: 2, seconds: 1.75 }, at(2_000, { cuInit: 4 }));
    expect(phases.all).toEqual([{ name: 'a', seconds: 1.75, steps: 2, calls: { cuInit: 4 } }]);
  });
});

describe('a mark', () => {
  it.each([
    ['gvb:begin decode', { begins: 'decode' }],
    ['gvb:begin  first token ', { begins: 'first token' }],
    ['gvb:end', { ends: { steps: null, seconds: null } }],
    ['gvb:end 128', { ends: { steps: 128, seconds: null } }],
    ['gvb:end 128 1.75', { ends: { steps: 128, seconds: 1.75 } }],
    ['step 3: loss 0.1', null],
    [' gvb:end', null],
  ])('is read from %j', (line, mark) => expect(markIn(line)).toEqual(mark));

  it.each([
    'gvb:begin',
    'gvb:end 0',
    'gvb:end -3',
    'gvb:end 1.5',
    'gvb:end 1e3',
    'gvb:end 3 -1',
    'gvb:end 3 0',
    'gvb:end 3 1s',
    'gvb:end 3 1 2',
    'gvb:end 3 x',
    'gvb:start x',
    'gvb:',
    `gvb:begin ${'x'.repeat(101)}`,
  ])('is invalid: %j', (line) => expect(markIn(line)).toEqual({ wrong: line.slice(0, 100) }));
});
