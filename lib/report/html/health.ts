/** What disturbed the measurements, and how busy the card was. */
import type { Check } from '../../results/document.js';
import { html, type Markup } from '../text/markup.js';
import type { View } from '../../results/view.js';
import { name, sentence } from './bounds.js';
import { heatFigure } from './figures/figures.js';
import { items } from './prose.js';
import type { Page } from './page-content.js';
import { count, table, text } from './table.js';

interface Finding {
  system: string;
  when: 'before' | 'after';
  check: Check;
  rounds: number;
}

/** Makes one entry per finding, however many rounds have it; the detail is the first round's. */
function findings(view: View): Finding[] {
  const found = new Map<string, Finding>();
  for (const { name: system, rounds } of view.systems)
    for (const { health } of rounds)
      for (const when of ['before', 'after'] as const)
        for (const check of health[when]) {
          if (check.passed === true) continue;
          const key = JSON.stringify([system, when, check.name, check.passed]);
          const entry = found.get(key) ?? { system, when, check, rounds: 0 };
          entry.rounds += 1;
          found.set(key, entry);
        }
  return [...found.values()];
}

const findingRow = ({ system, when, check, rounds }: Finding): Markup =>
  html`<tr>
    <th scope="row">${system}</th>
    ${text(when)}${text(name(check.name))}${text(check.passed === false ? 'failed' : 'not checked')}${count(rounds)}
    <td class="long">${sentence(check.detail)}</td>
  </tr>`;

export function health({ view }: Page): Markup | null {
  const rows = findings(view).map(findingRow);
  const checks = table({
    caption: 'Checks of the machine that did not pass, before the first measurement and after the last',
    headings: [
      { title: 'System' },
      { title: 'When' },
      { title: 'Check' },
      { title: 'Outcome' },
      { title: 'Rounds', numeric: true },
      { title: 'Detail' },
    ],
    rows,
  });
  const warnings = view.warnings.length > 0 ? items(view.warnings) : html`<p>No warnings.</p> `;
  return html`${warnings}${rows.length > 0 ? checks : html`<p>All checks of the machine passed.</p> `}${heatFigure(view)}`;
}
