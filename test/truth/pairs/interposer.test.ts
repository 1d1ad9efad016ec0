/** The calibration interposer on the simulated GPU: its delays match its settings, and OH-001's pairs. */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { measureRecorded } from '../../native/child.js';
import { durationOf, LOOP_READINGS, WRITING_NS } from '../../native/record.js';
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

/** OH-005's result for a hooked function, and the recorded durations of its hook. */
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
      // Minus the driver's own call, which both calls of a pair make and which the hook's record includes.
      recorded.truth(hooks, { samples: hooks.length, moreNs: WRITING_NS }),
    ],
  ]);
  return median(hooks).value;
}

const estimateOf = ({ overheadNs, ci95 }: FunctionRow): Estimate => ({ value: overheadNs, ci95 });

/** Measures launches, with the record of another call for the cost of a clock reading. */
const launchesUnder = (environment: NodeJS.ProcessEnv = {}) =>
  undisturbed(
    () =>
      measureRecorded([['measureKernelLaunch', { iterations: 80 }]], {
        sim: { ...quick, recorded: 'cuInit' },
        environment,
      }),
    (measured) => measured.results,
  );

/** Half of the delay: the widest allowed interval of the pairs. */
const RESOLUTION_NS = 500;

/**
 * The truth for launches after a pause, whose code and data other programs evict from the caches, so each pair varies
 * more.
 */
const isolated = (truth: number, readingNs: number): Truth => ({
  truth,
  tolerance: LOOP_READINGS * readingNs,
  resolution: RESOLUTION_NS,
});

/** A delay is never shorter than configured, except for the calibration of its counter. */
const SHORTEST = 0.98;

const oneProcessor = onOneProcessor('OH-001, whose host and simulated device have to run at once');

describe('the calibration interposer', () => {
  it('takes the configured time', async () =>
    expect(await hookUnder('cuCtxGetDevice=+1us', 'cuCtxGetDevice')).toBeGreaterThan(1_000 * SHORTEST));

  it('adds a cost per live block, and a token if there is a limit', async () => {
    // One block is live while OH-005 makes its calls.
    expect(await hookUnder('perlive=1us', 'cuPointerGetAttribute')).toBeGreaterThan(1_000 * SHORTEST);
    expect(await hookUnder('token=1us', 'cuLaunchKernel')).toBeGreaterThan(1_000 * SHORTEST);
    const both = await hookUnder('cuLaunchKernel=+1us,token=1us@50', 'cuLaunchKernel');
    expect(both).toBeGreaterThan(2_000 * SHORTEST);
    expect(both - (await hookUnder('cuLaunchKernel=+1us,token=1us@100', 'cuLaunchKernel'))).toBeGreaterThan(500);
  });

  it.skipIf(oneProcessor)("without a delay adds nothing to OH-001's pairs of isolated launches", async () => {
    const { results, recorded } = await launchesUnder();
    const pair = results[0]?.details.pair as FunctionRow;
    expect(pair.intercepted).toBe(false);
    expectRecovered([['pair', estimateOf(pair), isolated(0, recorded.readingNs)]]);
  });

  it.skipIf(oneProcessor)("with a delay adds that delay to OH-001's pairs of isolated launches", async () => {
    const { results, recorded } = await launchesUnder({ LD_PRELOAD: library, GVB_INTERPOSE: 'cuLaunchKernel=+1us' });
    const pair = results[0]?.details.pair as FunctionRow;
    expect(pair.intercepted).toBe(true);
    const spent = median(recorded.hooked('cuLaunchKernel').map(durationOf)).value;
    expect(spent).toBeGreaterThan(980);
    // The hook also reads the clock for its record, and saves and restores the arguments.
    const addedNs = spent + 2 * recorded.readingNs;
    expectRecovered([['pair', estimateOf(pair), isolated(addedNs, recorded.readingNs)]]);
  });
});
