/** How much programs slow each other down, as a table. */
import { html, type Markup } from '../markup.js';
import { SCENE_NOTE, SCENE_TITLE, sceneHeadings, sceneRowsOf } from '../slowdowns.js';
import { name } from './bounds.js';
import type { Page } from './page-content.js';
import { scaled, spanned, table, text } from './table.js';

/** Null without scenes. */
export function scenes({ view }: Page): Markup | null {
  const rows = sceneRowsOf(view);
  if (rows.length === 0) return null;
  const cells = rows.map(
    ({ scene, victim, metric, system, alone, together, slowdown, ratio }) =>
      html`<tr>
        <th scope="row">${name(scene)}</th>
        ${[victim, metric, system].map((each) => text(name(each)))}
        ${[alone, together].map((each) => html`<td class="num">${each ? each.value : '–'}</td>`)}
        ${scaled(ratio, null, slowdown ? [slowdown.value, spanned(slowdown.interval)] : '–')}
      </tr>`,
  );
  return html`<p class="note">${SCENE_NOTE}</p>
    ${table({
      caption: SCENE_TITLE,
      headings: sceneHeadings.map((title, place) => ({ title, numeric: place >= 4 })),
      rows: cells,
    })}`;
}
