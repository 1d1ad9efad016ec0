/** Compares results with thresholds: a list of cases, each of which counts as passed or failed. */
import { isNative } from '../results/recorded-kind.js';
import type { Effect, MetricResult } from '../results/document.js';
import type { MetricDefinition } from '../metrics/core/metric.js';
import { effectText } from '../results/text/effect-text.js';
import { number } from '../results/text/plain.js';
import { estimateText, inOneLine } from '../results/text/quantity.js';
import type { ResultDocument } from '../results/kinds.js';
import { type Cell, type SystemView, viewOf } from '../results/view.js';
import { violationsIn } from '../results/violations.js';
import { boundOf, type Delta } from '../stats/rule/effect.js';
import type { Interval } from '../stats/rule/estimate.js';
import type { Case } from './document.js';
import { FEWEST_ROUNDS, MORE_ROUNDS } from './defaults.js';
import { limitInterval } from './limit-interval.js';
import type { Counting, MetricThresholds, Thresholds } from './thresholds.js';
import { type Judged, judgedAgainst, type Tolerated } from './tolerance.js';

interface Judgement {
  document: ResultDocument;
  thresholds: Thresholds;
  metrics: readonly MetricDefinition[];
  /** A stored baseline and the effects against it. Null: the effects of the document itself, against its first system. */
  stored: { name: string; effects: readonly Effect[] } | null;
}

/** Improvements from this size on are reported. */
const IMPROVEMENT = 0.1;

export const GATE_RULE =
  'A change fails if a difference is shown (of those that are shown, at most 5 % are expected to be false) and its whole 95 % interval lies beyond the tolerance; it passes if it is shown to be within (one-sided test at 5 %). A limit fails or passes by one-sided tests at 5 % over all limits of the gate together.';

/**
 * The outcomes, by system and then by metric. The first system of a comparison, the reference, is judged only if the
 * thresholds name it or there is a stored baseline; all others always. A failure in it fails the gate in any case.
 */
export function judge({ document, thresholds, metrics, stored }: Judgement): Case[] {
  const { systems, categories, effects } = viewOf(document);
  const rows = categories.flatMap((category) => category.rows);
  const definitions = metrics.filter(
    ({ id }) => thresholds.metrics.get(id)?.named || rows.some((row) => row.id === id),
  );
  const limits = definitions.filter(({ id }) => thresholds.metrics.get(id)?.limit != null).length;
  return systems.flatMap((system) => {
    const known = (stored?.effects ?? effects).filter((each) => each.system === system.name);
    const judged = judgedIn(known, metrics, thresholds);
    return definitions.flatMap((metric) => {
      const cell = rows.find(({ id }) => id === metric.id)?.cells.find((each) => each.system === system.name);
      const about: About = {
        metric,
        cell,
        system,
        settings: thresholds.metrics.get(metric.id) as MetricThresholds,
        missing: thresholds.missing,
        oneRoundFails: thresholds.oneRound !== 'pass',
        reference: stored ? `baseline ${stored.name}` : (systems[0]?.name ?? ''),
        effect: known.find((each) => each.metric === metric.id),
        judged: judged.get(metric.id) ?? null,
        limits: limits * systems.filter((each) => isJudged(each, thresholds, stored !== null)).length,
        hasReference: stored !== null || systems.length > 1,
      };
      return isJudged(system, thresholds, stored !== null) ? casesOf(about) : brokenCases(about);
    });
  });
}

/** The effects of one system are one family, whatever the gate checks of them. */
function judgedIn(
  effects: readonly Effect[],
  metrics: readonly MetricDefinition[],
  thresholds: Thresholds,
): Map<string, Judged> {
  const family = effects.flatMap((effect): Tolerated[] => {
    const metric = metrics.find(({ id }) => id === effect.metric);
    if (!metric || metric.direction === 'none') return [];
    // Without a tolerance the metric's own δ: the effect is part of the family all the same.
    const allowed = thresholds.metrics.get(metric.id)?.regression ?? metric.delta;
    return [{ effect, direction: metric.direction, allowed }];
  });
  const judged = judgedAgainst(family);
  return new Map(family.flatMap(({ effect }, i) => (judged[i] ? [[effect.metric, judged[i]]] : [])));
}

/** The systems of a document that a gate judges. */
export const judgedSystems = (systems: readonly SystemView[], thresholds: Thresholds, againstStored: boolean) =>
  systems.filter((system) => isJudged(system, thresholds, againstStored)).map(({ name }) => name);

function isJudged({ name, isBaseline }: SystemView, { systems }: Thresholds, againstStored: boolean): boolean {
  if (systems) return systems.some((system) => system.name === name);
  return againstStored || !isBaseline;
}

interface About {
  metric: MetricDefinition;
  system: SystemView;
  cell: Cell | undefined;
  settings: MetricThresholds;
  missing: Counting;
  oneRoundFails: boolean;
  /** Text of what the system is compared with. */
  reference: string;
  effect: Effect | undefined;
  /** The effect against the tolerance; null without a number on its scale. */
  judged: Judged | null;
  /** How many limits the gate checks. */
  limits: number;
  hasReference: boolean;
}

