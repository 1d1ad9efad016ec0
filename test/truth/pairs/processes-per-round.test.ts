/** The values of a round's further processes match the calls that the simulated driver recorded in each of them. */
import { expect, it } from 'vitest';
import { makePlan } from '../../../lib/run/plan/plan.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { emptyFolder } from '../../native/child.js';
import { compared, environment } from '../../native/compared.js';
import { durationOf, recordedByProcess, type Recorded } from '../../native/record.js';
import { expectRecovered } from '../../native/recovered.js';
import { metricNamed } from '../../metric-named.js';

const PROCESSES = 3;
const ITERATIONS = 40;
const BYTES = 2 * 1024 ** 2;
const NS_PER_US = 1e3;

const allocationsIn = (recorded: Recorded) => recorded.named('cuMemAlloc_v2').filter(({ bytes }) => bytes === BYTES);

it('measures the value in every process of a round, and only the value in the further ones', async () => {
  const folders = [emptyFolder(), emptyFolder()];
  const systems = folders.map((folder, index) => ({
    ...environmentSystem({ ...environment, GVB_SIM: `${environment.GVB_SIM},alloc_us=30,record=${folder}` }),
    name: `system ${index}`,
  }));
  const { documents, origins } = await compared(systems, 1, {
    plan: { ...makePlan([metricNamed('OH-002')], 'quick', 1), processes: { 'OH-002': PROCESSES } },
    options: { path: 'runtime', iterations: ITERATIONS },
  });
  expect(origins).toEqual([['measured'], ['measured']]);
  const processes = folders.map((folder) =>
    recordedByProcess(folder).filter((recorded) => allocationsIn(recorded).length > ITERATIONS),
  );
  for (const [system, recorded] of processes.entries()) {
    const [round] = documents[system] ?? [];
    const [result] = round?.metrics ?? [];
    if (!round || !result) throw new Error('Nothing was measured.');
    expect(recorded).toHaveLength(PROCESSES);
    expect(round.system.processes).toEqual({ proven: PROCESSES, of: PROCESSES });
    expect(round.plan.processes).toEqual({ 'OH-002': PROCESSES });
    expect(result).toMatchObject({ status: 'ok', processes: PROCESSES, stats: { count: PROCESSES * ITERATIONS } });
    expect(result).not.toHaveProperty('samples');
    const values = result.processValues ?? [];
    const mean = Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
    expect(result.value).toBeCloseTo(mean, 9);
    for (const [i, process] of recorded.slice(0, -1).entries()) {
      // The timed calls are the last ones; before them are those of the live blocks, and the warm-up.
      const timed = allocationsIn(process).slice(-ITERATIONS).map(durationOf);
      const value = values[i] as number;
      const truth = process.truthOfSameCalls(timed, { unitNs: NS_PER_US });
      expectRecovered([[`process ${i + 1}`, { value, ci95: [value, value] }, truth]]);
      // No other size, no other way to allocate, no pairs.
      expect(
        new Set(
          process
            .named('cuMemAlloc_v2')
            .map(({ bytes }) => bytes)
            .filter((bytes) => bytes >= BYTES),
        ),
      ).toEqual(new Set([BYTES]));
      for (const other of ['cuMemCreate', 'cuMemAllocAsync']) expect(process.named(other)).toEqual([]);
    }
  }
  const turns = processes.flatMap((its, system) =>
    its.map((process) => ({ system, at: process.calls[0]?.entered ?? 0 })),
  );
  expect(turns.sort((a, b) => a.at - b.at).map(({ system }) => system)).toEqual([0, 1, 1, 0, 0, 1]);
});
