/** IS-003 under the system `green-context`: the share is that of the part, and each process is proven by its kernels. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { createSystem } from '../../../lib/systems/kinds.js';
import { FIRST_CARD } from '../../cli/command.js';
import { emptyFolder } from '../../native/child.js';
import { measured } from '../../native/measured.js';
import { ownRegion } from '../../temporary.js';
import { undisturbed } from '../../undisturbed.js';
import { runState } from '../../unit/systems/fixtures.js';

const [PART, WHOLE] = [64, 132];
const BACK_TO_BACK = 'kernels back to back';

interface Row {
  shape: string;
  achievedPercent: number;
  multiprocessorsPercent: number;
  mechanism: { name: string };
}

async function shareUnder(sim = ''): Promise<MetricResult> {
  const settings = `region=${ownRegion('green')},init_ms=1,context_ms=1${sim && `,${sim}`}`;
  const caller = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: settings };
  const system = createSystem('green-context', { sm: '50' }, { caller, folder: '/' });
  onTestFinished(() => system.teardown());
  const run = runState(emptyFolder());
  await system.prepare({ ...run, gpu: { ...run.gpu, uuid: FIRST_CARD } });
  return measured('IS-003', system);
}

describe('IS-003 under green-context', () => {
  it('finds the share of the part for every shape of load', async () => {
    const result = await undisturbed(
      () => shareUnder(),
      (measured) => [measured],
    );
    expect(result.status).toBe('ok');
    expect(result.violations ?? []).toEqual([]);
    const rows = result.details.limits as Row[];
    const share = (100 * PART) / WHOLE;
    const headline = rows.find(({ shape }) => shape === BACK_TO_BACK);
    expect(Math.abs((headline?.achievedPercent ?? Number.NaN) - share)).toBeLessThan(1);
    for (const { multiprocessorsPercent } of rows) expect(multiprocessorsPercent).toBeLessThanOrEqual(share + 1e-9);
    expect(headline?.multiprocessorsPercent).toBeCloseTo(share, 9);
    expect(headline?.mechanism.name).toBe('partition');
  });

  it.each([
    ['on all of the card', 'partition_sms=132', /132, the green context has 64/],
    ['on fewer multiprocessors than it says', 'partition_sms=40', /40, the green context has 64/],
    ['of the whole card', 'partition_whole=1', /132 of 132, up to 66 were set/],
  ])('has no number where the driver makes one %s', async (_, sim, says) => {
    const result = await shareUnder(sim);
    expect(result).toMatchObject({ value: null, reason: expect.stringMatching(says) as string });
    expect(result.status).toBe('invalid');
  });
});
