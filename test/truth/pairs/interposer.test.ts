/** The calibration interposer against the simulated GPU: what it injects is recovered. */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { measure } from '../../native/child.js';

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

describe('the calibration interposer', () => {
  it('says what its delays really took', async () => {
    const row = (await functionsUnder('cuCtxGetDevice=+1us')).get('cuCtxGetDevice');
    expect(row?.achievedNs).toBeGreaterThan(990);
    expect(row?.achievedNs).toBeLessThan(1_100);
  });

  it('adds what each live block costs, and a token where there is a limit', async () => {
    const achieved = async (settings: string, name: string) =>
      (await functionsUnder(settings)).get(name)?.achievedNs ?? -1;
    // One block is live while OH-005 makes its calls.
    expect(Math.abs((await achieved('perlive=1us', 'cuPointerGetAttribute')) - 1_000)).toBeLessThan(100);
    expect(Math.abs((await achieved('token=1us', 'cuLaunchKernel')) - 1_000)).toBeLessThan(100);
    expect(Math.abs((await achieved('cuLaunchKernel=+1us,token=1us@50', 'cuLaunchKernel')) - 2_000)).toBeLessThan(100);
    expect(await achieved('token=1us@100', 'cuLaunchKernel')).toBeLessThan(200);
  });

  it.each([
    ['no delay', '', 0],
    ['a microsecond', 'cuLaunchKernel=+1us', 1_000],
  ])('on an isolated launch is what OH-001 pairs: %s', async (_, interpose, truth) => {
    const environment = interpose === '' ? {} : { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
    const [result] = await measure([['measureKernelLaunch', { iterations: 80 }]], { sim: quick, environment });
    const { overheadNs, intercepted } = result?.details.pair as { overheadNs: number; intercepted: boolean };
    expect(intercepted).toBe(truth > 0);
    expect(Math.abs(overheadNs - truth)).toBeLessThan(100);
  });
});
