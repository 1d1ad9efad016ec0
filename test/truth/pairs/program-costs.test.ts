/**
 * A program's predicted cost, from its call profile and the prices of calls, compared with the recorded durations under
 * the layer.
 */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { programCosts } from '../../../lib/metrics/core/program-costs.js';
import { counterLibrary, interposerLibrary, keeperOrThrow } from '../../../lib/native/load.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { recordCalls } from '../../../lib/run/plan/record-calls.js';
import { median } from '../../../lib/stats/median.js';
import { measure } from '../../native/child.js';
import { countedProgram } from '../../native/counted-program.js';
import { environment } from '../../native/measured.js';
import { durationOf, type Recorded, type RecordedCall, recordedIn } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';
import { temporaryFolder } from '../../temporary.js';
import { undisturbed } from '../../undisturbed.js';
import { callProfile, phase } from '../../unit/profile-fixtures.js';
import { runDocument } from '../../unit/run/fixtures.js';

const LAYER = 'cuCtxGetCurrent=+5us,cuMemGetInfo_v2=+20us';
const STEPS = 40;
const ROUNDS = 3;
/** How many readings of the clock a call may be off: the record has its own around both the layer and the driver. */
const CALL_READINGS = 8;

const program = countedProgram();

async function profiled() {
  const { phases, ending } = await recordCalls({
    command: [program, 'steps'],
    environment: environment(null),
    library: counterLibrary() ?? '',
    keeper: keeperOrThrow(),
    window: { name: 'all', from: 0, for: null, steps: STEPS },
    onStart: () => {},
    onPhase: () => {},
    onWarning: () => {},
  });
  expect(ending.code).toBe(0);
  return phase(phases[0]?.calls ?? {}, { seconds: phases[0]?.seconds ?? 0, steps: STEPS });
}

/** Rounds in which both the layer and the driver record, as when the program is recorded. */
async function prices(): Promise<MetricResult[]> {
  const results: MetricResult[] = [];
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const [result] = await undisturbed(
      () => {
        const record = temporaryFolder('record');
        const layer = { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: LAYER, GVB_INTERPOSE_RECORD: record };
        return measure([['measureApiInterception', { seed }]], { sim: { record }, environment: layer });
      },
      (measured) => measured,
    );
    if (result) results.push(result);
  }
  return results;
}

function recordedRun(layer: string | null): Recorded {
  const folder = temporaryFolder('record');
  const { status } = spawnSync(program, ['steps'], { env: environment(layer, '', folder), stdio: 'inherit' });
  expect(status).toBe(0);
  return recordedIn(folder);
}

const typicalNs = (calls: readonly RecordedCall[]): number => median(calls.map(durationOf)).value;

it('predicts what a layer adds to a program', async () => {
  const counted = await profiled();
  const results = await prices();
  const rounds = results.map((result) => runDocument({ metrics: [result] }));
  const [cost] = programCosts(callProfile(counted), [rounds]);
  const under = recordedRun(LAYER);
  const alone = recordedRun(null);
  const through = under.joined();
  // Interruptions of the program's calls are not part of the layer's price.
  const addedUs = (name: string) => {
    const count = under.hooked(name).length;
    expect(counted.calls[name]).toBe(count);
    return (count * (typicalNs(through.named(name)) - typicalNs(alone.named(name)))) / STEPS / 1e3;
  };
  const hooked = ['cuCtxGetCurrent', 'cuMemGetInfo_v2'];
  const truth = hooked.map(addedUs).reduce((a, b) => a + b);
  const callsPerStep = hooked.reduce((sum, name) => sum + (counted.calls[name] ?? 0), 0) / STEPS;
  const tolerance = (CALL_READINGS * callsPerStep * Math.max(under.readingNs, alone.readingNs)) / 1e3;
  expectRecovered([
    [
      'a step',
      { value: cost?.taxUs ?? null, ci95: cost?.ci95 ?? null },
      { truth, tolerance, resolution: tolerance + 0.03 * truth },
    ],
  ]);
  expect(cost?.calls.filter(({ taxUs }) => taxUs > 0).map(({ call }) => call)).toEqual([
    'cuMemGetInfo_v2',
    'cuCtxGetCurrent',
  ]);
});
