/** `compare` sees a known delay, and nothing between a system and itself. */
import { join } from 'node:path';
import { mean } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import type { RunDocument } from '../../../lib/document.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { median } from '../../../lib/stats/median.js';
import { command, emptyFolder, parseComparison } from '../../cli/command.js';
import { durationOf, LOOP_READINGS, type Recorded, recordedByProcess } from '../../native/record.js';
import { onOneProcessor } from '../../processors.js';
import { recordedLaunches } from '../../native/recorded-launches.js';

const oneProcessor = onOneProcessor('comparisons of OH-001');
const interposer = interposerLibrary() ?? '';
const sim = 'init_ms=8,context_ms=8,alloc_us=5,free_us=5';
const base = ['compare', '--simulate', '--tier', 'quick', '--seed', '1', '--json', '-'];

const compare = (args: readonly string[], more = '') =>
  command([...base, '--output', join(emptyFolder(), 'out'), ...args], {}, sim + more);

const slow = (name: string, delay: string, record: string) =>
  `custom:name=${name},env.LD_PRELOAD=${interposer},env.GVB_INTERPOSE=cuLaunchKernel=+${delay},env.GVB_INTERPOSE_RECORD=${record}`;

interface Arm {
  startNs: number;
  halfWidthNs: number;
}

/** From the call to the start of the kernel, over the recorded launches of some processes. */
function armOf(processes: readonly Recorded[]): Arm {
  const medians = processes.map((process) => median(recordedLaunches(process.joined(), 'cuLaunchKernel').starts));
  const halfWidths = medians.map(({ ci95 }) => (ci95 ? ci95[1] - ci95[0] : Number.NaN) / 2);
  return { startNs: mean(medians.map(({ value }) => value)), halfWidthNs: Math.max(...halfWidths) };
}

/** What the mapping of clocks may add to the launches of a round, in ns. */
function mappingNs({ metrics: [launch] }: RunDocument): number {
  const [call] = launch?.details.calls as { mapping: { residualNs: number; tickNs: number } }[];
  return 2 * (call?.mapping.residualNs ?? Number.NaN) + (call?.mapping.tickNs ?? Number.NaN);
}

describe('compare', () => {
  it.skipIf(oneProcessor)(
    'finds a known delay, with ratio, interval and verdict, and says what is not proven',
    async () => {
      const record = emptyFolder();
      const systems = ['--system', 'native', '--system', slow('slow', '2us', record)];
      const { code, stdout, stderr } = await compare(
        ['OH-001', 'OH-005', ...systems, '--rounds', '3', '--iterations', '200'],
        `,record=${record},recorded=cuLaunchKernel+cuStreamSynchronize`,
      );
      expect(code).toBe(0);
      const document = parseComparison(stdout);
      expect(document.plan.systems).toEqual(['native', 'slow (unverified)']);
      expect(document.plan.order.map((round) => round[0])).toEqual(['native', 'slow (unverified)', 'native']);
      const launch = document.effects.find(({ metric }) => metric === 'OH-001');
      expect(launch).toMatchObject({ system: 'slow (unverified)', baseline: 'native', rounds: 3, verdict: 'slower' });
      const processes = recordedByProcess(record).filter(
        (process) => recordedLaunches(process.joined(), 'cuLaunchKernel').starts.length > 0,
      );
      const [layered, plain] = [true, false].map((hooks) =>
        processes.filter((process) => process.hooked('cuLaunchKernel').length > 0 === hooks),
      ) as [Recorded[], Recorded[]];
      expect([layered.length, plain.length]).toEqual([3, 3]);
      const [delayed, bare] = [armOf(layered), armOf(plain)];
      const readingNs = Math.max(...processes.map((process) => process.readingNs));
      const rounds = document.systems.flat().map(mappingNs);
      const toleranceNs =
        2 * LOOP_READINGS * readingNs + 2 * (delayed.halfWidthNs + bare.halfWidthNs) + 2 * Math.max(...rounds);
      const differenceNs = delayed.startNs - bare.startNs;
      expect(differenceNs).toBeGreaterThan(1_960);
      expect(Math.abs(1e3 * (launch?.difference ?? Number.NaN) - differenceNs)).toBeLessThan(toleranceNs);
      // The loop's own readings are in both terms.
      const ratio = (delayed.startNs + 2 * readingNs) / (bare.startNs + 2 * readingNs);
      expect(Math.abs((launch?.ratio ?? Number.NaN) - ratio)).toBeLessThan(toleranceNs / bare.startNs);
      const hookNs = mean(layered.map((process) => median(process.hooked('cuLaunchKernel').map(durationOf)).value));
      const interception = document.effects.find(({ metric }) => metric === 'OH-005');
      // Around the hook's own time its record reads the clock twice.
      const interceptedNs = (interception?.difference ?? Number.NaN) - 2 * readingNs;
      expect(Math.abs(interceptedNs - hookNs)).toBeLessThan(LOOP_READINGS * readingNs);
      expect(stderr).toMatch(/^Plan: 2 systems \(native, slow \(unverified\)\) × 3 rounds × 2 metrics/m);
    },
  );
});

// Those that are over in a second or two. Side by side, as starts wait more than they compute.
const short = metrics
  .filter(({ seconds, needs }) => seconds.quick <= 2 && !needs.includes('a native arm'))
  .filter(({ id }) => !oneProcessor || id !== 'OH-001');

// Once: tries would hide how often there is one.
describe.concurrent('compare raises no alarm between a system and itself', () => {
  it.each(['process', 'fresh-processes'] as const)('in what is measured in: %s', async (where) => {
    const ids = short.filter((metric) => metric.where === where).map(({ id }) => id);
    const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
    const few = where === 'process' ? ['--iterations', '60'] : [];
    const { code, stdout } = await compare([...ids, ...systems, '--rounds', '3', ...few]);
    expect(code).toBe(0);
    const { effects } = parseComparison(stdout);
    expect(effects.map(({ metric }) => metric)).toEqual(ids);
    for (const { verdict } of effects) expect(['same', 'ambiguous']).toContain(verdict);
  });
});
