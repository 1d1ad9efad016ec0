/** The calibration interposer against the simulated GPU: its delays are what it was told, and what OH-001 pairs. */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { measure, measureRecorded } from '../../native/child.js';
import { durationOf } from '../../native/record.js';

const quick = { init_ms: 1, context_ms: 1 };
const library = interposerLibrary() ?? '';

interface FunctionRow {
  name: string;
  intercepted: boolean;
  overheadNs: number;
  achievedNs: number | null;
}

async function functionsUnder(interpose: string) {
  const environment = { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
  const [result] = await measure([['measureApiInterception', { iterations: 50 }]], { sim: quick, environment });
  return new Map((result?.details.functions as FunctionRow[]).map((row) => [row.name, row]));
}

const achieved = async (settings: string, name: string) => (await functionsUnder(settings)).get(name)?.achievedNs ?? -1;

/** Of a nominal setting: never less but for the calibration of its counter, and on a slow machine more. */
function expectDelay(achievedNs: number, nominalNs: number) {
  expect(achievedNs).toBeGreaterThan(0.98 * nominalNs);
  expect(achievedNs).toBeLessThan(1.5 * nominalNs);
}

describe('the calibration interposer', () => {
  it('takes the time it was told to', async () =>
    expectDelay(await achieved('cuCtxGetDevice=+1us', 'cuCtxGetDevice'), 1_000));

  it('adds what each live block costs, and a token where there is a limit', async () => {
    // One block is live while OH-005 makes its calls.
    expectDelay(await achieved('perlive=1us', 'cuPointerGetAttribute'), 1_000);
    expectDelay(await achieved('token=1us', 'cuLaunchKernel'), 1_000);
    expectDelay(await achieved('cuLaunchKernel=+1us,token=1us@50', 'cuLaunchKernel'), 2_000);
    expect(await achieved('token=1us@100', 'cuLaunchKernel')).toBeLessThan(500);
  });

  it('without a delay on an isolated launch is nothing that OH-001 pairs', async () => {
    // A record of another call, for what a reading of the clock costs.
    const { results, recorded } = await measureRecorded([['measureKernelLaunch', { iterations: 80 }]], {
      sim: { ...quick, recorded: 'cuInit' },
    });
    const { overheadNs, intercepted } = results[0]?.details.pair as FunctionRow;
    expect(intercepted).toBe(false);
    expect(Math.abs(overheadNs)).toBeLessThan(4 * recorded.readingNs);
  });

  it('with a delay on an isolated launch is what OH-001 pairs', async () => {
    const { results, recorded } = await measureRecorded([['measureKernelLaunch', { iterations: 80 }]], {
      sim: { ...quick, recorded: 'cuInit' },
      environment: { LD_PRELOAD: library, GVB_INTERPOSE: 'cuLaunchKernel=+1us' },
    });
    const { overheadNs, intercepted } = results[0]?.details.pair as FunctionRow;
    expect(intercepted).toBe(true);
    const spent = median(recorded.hooked('cuLaunchKernel').map(durationOf)).value;
    expect(spent).toBeGreaterThan(980);
    // The hook reads the clock for its record as well, saves the arguments and restores them.
    expect(Math.abs(overheadNs - spent - 2 * recorded.readingNs)).toBeLessThan(6 * recorded.readingNs);
  });
});
