/** Figures of limits and of isolation: whether they hold, and the number that shows it. */
import type { Broken, Figure } from '../results/answer-schema.js';
import { isNumber, rowsOf } from '../results/fields.js';
import type { Cell } from '../results/view.js';
import { number } from '../results/text/plain.js';
import { counted } from '../results/text/quantity.js';
import type { Findings } from './figures.js';
import { cellOf, figure, notMeasured } from './figures.js';
import { COMPUTE_CAUSES, FAULT_CAUSES, LEAK_CAUSES, MEMORY_CAUSES } from './violation-causes.js';

/** A share within 10 % of its limit is accurate; so is a metric of 90 % or more. */
const ACCURATE = 90;
const ALL = 99.5;

const rounded = (value: number): string => number(Number(value.toPrecision(3)));
const percent = (value: number): string => `${rounded(value)} %`;

/** Returns the first of these metrics that has a value under any system. */
function cellsOf({ evidence, systems }: Findings, ids: readonly string[]): string | null {
  return ids.find((id) => systems.some((system) => cellOf(evidence, id, system)?.value != null)) ?? null;
}

/** Returns the first of these metrics that was tried under any system: if it has no number, it has a reason. */
const tried = ({ evidence, systems }: Findings, ids: readonly string[]): string | null =>
  ids.find((id) => systems.some((system) => cellOf(evidence, id, system) !== null)) ?? null;

const percentOf = ({ value, ci95 }: Cell): Pick<Figure, 'value' | 'ci95' | 'unit' | 'shown'> => ({
  value,
  ci95,
  unit: '%',
  shown: value === null ? null : percent(value),
});

/** Counts how many ways, faults or places broke a limit; the list of violations has the causes. */
function brokenFigure(what: string, own: readonly Broken[], item: string, note: string): Figure {
  const { size } = new Set(own.flatMap((one) => one.items));
  return figure({ metric: own[0]?.metrics[0] ?? null, what, word: 'broken', value: size, shown: counted(size, item), note }); // prettier-ignore
}

/** Says by how much a limit was exceeded: `to exceed 20 GiB, by up to 2.51 GiB`. */
function excess(own: readonly Broken[]): string {
  const all = own.flatMap(({ value, limit }) => (value === null || limit === null ? [] : [{ value, limit }]));
  const [most] = all.sort((a, b) => b.value - b.limit - (a.value - a.limit));
  return most
    ? `to exceed ${rounded(most.limit)} GiB, by up to ${rounded(most.value - most.limit)} GiB`
    : 'to exceed it';
}

const MEMORY = 'memory';
const COMPUTE = 'compute';
const FAULTS = 'faults of a neighbour';

/** Names of figures that say whether violations with these causes were looked for and not found. */
export const provingFigures = (causes: readonly string[]): string[] =>
  (
    [
      [MEMORY, MEMORY_CAUSES],
      [COMPUTE, COMPUTE_CAUSES],
      [FAULTS, FAULT_CAUSES],
    ] as const
  )
    .filter(([, own]) => own.some((cause) => causes.includes(cause)))
    .map(([what]) => what);

export function memoryFigure(findings: Findings, own: readonly Broken[], system: string): Figure | null {
  const what = MEMORY;
  const violated = own.filter(({ cause }) => MEMORY_CAUSES.includes(cause));
  if (violated.length > 0) return brokenFigure(what, violated, 'way', excess(violated));
  const id = cellsOf(findings, ['IS-011', 'IS-001']) ?? tried(findings, ['IS-011', 'IS-001']);
  if (id === null) return null;
  const cell = cellOf(findings.evidence, id, system);
  if (!cell || cell.value === null) return notMeasured(what, cell, id);
  const note = id === 'IS-011' ? 'of the ways to allocate keep the limit' : 'of the limit can be used';
  return figure({ metric: id, what, word: cell.value >= ALL ? 'holds' : 'in part', ...percentOf(cell), note });
}

interface Share {
  limit: number;
  shown: Pick<Figure, 'value' | 'unit' | 'shown'>;
}

const MOST_ROWS = 1_000;

/** The share of the card behind an accuracy: says which side of the limit it is on, which the accuracy does not. */
function shareOf({ value, results }: Cell): Share | null {
  const [result] = results.filter((each) => each.value !== null);
  const { limitPercent: limit } = result?.details ?? {};
  if (!isNumber(limit) || limit <= 0 || value === null) return null;
  const shares = rowsOf(result?.details, 'limits', MOST_ROWS).flatMap(({ smPercent, achievedPercent }) =>
    smPercent === limit && isNumber(achievedPercent) ? [achievedPercent] : [],
  );
  const accuracy = (share: number) => 100 - (100 * Math.abs(share - limit)) / limit;
  const share = shares.find((each) => Math.abs(accuracy(each) - value) < 0.5);
  return share === undefined ? null : { limit, shown: { value: share, unit: '%', shown: percent(share) } };
}

