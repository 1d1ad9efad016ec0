/** The published tables with our figures beside them. */
import type { MetricResult } from '../results/document.js';
import { unitsIn } from '../results/text/quantity.js';
import { type Cell, medianOf, type Row, rowsOf, type View } from '../results/view.js';
import { impossibleNumber } from '../saved/plausible.js';
import { nameOfLabel } from '../systems/system-name.js';
import { numberAt } from './detail-number.js';
import type { StepOutcome } from './study-record.js';
import type { Study, StudyCard, StudyRow, StudyTable } from './study-settings.js';

/** What became of a step, with its results. */
export interface MeasuredStep extends StepOutcome {
  view: View | null;
}

export interface RowCell {
  column: string;
  /** What the source has; null if it has nothing. */
  published: string | null;
  /** The published figure against that of the first column, where both are positive numbers. */
  publishedRatio: number | null;
  /** In the row's unit. */
  value: number | null;
  ci95: readonly [number, number] | null;
  /** Our value against that of the first system of the comparison. */
  ratio: number | null;
  ratioCi95: readonly [number, number] | null;
  /** Whether our interval of the ratio contains the published one; null if one of them is missing. */
  agrees: boolean | null;
  /** Why there is no value. */
  reason: string | null;
}

export interface MeasuredRow {
  row: StudyRow;
  cells: RowCell[];
  /** What of the published figures cannot be. */
  impossible: string[];
}

export interface MeasuredTable {
  table: StudyTable;
  rows: MeasuredRow[];
}

export const measuredTables = ({ tables, source }: Study, steps: readonly MeasuredStep[]): MeasuredTable[] =>
  tables.map((table) => ({
    table,
    rows: table.rows.map((row) => {
      const found = foundRow(row, steps);
      const cells = [...table.columns].map(([column, system]) => cellOf(row, column, system, found));
      const [first] = cells;
      const ratios = cells.map((cell, index) => (index === 0 || !first ? cell : withRatio(cell, first)));
      return { row, cells: ratios, impossible: impossibleIn(row, found, source.card) };
    }),
  }));

type Found = { row: Row } | { reason: string };

function foundRow({ metric, step }: StudyRow, steps: readonly MeasuredStep[]): Found {
  if (metric === undefined) return { reason: 'no metric of ours answers it' };
  const asked = steps.filter(({ name }) => step === undefined || step === name);
  for (const { view } of asked) {
    const row = view && rowsOf(view).find(({ id }) => id === metric);
    if (row) return { row };
  }
  const without = asked.find(({ status, view }) => status !== 'ok' || view === null);
  return {
    reason: without
      ? `step ${without.name} is ${without.status}: ${without.reason ?? 'it has no results'}`
      : asked.length === 0
        ? 'its step was left out'
        : 'no step measured it',
  };
}

function cellOf(row: StudyRow, column: string, system: string, found: Found): RowCell {
  const published = row.published?.get(column) ?? null;
  const none = { column, published, publishedRatio: null, value: null, ci95: null, ratio: null, ratioCi95: null, agrees: null }; // prettier-ignore
  if ('reason' in found) return { ...none, reason: found.reason };
  const cell = found.row.cells.find((each) => nameOfLabel(each.system) === system);
  if (!cell) return { ...none, reason: `no system ${system} was measured` };
  const factor = row.detail === undefined ? unitsIn(found.row.unit, row.unit) : 1;
  if (factor === null) return { ...none, reason: `${found.row.id} is in ${found.row.unit}, not in ${row.unit}` };
  const { value, ci95, reason } = numberOf(cell, row);
  return {
    ...none,
    value: value === null ? null : value * factor,
    ci95: ci95 && [ci95[0] * factor, ci95[1] * factor],
    ...(isValue(row) && ratioOf(cell, found.row.direction)),
    reason: value === null ? reason : null,
  };
}

/** The ratio of the values; that of an effect is above 1 where it is worse. */
function ratioOf({ effect }: Cell, direction: Row['direction']): Pick<RowCell, 'ratio' | 'ratioCi95'> {
  const { ratio = null, ratioCi95 = null } = effect ?? {};
  if (direction !== 'higher') return { ratio, ratioCi95 };
  return { ratio: ratio && 1 / ratio, ratioCi95: ratioCi95 && [1 / ratioCi95[1], 1 / ratioCi95[0]] };
}

/** Whether a row takes the metric's value. */
const isValue = ({ stat, detail }: StudyRow): boolean => stat === undefined && detail === undefined;

function numberOf(
  { value, ci95, results, effect }: Cell,
  { stat, detail }: StudyRow,
): Pick<RowCell, 'value' | 'ci95' | 'reason'> {
  const reason = results.find((result) => result.status !== 'ok')?.reason ?? 'it was not measured';
  if (detail !== undefined) return detailOf(results, detail, reason);
  // Some metrics are a difference to the first system.
  if (stat === undefined && value === null && effect && effect.difference !== null)
    return { value: effect.difference, ci95: effect.differenceCi95, reason };
  if (stat === undefined) return { value, ci95, reason };
  const values = results.flatMap(({ stats }) => stats?.[stat] ?? []);
  const count = Math.min(...results.map(({ stats }) => stats?.count ?? 0));
  return {
    value: medianOf(values),
    ci95: null,
    reason: results.length > 0 && count > 0 ? `${count} samples a round are too few for ${stat}` : reason,
  };
}

/** The median of a number of the details over rounds. */
function detailOf(results: Cell['results'], path: string, unmeasured: string): ReturnType<typeof numberOf> {
  const found = results.filter(({ status }) => status === 'ok').map((result) => numberAt(result, path));
  const without = found.find((one) => typeof one !== 'number');
  const value = medianOf(found.filter((one) => typeof one === 'number'));
  return { value, ci95: null, reason: without?.reason ?? unmeasured };
}

function withRatio(cell: RowCell, first: RowCell): RowCell {
  const [own, base] = [publishedNumber(cell.published), publishedNumber(first.published)];
  const publishedRatio = own !== null && base !== null && own > 0 && base > 0 ? own / base : null;
  const { ratioCi95 } = cell;
  const agrees =
    publishedRatio !== null && ratioCi95 ? ratioCi95[0] <= publishedRatio && publishedRatio <= ratioCi95[1] : null;
  return { ...cell, publishedRatio, agrees };
}

function publishedNumber(text: string | null): number | null {
  return text !== null && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** Judged by the rules of saved documents, for the card of the source; then what the study says of the row. */
function impossibleIn({ metric, unit, published, impossible }: StudyRow, found: Found, card: StudyCard): string[] {
  const ours = 'row' in found ? found.row.unit : unit;
  const factor = unitsIn(unit, ours);
  const { name, computeCapability, multiprocessors, maxSmClockMhz = null } = card;
  const cards =
    computeCapability === undefined || multiprocessors === undefined
      ? []
      : [{ name, computeCapability, multiprocessors, maxSmClockMhz }];
  const whys = [...(published ?? [])].flatMap(([column, text]) => {
    const value = publishedNumber(text);
    if (metric === undefined || value === null || factor === null) return [];
    const own: Pick<MetricResult, 'id' | 'value' | 'unit' | 'details'> = {
      id: metric,
      value: value * factor,
      unit: ours,
      details: {},
    };
    const why = impossibleNumber(own, cards);
    return why === null ? [] : [`${column}: ${why}`];
  });
  return impossible === undefined ? whys : [...whys, impossible];
}
