/** A delivered document as a small row: what a fleet's report needs of it, and nothing that grows with its samples. */
import { sliceText } from '../../environment/named-gpu.js';
import type { Effect, MetricResult, RunDocument } from '../../results/document.js';
import { isComparison, type ResultDocument, roundsOf } from '../../results/kinds.js';
import { findingText } from '../../results/text/health-text.js';
import { isUnattested } from '../../saved/attested.js';
import type { Saved } from '../../saved/read.js';
import { median } from '../../stats/median.js';
import { quantile } from '../../stats/quantile.js';
import type { FleetDelivery } from '../delivery.js';
import { type Catalogue, effectSeries, valueSeries } from './series.js';

/** Fewer values of a card have no distribution. */
export const FEWEST_VALUES = 5;
/** How finely a distribution is kept. Its ends are left out: one stalled block of twenty is no property of a card. */
export const QUANTILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const LONGEST_TEXT = 300;
const MOST_TEXTS = 20;
/** All metrics of ten systems and their effects have a tenth of it. */
const MOST_SERIES = 20_000;

/** What a mixed fleet differs in: cards are compared only where all of it is the same. */
export interface GroupFacts {
  gpu: string;
  driver: string | null;
  vbios: string | null;
  powerLimitW: number | null;
  maxSmClockMhz: number | null;
  mig: string;
  memoryBytes: number;
  multiprocessors: number;
  /** The library of the environment that was measured; null without one, and in comparisons, whose systems set up theirs. */
  layer: string | null;
  tool: string;
}

interface Proofs {
  passed: number;
  failed: string[];
  /** Processes that gave numbers, and how many of them were proven. */
  proven: number;
  processes: number;
}

export interface CardRow {
  index: number;
  node: string;
  uuid: string;
  simulated: boolean;
  facts: GroupFacts;
  /** Numbers of series, and the value of each. */
  series: Int32Array;
  values: Float64Array;
  /** `QUANTILES` of each series in turn; NaN where the card has no distribution of it. */
  quantiles: Float64Array;
  /** How many values the distribution of each series has; 0 where there is none. */
  counts: Int32Array;
  proofs: Proofs;
  violations: string[];
  /** Metrics without a number because something went wrong. */
  failures: string[];
  /** Findings of the machine's health. */
  health: string[];
  /** Impossible values. */
  impossible: string[];
  /** A failed gate of the plan's own command. */
  gateFailed: boolean;
}

interface Found {
  series: number;
  value: number;
  sample: readonly number[];
}

/** A text that may come from anywhere and be of any length. */
const bounded = (texts: readonly string[]): string[] =>
  [...new Set(texts)]
    .slice(0, MOST_TEXTS)
    .map((text) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text));

const GATE_FAILED = 3;

/** The row, or why the document is none of one card. */
export function rowOf({ document, problems }: Saved, delivery: FleetDelivery, catalogue: Catalogue): CardRow | string {
  const rounds = roundsOf(document);
  const [first] = rounds;
  const card = first?.gpu[0];
  if (first === undefined || card === undefined) return 'its document names no GPU';
  const other = rounds.find(({ gpu }) => gpu[0]?.uuid !== card.uuid)?.gpu[0]?.uuid;
  if (other !== undefined) return `its rounds are of several GPUs, ${card.uuid} and ${other}, which cannot be paired`;
  if (!delivery.gpus.includes(card.uuid)) return `its document is of ${card.uuid}, and its delivery names other GPUs`;
  const found = isComparison(document) ? ofComparison(document, catalogue) : ofRun(document, catalogue);
  if (found.length > MOST_SERIES) return `its document has ${found.length} values, and ${MOST_SERIES} at most are read`;
  return {
    index: delivery.index,
    node: delivery.node,
    uuid: card.uuid,
    simulated: card.simulated,
    facts: factsOf(document, first),
    ...columns(found),
    proofs: proofsOf(rounds),
    violations: bounded(violationsOf(document)),
    failures: bounded(rounds.flatMap(failuresOf)),
    health: bounded(
      rounds.flatMap(({ health }) =>
        [...health.before, ...health.after]
          .filter(({ passed }) => passed === false)
          .map(({ name }) => findingText(name)),
      ),
    ),
    impossible: bounded(problems),
    gateFailed: delivery.exitCode === GATE_FAILED,
  };
}

