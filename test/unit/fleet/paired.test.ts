/** Comparisons over a fleet: the effect within each card is one value. */
import { expect, it } from 'vitest';
import { readPlan } from '../../../lib/fleet/plan.js';
import { fleetReport } from '../../../lib/fleet/report/fleet-report.js';
import { card, comparison } from '../gate/fixtures.js';
import { deliver, fleetFolder, planOf } from './fixtures.js';

const settings = { limits: [], least: 0.05 };

/** Cards differ by half; the layer adds a tenth on each. */
function comparedOn(level: number, factor: number, uuid: string) {
  const rounds = [1, 1.004, 0.996].map((noise) => level * noise);
  return comparison(
    { native: { 'OH-001': rounds }, layer: { 'OH-001': rounds.map((value) => factor * value) } },
    { round: { gpu: [card({ uuid })] } },
  );
}

async function reportOn(factors: readonly number[]) {
  const folder = fleetFolder(planOf(factors.length, { command: 'compare' }));
  for (const [i, factor] of factors.entries()) deliver(folder, i, comparedOn(5 + i, factor, `GPU-${i}`));
  return fleetReport(folder, await readPlan(folder), settings);
}

it('finds on cards that differ by more what a layer costs on each', async () => {
  const { paired, spreads } = await reportOn([1.1, 1.11, 1.09, 1.1]);
  const [effect] = paired;
  expect(effect).toMatchObject({
    ...{ group: 'A', system: 'layer', baseline: 'native', metric: 'OH-001', unit: null, cards: 4, verdict: 'slower' },
    centre: expect.closeTo(1.1, 3),
  });
  expect(effect?.ci95?.[0]).toBeGreaterThan(1.08);
  expect(effect?.ci95?.[1]).toBeLessThan(1.12);
  const native = spreads.find(({ system, baseline }) => system === 'native' && baseline === null);
  expect(native?.spread).toBeCloseTo(3 / 6.5, 2);
  expect(native?.max).toEqual({ value: 8, gpu: 'GPU-3', node: 'n3' });
});

it('has no interval and no verdict for one card', async () => {
  const { paired } = await reportOn([1.1]);
  expect(paired).toMatchObject([{ cards: 1, ci95: null, p: null, betweenCards: null, verdict: null }]);
});

it('finds a card on which the layer costs more than on others', async () => {
  const factors = Array.from({ length: 12 }, (_, i) => 1.1 + 0.002 * Math.sin(7 * i));
  const { outliers } = await reportOn([...factors, 1.6]);
  expect(outliers.filter(({ baseline }) => baseline !== null)).toMatchObject([
    { rule: 'mad', system: 'layer', baseline: 'native', node: 'n12', gpu: 'GPU-12', side: 'worse' },
  ]);
});

it('refuses a comparison whose rounds are of several cards', async () => {
  const folder = fleetFolder(planOf(1, { command: 'compare' }));
  const document = comparedOn(5, 1.1, 'GPU-0');
  const [native, layer = []] = document.systems;
  const other = layer.map((round) => ({ ...round, gpu: [card({ uuid: 'GPU-1' })] }));
  deliver(folder, 0, { ...document, systems: [native ?? [], other] });
  const { coverage } = await fleetReport(folder, await readPlan(folder), settings);
  expect(coverage.tasks).toMatchObject([
    { state: 'refused', reason: 'its rounds are of several GPUs, GPU-0 and GPU-1, which cannot be paired' },
  ]);
});