function casesOf(about: About): Case[] {
  const { cell, effect, settings, system, hasReference } = about;
  const broken = brokenCases(about);
  const invalid = broken.filter(({ kind }) => kind === 'measured');
  // A difference to native has no value for native itself.
  if (about.metric.againstNative && isNative(system.rounds[0])) return broken;
  if (cell?.value == null && !effect)
    return invalid.length > 0 ? broken : [...broken, notMeasured(about, whyNotMeasured(cell))];
  const isReference = system.isBaseline && about.reference === system.name;
  const regression = hasReference && !isReference && !isSaidAlready(invalid, effect) && settings.regression;
  const cases = [
    ...broken,
    ...(settings.limit !== null && cell?.value != null ? [limitCase(about, cell, settings.limit)] : []),
    ...(regression ? [effect ? regressionCase(about, effect, regression) : withoutReference(about, regression)] : []),
  ];
  return cases.length > 0 || !settings.named ? cases : [merelyMeasured(about)];
}

/** An invalid round also makes the effect invalid, and is reported already. */
const isSaidAlready = (invalid: readonly Case[], effect: Effect | undefined): boolean =>
  invalid.length > 0 && effect?.verdict === 'invalid';

const countAs = (counting: Counting): Case['countsAs'] => (counting === 'pass' ? 'passed' : 'failed');

const headOf = ({ metric: { id, name, unit }, system }: About) => ({ metric: id, name, system: system.name, unit });

/** Cases that fail the gate regardless of thresholds. */
const brokenCases = (about: About): Case[] => [...violationCases(about), ...unmeasuredCases(about)];

/** Limits that were shown not to hold. */
const violationCases = (about: About): Case[] =>
  violationsIn(about.system.rounds)
    .filter(({ metric }) => metric === about.metric.id)
    .map(({ detail }) => ({
      ...headOf(about),
      kind: 'violation',
      threshold: 'no violation',
      outcome: 'failed',
      countsAs: 'failed',
      value: null,
      interval: null,
      reason: detail,
    }));

/** One per status and reason, however many rounds share them. */
function unmeasuredCases(about: About): Case[] {
  const results = (about.cell?.results ?? []).filter(({ status }) => status === 'failed' || status === 'invalid');
  const texts = [...new Set(results.map(stateText))];
  return texts.map((reason) => ({
    ...headOf(about),
    kind: 'measured',
    threshold: 'measured',
    outcome: reason.startsWith('invalid') ? 'invalid' : 'failed',
    countsAs: 'failed',
    value: null,
    interval: null,
    reason: `${reason} (in ${results.filter((result) => stateText(result) === reason).length} of ${about.cell?.results.length} rounds)`,
  }));
}

const stateText = ({ status, reason }: MetricResult): string => (reason ? `${status}: ${reason}` : status);

const whyNotMeasured = (cell: Cell | undefined): string =>
  [...new Set(cell?.results.map(stateText))].join('; ') || 'it was not requested';

function notMeasured(about: About, reason: string): Case {
  return {
    ...headOf(about),
    kind: 'measured',
    threshold: 'measured',
    outcome: 'not measured',
    countsAs: about.settings.named ? countAs(about.missing) : 'passed',
    value: null,
    interval: null,
    reason,
  };
}

const merelyMeasured = (about: About): Case => ({
  ...notMeasured(about, 'it has a value, and no threshold applies to it'),
  outcome: 'passed',
  countsAs: 'passed',
  value: about.cell?.value ?? null,
  ...(about.oneRoundFails && isOfOneRound(about) && { outcome: 'inconclusive', countsAs: 'failed', reason: ONE_ROUND }),
});

const ONE_ROUND = `it has a value in one round only: ${MORE_ROUNDS}`;

const isOfOneRound = ({ cell }: About): boolean => (cell?.values.length ?? 0) < FEWEST_ROUNDS;

const withoutReference = (about: About, allowed: Delta): Case => ({
  ...notMeasured(about, `${about.reference} has no value to compare with`),
  kind: 'regression',
  threshold: regressionText(about, allowed),
});

const amountText = ({ unit }: MetricDefinition, allowed: Delta): string =>
  'relative' in allowed ? `${number(100 * allowed.relative)} %` : `${number(allowed.absolute)} ${unit}`;

/** `at most 10 % worse than native (maxRegression: 10)`. */
function regressionText({ metric, reference }: About, allowed: Delta): string {
  const setting =
    'relative' in allowed
      ? `maxRegression: ${number(100 * allowed.relative)}`
      : `maxDifference: ${number(allowed.absolute)}`;
  return `at most ${amountText(metric, allowed)} worse than ${reference} (${setting})`;
}

interface Outcomes {
  outcome: 'passed' | 'failed' | 'inconclusive';
  countsAs: Case['countsAs'];
}

