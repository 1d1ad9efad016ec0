/** The details of isolation metrics as lines: for the terminal a count of each outcome, the bad ones by name. */
import { plain } from '../../results/text/plain.js';
import type { View } from '../../results/view.js';
import { outcomeTables, tally } from './outcome-tables.js';
import { type Remark, remarksOf } from './remarks.js';

/** Formats a remark, with its system if there are several. */
const lineOf = ({ systems }: View, { metric, system, text }: Remark): string =>
  plain(`${systems.length > 1 ? `${system}, ${metric}` : metric}: ${text}`);

/** Lines of remarks alone, for formats that have the outcomes in tables. */
export const remarkLines = (view: View): string[] => remarksOf(view).map((remark) => lineOf(view, remark));

/** Lines of all details, one per metric and system, in their order. */
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
