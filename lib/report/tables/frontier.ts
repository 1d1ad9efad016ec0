/**
 * Total token rate of the tenants against their users' waiting time: one row per system, mode and number of tenants.
 */
import { grouped } from '../../results/text/grouped.js';
import { type Fields, isNumber, rowsOf } from '../../results/fields.js';
import { number } from '../../results/text/plain.js';
import { digits } from '../../results/text/quantity.js';
import { medianOf, type View } from '../../results/view.js';
import { dataMarkdown } from '../markdown/markdown-text.js';
import { numeric } from './table-data.js';

interface FrontierLine {
  metric: string;
  system: string;
  mode: string;
  coTenants: number;
  /** Tokens per second, like the times below a median over the rounds that have one. */
  tokensPerSecond: number | null;
  p50Ms: number | null;
  p99Ms: number | null;
  waitP99Ms: number | null;
  reason: string;
}

const MOST_ROWS = 200;

function lineOf(metric: string, system: string, rows: readonly Fields[]): FrontierLine {
  const [first = {}] = rows;
  const middle = (key: string) => medianOf(rows.map((row) => row[key]).filter(isNumber));
  const reasons = new Set(rows.flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : [])));
  return {
    metric,
    system,
    mode: String(first.mode),
    coTenants: first.coTenants as number,
    tokensPerSecond: middle('tokensPerSecond'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    waitP99Ms: middle('waitP99Ms'),
    reason: [...reasons].join('; '),
  };
}

/**
 * Lines by system, mode and number of co-tenants. Details come from a file and are not trusted: rows without a mode and
 * a number of co-tenants are skipped.
 */
const frontierLines = ({ categories }: View): FrontierLine[] =>
  categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }) => {
        const placed = results
          .flatMap(({ details }) => rowsOf(details, 'frontier', MOST_ROWS))
          .filter(({ mode, coTenants }) => typeof mode === 'string' && isNumber(coTenants));
        const groups = grouped(placed, ({ coTenants, mode }) => `${String(coTenants)} ${String(mode)}`);
        return [...groups.values()].map((group) => lineOf(id, system, group));
      }),
    ),
  );

/** The table; null if no metric has such details. */
export function frontierMarkdown(view: View): string | null {
  const lines = frontierLines(view);
  if (lines.length === 0) return null;
  const cell = (value: number | null, reason = '') => (value === null ? reason || '–' : digits(value));
  return dataMarkdown({
    title: 'Token generation: frontier',
    columns: [
      { title: 'Metric' },
      { title: 'System' },
      { title: 'Steps by' },
      numeric('Co-tenants'),
      numeric('Tokens/s of all'),
      numeric('p50 ms'),
      numeric('p99 ms'),
      numeric('Wait p99 ms'),
    ],
    rows: lines.map(({ metric, system, mode, coTenants, tokensPerSecond, p50Ms, p99Ms, waitP99Ms, reason }) => ({
      cells: [
        metric,
        system,
        mode,
        number(coTenants),
        cell(tokensPerSecond),
        cell(p50Ms),
        cell(p99Ms, reason),
        cell(waitP99Ms),
      ],
    })),
  });
}
