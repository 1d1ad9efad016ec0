/** How much programs slow each other down, as a Markdown table. */
import type { EstimateText } from '../results/quantity.js';
import type { View } from '../results/view.js';
import { markdownTable, markdownText } from './markdown-text.js';
import { SCENE_NOTE, sceneHeadings, sceneRowsOf } from './slowdowns.js';

const valueOf = (text: EstimateText | null): string => markdownText(text?.value ?? '–');

/** Null without scenes. */
export function scenesMarkdown(view: View): string | null {
  const rows = sceneRowsOf(view);
  if (rows.length === 0) return null;
  const columns = [...sceneHeadings, '95 % interval'].map((title, place) =>
    place < 4 ? { title } : { title, align: 'right' as const },
  );
  const cells = rows.map(({ scene, victim, metric, system, alone, together, slowdown }) => [
    ...[scene, victim, metric, system].map(markdownText),
    ...[valueOf(alone), valueOf(together), valueOf(slowdown), slowdown?.interval ?? '–'],
  ]);
  return [SCENE_NOTE, markdownTable(columns, cells)].join('\n\n');
}
