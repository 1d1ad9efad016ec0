/** The cost for a program under each system, from its call profile: a table. */
import { html, type Markup } from '../markup.js';
import {
  contributorsText,
  missingCallsText,
  percentText,
  PROGRAM_NOTE,
  PROGRAM_TITLE,
  programCostsOf,
  programName,
  stepText,
  taxText,
} from '../program-costs.js';
import { name, sentence } from './bounds.js';
import type { Page } from './page-content.js';
import { scaled, spanned, table, text } from './table.js';

/** Null without a call profile. */
export function programCosts({ view }: Page): Markup | null {
  const costs = programCostsOf(view);
  if (costs.length === 0) return null;
  const rows = costs.map((cost) => {
    const tax = taxText(cost);
    const percent = percentText(cost);
    return html`<tr>
      <th scope="row">${name(programName(cost))}</th>
      ${text(name(cost.system))}
      ${scaled(cost.taxUs, 'us', tax ? [tax.value, spanned(tax.interval)] : '–')}
      ${scaled(cost.percent, '%', percent ? [percent.value, spanned(percent.interval)] : '–')}
      ${text(stepText(cost))}
      <td class="long">${sentence(contributorsText(cost) ?? '–')}</td>
      <td class="long">${sentence(missingCallsText(cost) ?? '–')}</td>
    </tr>`;
  });
  return html`<p class="note">${PROGRAM_NOTE}</p>
    ${table({
      caption: PROGRAM_TITLE,
      headings: [
        { title: 'Program' },
        { title: 'System' },
        { title: 'A step', numeric: true },
        { title: 'Of the step', numeric: true },
        { title: 'Step' },
        { title: 'Largest' },
        { title: 'Not priced' },
      ],
      rows,
    })}`;
}
