/** Each tenant's share of the card over time, from one round, since rounds do not line up in time. */
import { mean } from 'simple-statistics';
import { grouped } from '../../results/text/grouped.js';
import { digits } from '../../results/text/quantity.js';
import { number } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { short } from '../text/markup.js';
import { barline } from '../text/sparkline.js';
import { type DataTable, numeric } from '../tables/table-data.js';
import { detailRows, SENTENCE, type Share } from './rows.js';

const MOST_STRETCHES = 60;
/** Most lines that can be distinguished in one drawing. */
const MOST_TOGETHER = 8;

interface TenantShare {
  name: string;
  limitPercent: number | null;
  meanPercent: number | null;
  /** Mean over the second half, after a limiter had time to settle. */
  lateMeanPercent: number | null;
  /** Means over time slots; `at` is the middle of each. */
  stretches: { at: number; percent: number }[];
  /** Length of a slot in seconds. */
  stretch: number;
}

/** The tenants of one drawing. */
export interface SharePanel {
  metric: string;
  system: string;
  /** What the tenants have in common, if a metric has several drawings. */
  part: string;
  tenants: TenantShare[];
  /** Number of the round from 1, and the number of rounds. */
  round: number;
  of: number;
  /** Why the metric has no value although its shares were recorded. */
  reason: string;
}

const meanOf = (values: readonly number[]): number | null => (values.length === 0 ? null : mean([...values]));

function tenantOf({ name, limitPercent, binMs, percent }: Share): TenantShare {
  const together = Math.max(1, Math.ceil(percent.length / MOST_STRETCHES));
  const seconds = binMs / 1_000;
  const stretches = Array.from({ length: Math.ceil(percent.length / together) }, (_, i) => {
    const bins = percent.slice(i * together, (i + 1) * together);
    return { at: (i * together + bins.length / 2) * seconds, percent: mean(bins) };
  });
  return {
    name,
    limitPercent,
    stretches,
    stretch: together * seconds,
    meanPercent: meanOf(percent),
    lateMeanPercent: meanOf(percent.slice(Math.floor(percent.length / 2))),
  };
}

const limitName = (limitPercent: number | null): string =>
  limitPercent === null ? 'no limit' : `limit ${limitPercent} %`;

/** What ran at the same time: `4 equal` in `tenant 2 of 4 equal, alone`. */
const caseOf = ({ name }: TenantShare): string | undefined => / of ([^,]+)/.exec(name)?.[1];

/** Groups tenants by case or limit if there are too many for one drawing, or names repeat. */
function partsOf(tenants: readonly TenantShare[]): { part: string; tenants: TenantShare[] }[] {
  const isNamed = new Set(tenants.map(({ name }) => name)).size === tenants.length;
  if (isNamed && tenants.length <= MOST_TOGETHER) return [{ part: '', tenants: [...tenants] }];
  const hasCases = tenants.every((tenant) => caseOf(tenant) !== undefined);
  const keyOf = (tenant: TenantShare) => (hasCases && caseOf(tenant)) || limitName(tenant.limitPercent);
  return [...new Set(tenants.map(keyOf))].flatMap((key) => {
    const own = tenants.filter((tenant) => keyOf(tenant) === key);
    const count = Math.ceil(own.length / MOST_TOGETHER);
    const size = Math.ceil(own.length / count);
    return Array.from({ length: count }, (_, i) => ({
      part: `${key}${count > 1 ? `, ${i + 1} of ${count}` : ''}`,
      tenants: own.slice(i * size, (i + 1) * size),
    }));
  });
}

export const sharePanels = ({ categories, systems }: View): SharePanel[] =>
  categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results, of }): SharePanel[] => {
        const rounds = systems.find(({ name }) => name === system)?.rounds ?? [];
        const [first] = results.flatMap((result) => {
          const shares = detailRows(result)?.shares ?? [];
          const round = rounds.findIndex(({ metrics }) => metrics.includes(result)) + 1;
          const reason = result.status === 'ok' ? '' : `${result.status}: ${result.reason ?? ''}`;
          return shares.length > 0 ? [{ shares, round, reason: short(reason, SENTENCE) }] : [];
        });
        if (!first) return [];
        const parts = partsOf(first.shares.map(tenantOf));
        return parts.map((part) => ({ metric: id, system, ...part, round: first.round, of, reason: first.reason }));
      }),
    ),
  );

/** Most blocks in a line. */
const MOST_BLOCKS = 24;

function overTime({ stretches }: TenantShare): string {
  if (stretches.length === 0) return '–';
  const each = Math.ceil(stretches.length / MOST_BLOCKS);
  const means = Array.from({ length: Math.ceil(stretches.length / each) }, (_, i) =>
    mean(stretches.slice(i * each, (i + 1) * each).map(({ percent }) => percent)),
  );
  return barline(means, 100);
}

interface ShareTable extends DataTable {
  metric: string;
  /** Number of tenants beyond `most`. */
  leftOut: number;
}

/** Makes one table per metric, across all its drawings. */
export const shareTables = (panels: readonly SharePanel[], most = Infinity): ShareTable[] =>
  [...grouped(panels, ({ metric }) => metric)].map(([metric, own]) => {
    const figure = (value: number | null, text: (value: number) => string) => ({
      text: value === null ? '–' : text(value),
      sort: value,
    });
    const rows = own.flatMap(({ tenants, ...panel }) => tenants.map((tenant) => ({ ...panel, ...tenant })));
    return {
      metric,
      leftOut: Math.max(0, rows.length - most),
      title: `${metric} Share of the card: means over time, in per cent`,
      columns: [
        { title: 'Tenant' },
        { title: 'System' },
        numeric('Limit'),
        numeric('Mean'),
        numeric('Second half'),
        { title: 'Over time' },
        numeric('Round'),
      ],
      rows: rows.slice(0, most).map((row) => ({
        metric,
        cells: [
          row.name,
          row.system,
          figure(row.limitPercent, number),
          figure(row.meanPercent, (mean) => digits(mean)),
          figure(row.lateMeanPercent, (mean) => digits(mean)),
          overTime(row),
          row.of > 1 ? `${row.round} of ${row.of}` : '1',
        ],
      })),
    };
  });
