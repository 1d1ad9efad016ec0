/** One figure of a card: a number, its interval and a word. */
import { callEffects } from '../metrics/core/call-effects.js';
import type { Broken, Figure, SharedCause } from '../results/answer-schema.js';
import type { CallEffect, Effect } from '../results/document.js';
import { isComparison } from '../results/kinds.js';
import { plain } from '../results/text/plain.js';
import { digits, estimateText, inOneLine, quantity } from '../results/text/quantity.js';
import { type Cell, type Row, rowsOf, type View } from '../results/view.js';
import type { Slot, Source } from './questions.js';
import { pairStall } from './stalls.js';

type Interval = [number, number] | null;

/** Everything that figures are made from, found once. */
export interface Evidence {
  view: View;
  rows: Map<string, Row>;
  calls: CallEffect[];
}

/** The evidence, and what was found in it. */
export interface Findings {
  evidence: Evidence;
  systems: readonly string[];
  broken: readonly Broken[];
  causes: readonly SharedCause[];
}

export function evidenceOf(view: View): Evidence {
  const { document, systems } = view;
  const calls = isComparison(document) ? (view.callEffects ?? callEffects(systems.map(({ rounds }) => rounds))) : [];
  return { view, rows: new Map(rowsOf(view).map((row) => [row.id, row])), calls };
}

export const cellOf = ({ rows }: Evidence, id: string, system: string): Cell | null =>
  rows.get(id)?.cells.find((cell) => cell.system === system) ?? null;

const callOf = ({ calls }: Evidence, { id, call = '' }: Source, system: string): CallEffect | null =>
  calls.find((one) => one.metric === id && one.system === system && one.call.startsWith(call)) ?? null;

const has = (evidence: Evidence, source: Source, system: string): boolean => {
  if (source.as === 'pair') return callOf(evidence, source, system) !== null;
  const cell = cellOf(evidence, source.id, system);
  return cell !== null && (cell.value !== null || cell.effect !== null);
};

/** The source of a slot for all systems; null if none of them was measured. */
export const sourceOf = (evidence: Evidence, slot: Slot, systems: readonly string[]): Source | null =>
  slot.find((source) => systems.some((system) => has(evidence, source, system))) ?? null;

type Shape = Pick<Figure, 'metric' | 'what' | 'word'> & Partial<Figure>;

const SILENT = { value: null, ci95: null, unit: '', shown: null, shownCi95: null, cause: null, note: null } as const;

export const figure = (shape: Shape): Figure => ({ ...SILENT, ...shape });

/** Formats a figure and its interval: `+173.8 ms (+155.6 … +191.9)`. */
export const ends = ({ shown, shownCi95 }: Figure): string =>
  `${shown ?? ''}${shownCi95 === null ? '' : ` (${shownCi95})`}`;

/** Formats a figure with its name: `until the first result +173.8 ms (+155.6 … +191.9), nearly all of it cuInit`. */
export function inFigure(one: Figure): string {
  const { what, shown, cause } = one;
  return `${what}${shown === null ? '' : ` ${ends(one)}`}${cause === null ? '' : `, nearly all of it ${cause}`}`;
}

/** Why a metric has no number under a system. */
function reasonOf(cell: Cell | null): string | null {
  const result = cell?.results.find(({ reason }) => reason !== undefined) ?? cell?.results[0];
  if (!result || result.status === 'ok') return null;
  return plain(result.reason ? `${result.status}: ${result.reason}` : result.status);
}

export const notMeasured = (what: string, cell: Cell | null = null, metric: string | null = null): Figure =>
  figure({ metric, what, word: 'not measured', note: reasonOf(cell) });

/** Adds what the interval shows: `at least 61 %`, `perhaps too little to matter`; null if there is nothing to add. */
function sizeNote(effect: Effect, unit: string, change: Interval = null): string | null {
  const { established, relevance } = effect;
  if (relevance === 'within') return established ? 'real, but too small to count' : null;
  if (effect.verdict !== 'slower' && effect.verdict !== 'faster') return null;
  if (relevance === 'straddles') return 'perhaps too little to matter';
  return relevance === 'beyond' ? leastText(effect, unit, change) : null;
}

/** The end of the interval that is nearest to no effect. */
function leastText({ ratioCi95, differenceCi95 }: Effect, unit: string, change: Interval): string | null {
  const percents = change ?? ratioCi95?.map((ratio) => 100 * (ratio - 1));
  if (percents) return `at least ${wholePercent(nearest(percents))} %`;
  return differenceCi95 && `at least ${quantity(nearest(differenceCi95), unit)}`;
}

const nearest = (ends: readonly number[]): number => Math.min(...ends.map(Math.abs));

const wholePercent = (percent: number): string => (percent < 10 ? percent.toFixed(1) : String(Math.floor(percent)));

const estimated = (value: number, ci95: Interval, unit: string, isDifference: boolean) => {
  const text = estimateText({ value, ci95 }, unit, isDifference);
  return { value, ci95, unit, shown: text.value, shownCi95: text.interval };
};

