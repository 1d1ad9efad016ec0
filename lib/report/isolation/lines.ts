/** The details of isolation metrics as lines for the terminal: a count of each outcome, the bad ones by name. */
import { number, plain } from '../../results/plain.js';
import type { View } from '../../results/view.js';
import { interferenceMaps } from './interference.js';
import { outcomeTables, tally } from './outcome-tables.js';

/** Each line starts with the metric's id and, if there are several systems, its system. */
export function isolationLines(view: View): string[] {
  const named = (metric: string, system: string) => (view.systems.length > 1 ? `${system}, ${metric}` : metric);
  const outcomes = outcomeTables(view).flatMap((one) =>
    one.systems.flatMap((system, index) => {
      const text = tally(one, index);
      return text === null ? [] : [`${named(one.metric, system)}: ${text}`];
    }),
  );
  const interference = interferenceMaps(view).flatMap(({ metric, system, victims, aggressors, cells }) => {
    const pairs = cells.flatMap((row, v) =>
      row.flatMap((pair, a) => (pair?.percent == null ? [] : [{ v, a, percent: pair.percent }])),
    );
    const [worst] = [...pairs].sort((a, b) => b.percent - a.percent);
    if (!worst) return [];
    const { v, a, percent } = worst;
    return [`${named(metric, system)}: most ${number(percent)} %, ${victims[v] ?? ''} beside ${aggressors[a] ?? ''}`];
  });
  return [...outcomes, ...interference].map(plain);
}