function factsOf(document: ResultDocument, { gpu, driver, system }: RunDocument): GroupFacts {
  const card = gpu[0] as RunDocument['gpu'][number];
  return {
    gpu: card.name,
    driver: driver.version,
    vbios: card.vbios ?? null,
    powerLimitW: card.powerLimitW ?? null,
    maxSmClockMhz: card.maxSmClockMhz ?? null,
    mig: sliceText(card).replace(/^MIG /, ''),
    memoryBytes: card.memoryBytes,
    multiprocessors: card.multiprocessors,
    layer: isComparison(document) || !system.layer ? null : (system.layer.sha256 ?? system.layer.path),
    tool: document.tool.version,
  };
}

function columns(found: readonly Found[]): Pick<CardRow, 'series' | 'values' | 'quantiles' | 'counts'> {
  const quantiles = new Float64Array(found.length * QUANTILES.length).fill(Number.NaN);
  const counts = new Int32Array(found.length);
  for (const [i, { sample }] of found.entries()) {
    if (sample.length < FEWEST_VALUES) continue;
    const sorted = Float64Array.from(sample).sort();
    for (const [k, p] of QUANTILES.entries()) quantiles[i * QUANTILES.length + k] = quantile(sorted, p);
    counts[i] = sample.length;
  }
  return {
    series: Int32Array.from(found, ({ series }) => series),
    values: Float64Array.from(found, ({ value }) => value),
    quantiles,
    counts,
  };
}

/** Values of the processes where there are several, else medians of consecutive blocks of samples. */
const sampleOf = ({ processValues = [], blocks = [] }: MetricResult): readonly number[] =>
  processValues.length >= FEWEST_VALUES ? processValues : blocks;

const ofRun = ({ system, metrics }: RunDocument, catalogue: Catalogue): Found[] =>
  metrics.flatMap((result) =>
    result.value === null
      ? []
      : [
          {
            series: catalogue.numberOf(valueSeries(system.name, result)),
            value: result.value,
            sample: sampleOf(result),
          },
        ],
  );

type Comparison = Extract<ResultDocument, { kind: 'comparison' }>;

function ofComparison({ systems, effects }: Comparison, catalogue: Catalogue): Found[] {
  const known = new Map<string, MetricResult>();
  const values = systems.flatMap((rounds) => {
    const byId = new Map<string, number[]>();
    for (const { metrics } of rounds)
      for (const result of metrics) {
        if (!known.has(result.id)) known.set(result.id, result);
        if (result.value !== null) byId.set(result.id, [...(byId.get(result.id) ?? []), result.value]);
      }
    return [...byId].map(([id, sample]): Found => ({
      series: catalogue.numberOf(valueSeries(rounds[0]?.system.name ?? '', known.get(id) as MetricResult)),
      value: median(sample).value,
      sample,
    }));
  });
  return [...values, ...effects.flatMap((effect) => ofEffect(effect, known.get(effect.metric), catalogue))];
}

/** A pair of arms on one card is one value of it. */
function ofEffect(
  { system, baseline, ratio, difference, verdict }: Effect,
  result: MetricResult | undefined,
  catalogue: Catalogue,
): Found[] {
  const value = ratio ?? difference;
  if (value === null || result === undefined || verdict === 'invalid') return [];
  return [{ series: catalogue.numberOf(effectSeries(system, baseline, result, ratio !== null)), value, sample: [] }];
}

function proofsOf(rounds: readonly RunDocument[]): Proofs {
  const all = rounds.flatMap(({ system }) => system.attestation.map((proof) => ({ ...proof, system: system.name })));
  const failed = all
    .filter(({ passed }) => !passed)
    .map(({ system, proof, detail }) => `${system}: ${proof}: ${detail}`);
  const unproven = rounds.filter(
    (round) => isUnattested(round) && round.system.attestation.every(({ passed }) => passed),
  );
  const processes = rounds.flatMap(({ system }) => system.processes ?? []);
  return {
    passed: all.filter(({ passed }) => passed).length,
    failed: bounded([
      ...failed,
      ...unproven.map(({ system }) => `${system.name}: ${system.notCheckedAfter ?? 'the layer was not active'}`),
    ]),
    proven: processes.reduce((sum, { proven }) => sum + proven, 0),
    processes: processes.reduce((sum, { of }) => sum + of, 0),
  };
}

const violationsOf = (document: ResultDocument): string[] =>
  isComparison(document)
    ? document.violations.map(({ system, metric, detail }) => `${system}, ${metric}: ${detail}`)
    : document.metrics.flatMap(({ id, violations = [] }) => violations.map(({ detail }) => `${id}: ${detail}`));

const failuresOf = ({ metrics }: RunDocument): string[] =>
  metrics
    .filter(({ status }) => status === 'failed' || status === 'invalid')
    .map(({ id, status, reason }) => `${id} is ${status}: ${reason ?? 'no reason is recorded'}`);
