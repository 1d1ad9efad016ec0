/** The details of isolation metrics as lines: for the terminal a count of each outcome, the bad ones by name. */
import { plain } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { outcomeTables, tally } from './outcome-tables.js';
import { type Remark, remarksOf } from './remarks.js';

/** Starts with the metric's id and, if there are several systems, its system. */
const lineOf = ({ systems }: View, { metric, system, text }: Remark): string =>
  plain(`${systems.length > 1 ? `${system}, ${metric}` : metric}: ${text}`);

/** Without the outcomes, for formats that have them in tables. */
export const remarkLines = (view: View): string[] => remarksOf(view).map((remark) => lineOf(view, remark));

/** One per metric and system, in their order. */
export function isolationLines(view: View): string[] {
  const outcomes = outcomeTables(view).flatMap((one) =>
    one.systems.flatMap((system, index): Remark[] => {
      const text = tally(one, index);
      return text === null ? [] : [{ metric: one.metric, system, text }];
    }),
  );
  const all = [...remarksOf(view), ...outcomes];
  return view.categories.flatMap(({ rows }) =>
    rows.flatMap(({ id }) =>
      view.systems.flatMap(({ name }) => {
        const own = all.filter(({ metric, system }) => metric === id && system === name);
        const text = own.map((one) => one.text).join('; ');
        return own.length === 0 ? [] : [lineOf(view, { metric: id, system: name, text })];
      }),
    ),
  );
}
