/** `gpu-virt-bench compare [SELECTOR…]` */
import { planComparison } from '../../api/compare.js';
import type { Comparison } from '../../api/comparison.js';
import { fewestRounds } from '../../api/rounds.js';
import { pricesFrom, pricesIn, type Prices } from '../../costs/read-prices.js';
import { parsePurpose, purposeText } from '../../metrics/purposes.js';
import { percentOf } from '../../report/tables/detection.js';
import { byMetricId } from '../../results/metric-order.js';
import { duration, plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { refuseUnavailable } from '../../run/plan/unavailable.js';
import { FEWEST_ROUNDS, PILOT_ROUNDS } from '../../run/effects/detect.js';
import { processesText } from '../../run/plan/processes-per-round.js';
import { here, type Surroundings } from '../../systems/kinds.js';
import { parseSystems } from '../../systems/input/parse.js';
import type { System } from '../../systems/system.js';
import type { RawComparing } from '../comparing/comparing-task.js';
import { measureAndPublish } from '../comparing/measure-and-publish.js';
import { type RawDetecting, roundsGiven } from '../comparing/rounds-given.js';
import { sayUnavailable, toleranceOf } from '../comparing/tolerance.js';
import { exitCodes } from '../options/exit-codes.js';
import { prepareGating } from '../comparing/gating.js';
import type { RawPricing } from '../../run/effects/pricing.js';
import { budgetGiven, budgetText, type RawBudgeting } from '../comparing/budgeting.js';
import { parseRunOptions } from '../options/options.js';
import { writeText } from '../files/output.js';
import { warn } from '../terminal/talk.js';
import {
  checkUnchanged,
  continuedOptions,
  describeRequest,
  readRequest,
  type StoredRequest,
  storedSystems,
} from '../comparing/stored-request.js';

export interface RawCompareOptions extends RawComparing, RawDetecting, RawBudgeting, RawPricing {
  for?: string;
  system?: string[];
  config?: string;
}

/**
 * `isGiven` tells whether the user named an option; the others have defaults, or values from the comparison that
 * --resume continues.
 */
export async function compare(
  selectors: string[],
  given: RawCompareOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const stored = given.resume === undefined ? null : await readRequest(given.resume);
  const raw = stored ? { ...given, ...continuedOptions(stored, isGiven) } : given;
  const options = parseRunOptions(raw);
  const { tier, seed } = options;
  const rounds = roundsGiven(raw);
  const budgetSeconds = budgetGiven(raw, isGiven);
  const { systems, prices } = await subjects(raw, stored);
  const comparison = await planComparison({
    systems,
    selectors: stored && selectors.length === 0 ? stored.metrics : selectors,
    purpose: raw.for === undefined ? null : parsePurpose('--for', raw.for),
    tier,
    seed,
    rounds,
    budgetSeconds,
    tolerance: toleranceOf(raw),
    prices,
    profile: raw.profile,
  });
  const { plan, rounds: planned } = comparison;
  const words = [
    planText(comparison),
    ...(plan.purpose ? [purposeText(plan.purpose)] : []),
    ...(budgetSeconds === null ? [] : [budgetText(budgetSeconds, plan, fewestRounds(planned))]),
  ];
  const kept = await describeRequest(comparison, raw, { ...(prices && { prices: prices.source }) });
  if (stored) checkUnchanged(stored, kept, given.resume as string);
  const gating = await prepareGating(raw, comparison, options.outputs);
  refuseUnavailable({ systems, ...comparison.tolerance });
  if (options.dryRun) {
    await writeText(`${words.join('\n')}\n`);
    sayUnavailable(systems);
    return exitCodes.ok;
  }
  const inputs = [raw.gate, raw.config, raw.profile].filter((file) => file !== undefined);
  return measureAndPublish({ raw, options, comparison, words, kept, gating, inputs, isResumed: stored !== null });
}

interface Configured {
  systems: System[];
  prices: Prices | null;
}

async function configured(config: string, surroundings: Surroundings): Promise<Configured> {
  const { readConfig } = await import('../../systems/input/config.js');
  const { systems, top, source } = await readConfig(config, surroundings);
  if (top.has('workloads'))
    warn(
      `${config} has workloads, which only exec runs: compare measures the metrics that you name, under its systems.`,
    );
  return { systems, prices: source.at([], () => pricesIn(top)) };
}

async function subjects(raw: RawCompareOptions, stored: StoredRequest | null): Promise<Configured> {
  const allowMissing = raw.allowMissing ?? false;
  if (stored && raw.system === undefined && raw.config === undefined)
    return { systems: storedSystems(stored, allowMissing), prices: pricesFrom(stored.prices) };
  const surroundings = { ...here(), allowMissing };
  const named = parseSystems(raw.system ?? [], surroundings);
  const file = raw.config === undefined ? null : await configured(raw.config, surroundings);
  return { systems: [...(file?.systems ?? []), ...named], prices: file?.prices ?? null };
}

function planText({ plan, systems, rounds: planned }: Comparison) {
  const { metrics: selected, tier, seed, estimatedSeconds, purpose, processes } = plan;
  const ids = selected.map(({ id }) => id).sort(byMetricId);
  const time = (count: number) => duration(estimatedSeconds * systems.length * count);
  const more = processesText(processes);
  const names = systems.map(({ name }) => plain(name)).join(', ');
  const text = (rounds: string, about: string) =>
    `Plan: ${systems.length} systems (${names}) × ${rounds} × ${counted(ids.length, 'metric')}${purpose ? ` for ${purpose}` : ''} (${ids.join(', ')}), tier ${tier}, seed ${seed}${more === null ? '' : `, processes per round: ${more}`}, about ${about}`;
  if (typeof planned === 'number') return text(counted(planned, 'round'), time(planned));
  const { effect, mostRounds } = planned;
  return text(
    `${PILOT_ROUNDS} rounds of a pilot, then ${FEWEST_ROUNDS} to ${mostRounds} rounds that detect ${percentOf(effect)}`,
    `${time(PILOT_ROUNDS + FEWEST_ROUNDS)} to ${time(PILOT_ROUNDS + mostRounds)}`,
  );
}
