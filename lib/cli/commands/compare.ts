/** `gpu-virt-bench compare [SELECTOR…]` */
import { Costing } from '../../costs/concluded.js';
import { pricesFrom, pricesIn, type Prices } from '../../costs/read-prices.js';
import { parsePurpose, purposeText } from '../../metrics/purposes.js';
import { metrics } from '../../metrics/registry.js';
import { percentOf } from '../../report/tables/detection.js';
import { byMetricId } from '../../results/metric-order.js';
import { duration, plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { planWithin } from '../../run/plan/budget.js';
import { refuseUnavailable } from '../../run/compare.js';
import { type Aim, checkDetectable, FEWEST_ROUNDS, PILOT_ROUNDS } from '../../run/effects/detect.js';
import { makePlan, type Plan, ROUNDS } from '../../run/plan/plan.js';
import { processesText, withProcesses } from '../../run/plan/processes-per-round.js';
import { comparedMetrics } from '../../run/plan/selection.js';
import { UsageError } from '../../errors/usage-error.js';
import { checkLabels, here, type Surroundings } from '../../systems/kinds.js';
import { parseSystems } from '../../systems/input/parse.js';
import type { System } from '../../systems/system.js';
import { measureAndPublish, parseRounds, type RawComparing, sayUnavailable, toleranceOf } from './comparing.js';
import { parseAim, type RawDetecting } from './detecting.js';
import { exitCodes } from '../options/exit-codes.js';
import { prepareGating } from './gating.js';
import { preparePricing, type RawPricing } from '../../run/effects/pricing.js';
import { budgetGiven, budgetText, type RawBudgeting } from './budgeting.js';
import { parseRunOptions } from '../options/options.js';
import { writeText } from '../files/output.js';
import { warn } from '../terminal/talk.js';
import { checkUnchanged, continuedOptions, describeRequest, readRequest, storedSystems } from './stored-request.js';

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
  const isSystemGiven = raw.system !== undefined || raw.config !== undefined;
  const { systems, prices } =
    stored && !isSystemGiven
      ? { systems: storedSystems(stored, raw.allowMissing ?? false), prices: pricesFrom(stored.prices) }
      : await parseAll(raw);
  const costing = new Costing(prices, systems);
  const aim = parseAim(raw);
  const budget = budgetGiven(raw, isGiven);
  const selection = comparedMetrics({
    selectors: stored && selectors.length === 0 ? stored.metrics : selectors,
    purpose: raw.for === undefined ? null : parsePurpose('--for', raw.for),
  });
  const budgeted =
    budget === null ? null : planWithin({ metrics: selection.metrics, systems: systems.length, seconds: budget });
  const tier = budgeted?.tier ?? options.tier;
  const rounds = budgeted?.rounds ?? parseRounds(raw.rounds) ?? ROUNDS[tier];
  const plan = withProcesses(makePlan(selection.metrics, tier, options.seed, selection.purpose), systems.length);
  if (aim) checkDetectable(plan.metrics);
  const words = [
    planText(plan, systems, aim ?? rounds),
    ...(plan.purpose ? [purposeText(plan.purpose)] : []),
    ...(budget === null ? [] : [budgetText(budget, plan, rounds)]),
  ].join('\n');
  const kept = await describeRequest(
    plan,
    { ...raw, tier, seed: `${plan.seed}`, ...(!aim && { rounds: `${rounds}` }) },
    systems,
    { ...(prices && { prices: prices.source }) },
  );
  if (stored) checkUnchanged(stored, kept, given.resume as string);
  const pricing = await preparePricing(raw, kept.metrics);
  const gating = await prepareGating(raw, systems, options.outputs, aim ? FEWEST_ROUNDS : rounds, metrics);
  refuseUnavailable({ systems, ...toleranceOf(raw) });
  if (options.dryRun) {
    await writeText(`${words}\n`);
    sayUnavailable(systems);
    return exitCodes.ok;
  }
  const inputs = [raw.gate, raw.config, raw.profile].filter((file) => file !== undefined);
  return measureAndPublish({
    raw,
    options,
    plan,
    systems,
    rounds,
    aim,
    words,
    kept,
    gating,
    inputs,
    isResumed: stored !== null,
    onCard: (card) => costing.onCard(card),
    finished: (document) => costing.conclude(pricing(document)),
  });
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

async function parseAll(raw: RawCompareOptions): Promise<Configured> {
  const surroundings = { ...here(), allowMissing: raw.allowMissing ?? false };
  const named = parseSystems(raw.system ?? [], surroundings);
  const file = raw.config === undefined ? null : await configured(raw.config, surroundings);
  const systems = [...(file?.systems ?? []), ...named];
  checkLabels(systems);
  if (systems.length < 2)
    throw new UsageError(
      `Expected at least two systems to compare but received ${systems.length}: name them with --system, e.g. --system native --system hami-core:library=/path/libvgpu.so,memory=10GiB.`,
    );
  return { systems, prices: file?.prices ?? null };
}

function planText(
  { metrics: selected, tier, seed, estimatedSeconds, purpose, processes }: Plan,
  systems: readonly System[],
  planned: number | Aim,
) {
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
