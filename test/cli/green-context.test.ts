/** The system `green-context` on simulated cards, and drivers that only seem to set a part of a card apart. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, emptyFolder, parseComparison } from './command.js';

async function compare(system: string, sim = '', metric = 'OH-002') {
  const few = ['--simulate', '--tier', 'quick', '--iterations', '20', '--rounds', '1', '--json', '-'];
  const systems = ['--system', 'native', '--system', system];
  const output = ['--output', join(emptyFolder(), 'out')];
  const outcome = await command(['compare', metric, ...few, ...systems, ...output], {}, sim);
  const round = () => parseComparison(outcome.stdout).systems[1]?.[0];
  return { ...outcome, round, result: () => round()?.metrics[0] };
}

describe('green-context', () => {
  it.each([
    ['half of a card', 'green-context:sm=50', '', '64 of 132, up to 66 were set', '64, the green context has 64'],
    ['the smallest part', 'green-context:sm=1', '', '8 of 132, up to 1 were set', '8, the green context has 8'],
    [
      'an older generation',
      'green-context:sm=50',
      'sms=108,cc=80',
      '54 of 108, up to 54 were set',
      '54, the green context has 54',
    ],
    ['most of a card', 'green-context:sm=99', '', '128 of 132, up to 130 were set', '128, the green context has 128'],
  ])('is proven on %s', async (_, system, sim, size, used) => {
    const { code, round, result } = await compare(system, sim);
    expect(code).toBe(0);
    expect(result()?.status).toBe('ok');
    const proofs = round()?.system.attestation ?? [];
    expect(proofs.every(({ passed }) => passed)).toBe(true);
    expect(proofs).toContainEqual({
      proof: "multiprocessors of the process's green context",
      passed: true,
      detail: size,
    });
    expect(proofs).toContainEqual({ proof: 'multiprocessors on which blocks ran', passed: true, detail: used });
  });

  it.each([
    ['whose split gives the whole card', 'partition_whole=1', /132 of 132, up to 66 were set/],
    ['that says a size and gives the whole card', 'partition_sms=132', /132, the green context has 64/],
    ['that gives less than it says', 'partition_sms=40', /40, the green context has 64/],
  ])('publishes nothing on a driver %s', async (_, sim, says) => {
    const { code, result } = await compare('green-context:sm=50', sim);
    expect(code).toBe(5);
    expect(result()).toMatchObject({ status: 'invalid', value: null });
    expect(result()?.reason).toMatch(says);
  });

  it.each([
    ['an old driver', 'driver=535', /cuDeviceGetDevResource/],
    ['a driver that cannot enter one', 'hide=cuCtxFromGreenCtx', /cuCtxFromGreenCtx/],
  ])('is unsupported with %s, with the function', async (_, sim, says) => {
    const { round, result } = await compare('green-context:sm=50', sim);
    expect(result()).toMatchObject({ status: 'unsupported', value: null });
    expect(result()?.reason).toMatch(says);
    expect(round()?.system.kind).toBe('green-context');
  });

  it('says of programs that they are not under it', async () => {
    const { result } = await compare('green-context:sm=50', '', 'COMPAT-001');
    expect(result()).toMatchObject({
      status: 'unsupported',
      reason: expect.stringMatching(/a program makes its green contexts itself/) as string,
    });
  });
});
