/** The calibration interposer against the simulated GPU: its delays are what it was told, and what OH-001 pairs. */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { measureRecorded } from '../../native/child.js';
import { durationOf, LOOP_READINGS } from '../../native/record.js';
import { type Estimate, expectRecovered, type Truth } from '../../native/recovered.js';
import { onOneProcessor } from '../../processors.js';
import { undisturbed } from '../../undisturbed.js';

const quick = { init_ms: 1, context_ms: 1 };
const library = interposerLibrary() ?? '';

interface FunctionRow {
  name: string;
  intercepted: boolean;
  overheadNs: number;
  ci95: [number, number];
}

/** What OH-005 says of a hooked function, and what its hook is recorded to have taken. */
async function hookUnder(interpose: string, name: string) {
  const { results, recorded } = await measureRecorded([['measureApiInterception', { iterations: 50 }]], {
    sim: { ...quick, recorded: 'cuInit' },
    environment: { LD_PRELOAD: library, GVB_INTERPOSE: interpose },
  });
  const row = (results[0]?.details.functions as FunctionRow[]).find((one) => one.name === name) as FunctionRow;
  const hooks = recorded.hooked(name).map(durationOf);
  expectRecovered([
    [
      name,
      { value: row.overheadNs, ci95: row.ci95 },
      // Less what the driver's own call takes, which is in both of a pair and, behind the hook, in its record.
      recorded.truth(hooks, { samples: hooks.length }),
    ],
  ]);
  return median(hooks).value;
}

const estimateOf = ({ overheadNs, ci95 }: FunctionRow): Estimate => ({ value: overheadNs, ci95 });

/** With a record of another call, for what a reading of the clock costs. */
const launchesUnder = (environment: NodeJS.ProcessEnv = {}) =>
  undisturbed(
    () =>
      measureRecorded([['measureKernelLaunch', { iterations: 80 }]], {
        sim: { ...quick, recorded: 'cuInit' },
        environment,
      }),
    (measured) => measured.results,
  );

/** Half of the delay that is looked for: no wider may the interval of the pairs be. */
const RESOLUTION_NS = 500;

/** Of launches after a pause, whose code and data other programs take out of the caches: each pair differs by more. */
const isolated = (truth: number, readingNs: number): Truth => ({
  truth,
  tolerance: LOOP_READINGS * readingNs,
  resolution: RESOLUTION_NS,
});

/** A delay that was asked for is never shorter, but for the calibration of the counter it is timed by. */
const SHORTEST = 0.98;

const oneProcessor = onOneProcessor('OH-001, whose host and simulated device have to run at once');

describe('the calibration interposer', () => {
  it('takes the time it was told to', async () =>
    expect(await hookUnder('cuCtxGetDevice=+1us', 'cuCtxGetDevice')).toBeGreaterThan(1_000 * SHORTEST));

  it('adds what each live block costs, and a token where there is a limit', async () => {
    // One block is live while OH-005 makes its calls.
    expect(await hookUnder('perlive=1us', 'cuPointerGetAttribute')).toBeGreaterThan(1_000 * SHORTEST);
    expect(await hookUnder('token=1us', 'cuLaunchKernel')).toBeGreaterThan(1_000 * SHORTEST);
    const both = await hookUnder('cuLaunchKernel=+1us,token=1us@50', 'cuLaunchKernel');
    expect(both).toBeGreaterThan(2_000 * SHORTEST);
    expect(both - (await hookUnder('cuLaunchKernel=+1us,token=1us@100', 'cuLaunchKernel'))).toBeGreaterThan(500);
  });

  it.skipIf(oneProcessor)('without a delay on an isolated launch is nothing that OH-001 pairs', async () => {
    const { results, recorded } = await launchesUnder();
    const pair = results[0]?.details.pair as FunctionRow;
    expect(pair.intercepted).toBe(false);
    expectRecovered([['pair', estimateOf(pair), isolated(0, recorded.readingNs)]]);
  });

  it.skipIf(oneProcessor)('with a delay on an isolated launch is what OH-001 pairs', async () => {
    const { results, recorded } = await launchesUnder({ LD_PRELOAD: library, GVB_INTERPOSE: 'cuLaunchKernel=+1us' });
    const pair = results[0]?.details.pair as FunctionRow;
    expect(pair.intercepted).toBe(true);
    const spent = median(recorded.hooked('cuLaunchKernel').map(durationOf)).value;
    expect(spent).toBeGreaterThan(980);
    // The hook reads the clock for its record as well, saves the arguments and restores them.
    const addedNs = spent + 2 * recorded.readingNs;
    expectRecovered([['pair', estimateOf(pair), isolated(addedNs, recorded.readingNs)]]);
  });
});
