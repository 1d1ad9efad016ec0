/** The proofs of green contexts, and what the system asks of its workers. */
import { describe, expect, it } from 'vitest';
import { partOfCard, whereKernelsRan } from '../../../lib/systems/kinds/green-context/green-context-proofs.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { CONFINED_VARIABLE } from '../../../lib/native/confined.js';
import { description, gpu, probe, runState, temporaryFolder } from './fixtures.js';

const WHOLE = 132;
const half = (partitionMultiprocessors: number | null, multiprocessorsUsed = partitionMultiprocessors) =>
  probe({ partitionMultiprocessors, multiprocessorsUsed });
const judged = (seen: ReturnType<typeof half> | null, wanted: number | null = 66) => [
  partOfCard(seen, wanted, WHOLE).passed,
  whereKernelsRan(seen, wanted).passed,
];

describe('a process in a green context', () => {
  it.each([
    ['is proven by its size and by where blocks ran', half(64), 66, [true, true]],
    ['may have more than was set where the driver has no smaller part', half(8), 1, [true, true]],
    ['is refused in none', half(null), 66, [false, false]],
    ['is refused on the whole card', half(WHOLE), 66, [false, true]],
    ['is refused near the whole card', half(WHOLE), 130, [false, true]],
    ['is refused in a smaller one than the step of the driver explains', half(56), 66, [false, true]],
    ['is refused in a larger one', half(72), 66, [false, true]],
    ['is refused if blocks ran everywhere, whatever the driver says', half(64, WHOLE), 66, [true, false]],
    ['is refused if blocks ran on fewer than it is said to have', half(64, 40), 66, [true, false]],
    ['is refused if nothing was counted', half(64, null), 66, [true, false]],
    ['is in none where no part was set', half(null), null, [true, null]],
    ['is refused in one where none was set', half(64), null, [false, null]],
    ['proves nothing without a probe', null, 66, [null, null]],
  ])('%s', (_, seen, wanted, passed) => expect(judged(seen, wanted)).toEqual(passed));
});

describe('green-context', () => {
  const system = createSystem('green-context', { sm: '50' }, { caller: {}, folder: '/' });

  it('asks for a part of the card, rounded down, and for none at 100 % or without a limit', async () => {
    await system.prepare(runState(temporaryFolder()));
    const asked = (smPercent?: number | null) =>
      system.environment({ id: 1, ...(smPercent !== undefined && { limits: { smPercent } }) })[CONFINED_VARIABLE];
    expect(asked()).toBe(`${Math.floor(gpu.multiprocessors / 2)}`);
    expect(asked(1)).toBe(`${Math.max(1, Math.floor(gpu.multiprocessors / 100))}`);
    expect(asked(100)).toBeUndefined();
    expect(asked(null)).toBeUndefined();
    await system.teardown();
  });

  it('is not proven by the variable alone', async () => {
    await system.prepare(runState(temporaryFolder()));
    const seen = description(null);
    seen.environment = { [CONFINED_VARIABLE]: '66' };
    const look = { phase: 'before', tenant: { id: 0 }, path: 'runtime' } as const;
    const { invalid } = await system.attest(seen, { ...look, probe: half(null) });
    expect(invalid).toMatch(/multiprocessors of the process's green context: it is in none/);
    expect(system.provesByKernels).toBe(true);
    await system.teardown();
  });

  it('has no programs of others under it', () =>
    expect(system.whyNoPrograms).toMatch(/makes its green contexts itself/));

  it('needs a share', () => {
    expect(() => createSystem('green-context', {}, { caller: {}, folder: '/' })).toThrow(/sm/);
    expect(() => createSystem('green-context', { sm: '0' }, { caller: {}, folder: '/' })).toThrow(/1 to 100/);
  });
});
