/** A table of any section as markup. */
import { html, type Markup } from '../text/markup.js';
import { cellOf, type DataCell, type DataTable } from '../tables/table-data.js';
import { sentence } from './bounds.js';
import { scaled, spanned, table, text, unbroken } from './table.js';

/** Number of characters above which a text needs a wide column. */
const LONG = 40;

function cellMarkup(cell: DataCell, isNumeric: boolean): Markup {
  const shown = sentence(cell.text);
  if (isNumeric && cell.sort === undefined) return html`<td class="num">${unbroken(shown)}</td>`;
  if (isNumeric) return scaled(cell.sort ?? null, cell.unit ?? null, [unbroken(shown), spanned(cell.note ?? null)]);
  return shown.length > LONG ? html`<td class="long">${shown}</td>` : text(shown);
}

export const dataTable = ({ title, columns, rows }: DataTable): Markup =>
  table({
    caption: sentence(title),
    headings: columns.map((column) => ({ title: column.title, numeric: column.isNumeric === true })),
    rows: rows.map(({ metric, cells: [first = '', ...others] }) => {
      const cells = others.map((cell, i) => cellMarkup(cellOf(cell), columns[i + 1]?.isNumeric === true));
      return html`<tr ${metric !== undefined && html` data-metric="${metric}"`}>
        <th scope="row">${sentence(cellOf(first).text)}</th>
        ${cells}
      </tr>`;
    }),
  });

/** A sentence before the table that it is about. */
export const noted = (note: string, content: DataTable): Markup =>
  html`<p class="note">${note}</p>
    ${dataTable(content)}`;
