/** CSV (RFC 4180), tidy: one row per metric, system and round. Text that a spreadsheet would execute is escaped. */
import { stringify } from 'csv-stringify/sync';
import type { MetricResult, RunDocument } from '../../results/document.js';
import { plain } from '../../results/text/plain.js';
import { placeOf } from '../../results/rounds.js';
import type { SystemView, View } from '../../results/view.js';

type Value = string | number | null;

/** The columns in order; an empty cell means that the number was not measured. */
const columns: Record<string, (result: MetricResult, round: RunDocument) => Value> = {
  metric: ({ id }) => id,
  name: ({ name }) => name,
  category: ({ category }) => category,
  unit: ({ unit }) => unit,
  direction: ({ direction }) => direction,
  status: ({ status }) => status,
  reason: ({ reason }) => reason ?? null,
  value: ({ value }) => value,
  ci95_low: ({ ci95 }) => ci95?.[0] ?? null,
  ci95_high: ({ ci95 }) => ci95?.[1] ?? null,
  ci_scope: ({ ciScope }) => ciScope,
  estimator: ({ estimator }) => estimator,
  processes: ({ processes }) => processes,
  samples: ({ stats }) => stats?.count ?? null,
  mean: ({ stats }) => stats?.mean ?? null,
  stddev: ({ stats }) => stats?.stddev ?? null,
  mad: ({ stats }) => stats?.mad ?? null,
  min: ({ stats }) => stats?.min ?? null,
  p50: ({ stats }) => stats?.p50 ?? null,
  p90: ({ stats }) => stats?.p90 ?? null,
  p95: ({ stats }) => stats?.p95 ?? null,
  p99: ({ stats }) => stats?.p99 ?? null,
  p999: ({ stats }) => stats?.p999 ?? null,
  max: ({ stats }) => stats?.max ?? null,
  outliers_mild: ({ stats }) => stats?.outliers.mild ?? null,
  outliers_severe: ({ stats }) => stats?.outliers.severe ?? null,
  gpu: (_result, { gpu }) => gpu.map(({ name }) => name).join(' + '),
  simulated: (_result, { gpu }) => String(gpu.some(({ simulated }) => simulated)),
  driver: (_result, { driver }) => driver.version,
  tier: (_result, { plan }) => plan.tier,
  seed: (_result, { plan }) => plan.seed,
  started_at: (_result, { startedAt }) => startedAt,
  violations: ({ violations }) => violations?.map(({ detail }) => detail).join('; ') ?? null,
};

export function csvReport({ systems }: View): string {
  const header = ['system', 'session', 'round', ...Object.keys(columns)];
  // Control characters in a name would break lines in a cell.
  return stringify([header, ...systems.flatMap(rowsOfSystem)], { escape_formulas: true, record_delimiter: 'windows' });
}

function rowsOfSystem({ name, rounds }: SystemView): Value[][] {
  return rounds.flatMap((round, index) =>
    round.metrics.map((result) => {
      const cells = Object.values(columns).map((column) => column(result, round));
      // Rounds with the same session and number were measured together.
      const [session, number] = placeOf(round, index).split('.').map(Number) as [number, number];
      return [name, session + 1, number + 1, ...cells].map((cell) => (typeof cell === 'string' ? plain(cell) : cell));
    }),
  );
}