/**
 * The interval, extended to the value if that lies outside: a result is within or beyond a threshold only with both.
 */
const spanning = (value: number | null, [low, high]: Interval): Interval =>
  value === null ? [low, high] : [Math.min(low, value), Math.max(high, value)];

/** `worst` and `interval` are on a scale where more is worse. */
function outcomeOf(worst: number, interval: Interval, { inconclusive }: MetricThresholds): Outcomes {
  if (interval[0] > worst) return { outcome: 'failed', countsAs: 'failed' };
  if (interval[1] <= worst) return { outcome: 'passed', countsAs: 'passed' };
  return { outcome: 'inconclusive', countsAs: countAs(inconclusive) };
}

const words = { passed: 'is within', failed: 'is beyond', inconclusive: 'may be beyond' } as const;

const oriented = ([low, high]: Interval, direction: MetricDefinition['direction']): Interval =>
  direction === 'higher' ? [-high, -low] : [low, high];

function limitCase(about: About, cell: Cell, limit: number): Case {
  const { metric, settings, limits } = about;
  const measured = cell.value as number;
  const threshold = `${metric.direction === 'higher' ? 'at least' : 'at most'} ${number(limit)} ${metric.unit}`;
  const [worst] = oriented([limit, limit], metric.direction);
  const interval = limitInterval(cell, limits) ?? cell.ci95 ?? [measured, measured];
  const judged = outcomeOf(worst, oriented(spanning(measured, interval), metric.direction), settings);
  const isInDoubt = isOfOneRound(about) && judged.outcome !== 'failed';
  const found = isInDoubt ? ({ outcome: 'inconclusive', countsAs: 'failed' } as const) : judged;
  return {
    ...headOf(about),
    kind: 'limit',
    threshold,
    ...found,
    value: measured,
    interval: cell.ci95,
    reason: `${inOneLine(estimateText({ value: measured, ci95: cell.ci95 }, metric.unit))} ${words[judged.outcome]} the limit${isInDoubt ? `, but ${ONE_ROUND}` : ''}`,
  };
}

/** Failed: shown to be worse, and wholly beyond the tolerance. Passed: shown not to be worse than the tolerance. */
function regressionOutcome(
  { verdict, relevance, evidence: { ci90 }, bound }: Judged,
  settings: MetricThresholds,
): Outcomes {
  if (verdict === 'slower' && relevance === 'beyond') return { outcome: 'failed', countsAs: 'failed' };
  if (ci90 && ci90[1] <= bound) return { outcome: 'passed', countsAs: 'passed' };
  return { outcome: 'inconclusive', countsAs: countAs(settings.inconclusive) };
}

/** What the metric's δ says where the tolerance says something else. */
function deltaText({ metric }: About, effect: Effect, { verdict }: Judged): string {
  if (effect.verdict === verdict) return '';
  return `; by the metric's own δ of ${amountText(metric, metric.delta)} the verdict is ${effect.verdict}`;
}

function regressionCase(about: About, effect: Effect, allowed: Delta): Case {
  const { metric, settings, judged } = about;
  const isRatio = 'relative' in allowed;
  const [value, interval] = isRatio ? [effect.ratio, effect.ratioCi95] : [effect.difference, effect.differenceCi95];
  const head = {
    ...headOf(about),
    ...(isRatio && { unit: 'ratio' }),
    kind: 'regression',
    threshold: regressionText(about, allowed),
    value,
    interval,
  } as const;
  if (effect.verdict === 'invalid')
    return { ...head, outcome: 'invalid', countsAs: 'failed', reason: effect.reason ?? 'invalid' };
  // Fails regardless of `inconclusive`, because there is no evidence that the threshold is met.
  if (!interval || !judged)
    return { ...head, outcome: 'inconclusive', countsAs: 'failed', reason: whyNoInterval(effect, isRatio) };
  const found = regressionOutcome(judged, settings);
  const shown = effectText(effect, metric.unit);
  const improvement = improvementText(about, allowed, judged);
  return {
    ...head,
    ...found,
    reason: `${shown} ${words[found.outcome]} it${deltaText(about, effect, judged)}`,
    ...(improvement !== null && { improvement: `${shown} ${improvement}` }),
  };
}

/** Says that a metric improved, where the whole interval shows it. */
function improvementText(
  { metric, reference }: About,
  allowed: Delta,
  { verdict, evidence: { ci95 } }: Judged,
): string | null {
  const least: Delta = 'relative' in allowed ? { relative: IMPROVEMENT } : allowed;
  if (verdict !== 'faster' || !ci95 || ci95[1] >= -boundOf(least)) return null;
  return `is better than ${reference} by more than ${amountText(metric, least)}`;
}

const whyNoInterval = ({ differenceCi95 }: Effect, isRatio: boolean): string =>
  isRatio && differenceCi95 !== null
    ? 'not all values are above zero, so there is no ratio: give a limit and maxRegression: off'
    : `one round gives no interval: ${MORE_ROUNDS}`;
