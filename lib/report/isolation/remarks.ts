/** Remarks on a system's result of a metric that its value and tables do not show: one line each. */
import { number } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { interferenceMaps, worstText } from './interference.js';
import { keptLimits } from './kept-limits.js';
import { detailRows, type DetailRows } from './rows.js';

export interface Remark {
  metric: string;
  system: string;
  text: string;
}

/** Metrics that give each of their tenants an equal part of the card, whatever limit the system has. */
const OWN_LIMITS: Readonly<Record<string, { tenants: string; percent: number }>> = {
  'IS-006': { tenants: 'two', percent: 50 },
  'IS-007': { tenants: 'four', percent: 25 },
  'IS-008': { tenants: 'four', percent: 25 },
};

/** The system's compute limit; null if the document does not tell a single one. */
function limitOf({ computeLimits, categories }: View, name: string): number | null {
  const checked = computeLimits.find(({ system }) => system === name)?.limitPercent;
  if (checked !== undefined) return checked;
  const own = categories.flatMap(({ rows }) =>
    rows.flatMap(({ cells }) => cells.filter(({ system }) => system === name).flatMap(({ results }) => results)),
  );
  const details = own.flatMap((result) => detailRows(result) ?? []);
  return (
    single(details.flatMap(({ launchPaths }) => launchPaths.map(({ limitPercent }) => limitPercent))) ??
    single(details.flatMap(({ limits }) => limits.map(({ smPercent }) => smPercent)))
  );
}

function single(limits: readonly number[]): number | null {
  const [limit, ...others] = new Set(limits);
  return limit !== undefined && others.length === 0 ? limit : null;
}

function ownLimit(metric: string, details: readonly DetailRows[], systemLimit: () => number | null): string | null {
  if (!Object.hasOwn(OWN_LIMITS, metric)) return null;
  const { tenants, percent } = OWN_LIMITS[metric] as { tenants: string; percent: number };
  if (!details.some(({ shares }) => shares.some(({ limitPercent }) => limitPercent === percent))) return null;
  const limit = systemLimit();
  if (limit === percent) return null;
  return `${tenants} tenants with a limit of ${percent} % each${limit === null ? '' : `, not the system's ${number(limit)} %`}`;
}

/** Remarks in the order of the metrics, then of the systems. */
export function remarksOf(view: View): Remark[] {
  const maps = interferenceMaps(view);
  return view.categories.flatMap(({ rows }) =>
    rows.flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }): Remark[] => {
        const details = results.flatMap((result) => detailRows(result) ?? []);
        const map = maps.find((one) => one.metric === id && one.system === system);
        const texts = [
          keptLimits(details.flatMap(({ limits }) => limits)),
          ownLimit(id, details, () => limitOf(view, system)),
          map ? worstText(map) : null,
        ];
        return texts.flatMap((text) => (text === null ? [] : [{ metric: id, system, text }]));
      }),
    ),
  );
}