export function computeFigure(findings: Findings, own: readonly Broken[], system: string): Figure | null {
  const what = COMPUTE;
  const { evidence } = findings;
  const [violated] = own.filter(({ cause }) => COMPUTE_CAUSES.includes(cause));
  if (violated) {
    const { value, limit, metrics } = violated;
    const shown = value === null ? null : percent(value);
    const note = limit === null ? violated.text : `of the work under a limit of ${percent(limit)}`;
    return figure({ metric: metrics[0] ?? null, what, word: 'broken', value, unit: '%', shown, note });
  }
  const id = cellsOf(findings, ['IS-003']);
  const cell = id === null ? null : cellOf(evidence, id, system);
  if (id !== null && cell?.value != null) {
    const word = cell.value >= ACCURATE ? 'holds' : 'inaccurate';
    const share = shareOf(cell);
    const note = share ? `of the work under a limit of ${percent(share.limit)}` : 'accuracy of the limit';
    return figure({ metric: id, what, word, ...(share ? share.shown : percentOf(cell)), note });
  }
  const label = evidence.view.computeLimits.find((limit) => limit.system === system);
  if (label && label.label !== 'not checked' && label.achievedPercent !== null) {
    const { achievedPercent: value, limitPercent } = label;
    const word = label.label === 'throttled' ? 'holds' : 'broken';
    const note = `of the time busy under a limit of ${percent(limitPercent)}`;
    return figure({ metric: null, what, word, value, unit: '%', shown: percent(value), note });
  }
  const asked = tried(findings, ['IS-003', 'IS-012']);
  return asked === null ? null : notMeasured(what, cellOf(evidence, asked, system), asked);
}

export function faultFigure(findings: Findings, own: readonly Broken[], system: string): Figure | null {
  const what = FAULTS;
  const violated = own.filter(({ cause }) => FAULT_CAUSES.includes(cause));
  if (violated.length > 0) return brokenFigure(what, violated, 'fault', 'reach another tenant');
  const id = cellsOf(findings, ['IS-010']);
  if (id === null) return null;
  const cell = cellOf(findings.evidence, id, system);
  if (!cell || cell.value === null) return notMeasured(what, cell, id);
  const word = cell.value === 1 ? 'holds' : 'broken';
  const shown = word === 'holds' ? 'none' : 'some';
  return figure({ metric: id, what, word, value: cell.value, unit: 'boolean', shown, note: 'reach another tenant' });
}

/** The figure of leaked memory; null if none could be read, which is one of many checks that passed. */
export function leakFigure(own: readonly Broken[]): Figure | null {
  const violated = own.filter(({ cause }) => LEAK_CAUSES.includes(cause));
  return violated.length > 0
    ? brokenFigure("another tenant's memory", violated, 'place', 'where it can be read')
    : null;
}

/** Whether kernels compute what they compute natively. */
export function resultsFigure(findings: Findings, system: string): Figure | null {
  const what = 'results of kernels';
  const id = cellsOf(findings, ['IS-014']);
  if (id === null) return null;
  const cell = cellOf(findings.evidence, id, system);
  if (!cell || cell.value === null) return notMeasured(what, cell, id);
  const [word, shown] = cell.value === 1 ? (['holds', 'none'] as const) : (['broken', 'some'] as const);
  return figure({ metric: id, what, word, value: cell.value, unit: 'boolean', shown, note: 'differ from native ones' });
}

/** What a tenant learns of its neighbour's activity. One round that shows it is enough. */
export function channelFigure(findings: Findings, system: string): Figure | null {
  const what = "a neighbour's activity";
  const id = cellsOf(findings, ['IS-015']);
  if (id === null) return null;
  const cell = cellOf(findings.evidence, id, system);
  if (!cell || cell.value === null) return notMeasured(what, cell, id);
  const { value, ci95, results } = cell;
  const verdicts = results.flatMap((one) => (one.value === null ? [] : [one.details.verdict]));
  const passes = verdicts.length > 0 && verdicts.every((verdict) => verdict === 'passes');
  const word = verdicts.includes('fails') ? 'broken' : passes ? 'holds' : 'measured';
  const unit = 'bits/s';
  const shown = `${rounded(value)} ${unit}`;
  return figure({
    metric: id,
    what,
    word,
    value,
    ci95,
    unit,
    shown,
    note: 'can be learned from the timing of own calls',
  });
}
