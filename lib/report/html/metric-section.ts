/** What a document says of one metric, for a page with the style sheet of the report. */
import { html, type Markup } from '../text/markup.js';
import { rowsOf, type View } from '../../results/view.js';
import type { Words } from '../text/words.js';
import { boundedView, boundedWords, sentence } from './bounds.js';
import { bodies } from './sections.js';
import { figuresOf, systemsTable } from './results.js';

/** Leaves only one metric. */
function only(view: View, metric: string): View {
  const categories = view.categories
    .map(({ name, rows }) => ({ name, rows: rows.filter(({ id }) => id === metric) }))
    .filter(({ rows }) => rows.length > 0);
  return {
    ...view,
    categories,
    effects: view.effects.filter((effect) => effect.metric === metric),
    violations: view.violations.filter((violation) => violation.metric === metric),
    notMeasured: view.notMeasured
      .filter(({ metrics }) => metrics.includes(metric))
      .map((missing) => ({ ...missing, metrics: [metric] })),
  };
}

/** Values, charts, outcomes of isolation, and why there is no number; null if the document lacks the metric. */
export function metricSection(whole: View, words: Words, metric: string): Markup | null {
  const view = boundedView(only(whole, metric));
  const [row] = rowsOf(view);
  if (row === undefined) return null;
  const page = { view, words: boundedWords(words) };
  const isMeasured = row.cells.some(({ value }) => value !== null);
  const reasons = row.cells.flatMap(({ results }) => results.flatMap(({ reason }) => reason ?? []));
  const others = (['isolation', 'not-measured'] as const).map((id) => bodies[id]?.(page));
  return html`${systemsTable(row, view)} ${isMeasured ? figuresOf([row], view) : html`<p class="note">No value: ${sentence(reasons[0] ?? '')}</p>`}${others}`;
}