const joined = (...notes: (string | null)[]): string | null => notes.filter(Boolean).join('; ') || null;

function pairFigure({ id, what }: Source, call: CallEffect): Figure {
  if (!call.intercepted) return figure({ metric: id, what, word: 'same', note: 'not intercepted' });
  const paid = estimated(call.overheadNs, call.overheadCi95, 'ns', true);
  return figure({ metric: id, what, word: call.verdict, ...paid, note: pairStall(call) });
}

const DECIDED: readonly Figure['word'][] = ['slower', 'faster', 'same'];

/**
 * Whether the metric was decided against the baseline, and the pair is not or otherwise: the metric's value has more parts,
 * and its δ is larger.
 */
const contradicts = ({ verdict }: Effect, { word }: Figure): boolean =>
  verdict !== word && DECIDED.includes(verdict) && (DECIDED.includes(word) || word === 'inconclusive');

/** The effect in place of the pair, which remains as a note. */
function wholeFigure(source: Source, row: Row, effect: Effect, pair: Figure): Figure {
  const whole = effectFigure(source, row, effect);
  const inPairs = pair.shown === null ? pair.note : `the call alone ${pair.shown}`;
  return { ...whole, note: joined(whole.note, inPairs) };
}

/** Returns the value's change in per cent, signed as the value itself: a rate that falls is negative. */
function changeOf({ ratio, ratioCi95 }: Effect, direction: Row['direction']) {
  const percent = (one: number) => 100 * (direction === 'higher' ? 1 / one - 1 : one - 1);
  if (ratio === null) return null;
  const ends = ratioCi95?.map(percent).sort((a, b) => a - b);
  return { value: percent(ratio), ci95: ends ? ([ends[0], ends[1]] as [number, number]) : null };
}

function effectFigure(source: Source, row: Row, effect: Effect): Figure {
  const { verdict: word, reason, difference, differenceCi95, ratio } = effect;
  const head = { metric: source.id, what: source.what, word };
  if (word === 'invalid') return figure({ ...head, note: reason === undefined ? null : plain(reason) });
  const changed = source.as === 'change' ? changeOf(effect, row.direction) : null;
  const note = joined(effect.rounds === 1 ? 'one round, so no interval' : null, sizeNote(effect, row.unit, changed?.ci95)); // prettier-ignore
  if (changed) return figure({ ...head, ...estimated(changed.value, changed.ci95, '%', true), note });
  if (difference === null) return figure({ ...head, note });
  const times = ratio === null ? null : `× ${digits(ratio)}`;
  return figure({ ...head, ...estimated(difference, differenceCi95, row.unit, true), note: joined(times, note) });
}

/** The value of an interference is the length of a queue where its victim was overloaded. */
function queueNote({ results }: Cell): string | null {
  const isQueue = results.some(({ details: { interference }, value }) =>
    (Array.isArray(interference) ? (interference as Record<string, unknown>[]) : []).some(
      (row) =>
        row?.degradationPercent === value &&
        (row.overloaded === true || (!('overloaded' in row) && Number(row.givenUp) > 0)),
    ),
  );
  return isQueue ? 'no slow-down but a queue: the victim was overloaded' : null;
}

function valueFigure(source: Source, row: Row, cell: Cell, baseline: Cell | null): Figure {
  const { value, ci95, effect } = cell;
  const head = { metric: source.id, what: source.what, word: effect?.verdict ?? 'measured' } as const;
  if (value === null) return notMeasured(source.what, cell, source.id);
  const beside =
    baseline && baseline.value !== null && baseline.system !== cell.system
      ? plain(`${baseline.system}: ${inOneLine(estimateText({ value: baseline.value, ci95: null }, row.unit))}`)
      : null;
  return figure({ ...head, ...estimated(value, ci95, row.unit, false), note: joined(queueNote(cell), beside) });
}

/** The figure of a system from a source. */
export function figureOf(evidence: Evidence, source: Source, system: string): Figure {
  const { id, what, as } = source;
  const row = evidence.rows.get(id);
  const cell = cellOf(evidence, id, system);
  if (as === 'pair') {
    const call = callOf(evidence, source, system);
    if (!call) return notMeasured(what, cell, id);
    if (row && cell?.effect?.verdict === 'invalid') return effectFigure(source, row, cell.effect);
    const own = pairFigure(source, call);
    return row && cell?.effect && contradicts(cell.effect, own) ? wholeFigure(source, row, cell.effect, own) : own;
  }
  if (!row || !cell) return notMeasured(what, null, id);
  if (cell.effect && as !== 'value') return effectFigure(source, row, cell.effect);
  const baseline = evidence.view.systems.find(({ isBaseline }) => isBaseline);
  return valueFigure(source, row, cell, as === 'value' && baseline ? cellOf(evidence, id, baseline.name) : null);
}
