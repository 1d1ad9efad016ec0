// What a record of a real GPU says of a metric, as markup with the style sheet of the HTML report, and its caption.
import { basename, dirname } from 'node:path';

const escaped = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Tips become titles, which a browser shows without a script. */
const withTitles = (markup) =>
  markup.replace(/<(\w+)([^<>]*?) data-tip="([^"]*)"([^<>]*?)\/?>(?:<\/\1>)?/g, '<$1$2$4><title>$3</title></$1>');

function pictureMarkup(record) {
  if (record === undefined) return '<p>No record of a real GPU has this metric.</p>';
  const { markup, hasNumber, file, gpus, driver, date, commit, kind } = record;
  const what = kind === 'run' ? 'one run' : 'a comparison';
  const facts = [gpus, `driver ${driver}`, date, commit && `commit ${commit}`].filter(Boolean).join(', ');
  const without = hasNumber ? '' : '<p>No record of a real GPU has a number of this metric. The newest says why:</p>';
  return `${without}<div class="record">${withTitles(markup)}</div>
<p class="record-source">From ${what} on ${escaped(facts)}: <code>${escaped(basename(file))}</code> in
<code>${escaped(dirname(file))}</code>.</p>`;
}

export const placeholderOf = (id) => `<!-- picture of ${id} -->`;

/** Fills the placeholders of a page. They are filled late, because the search index has the whole text of a page. */
export const withPictures = (html, records) =>
  html.replace(/<!-- picture of ([\w-]+) -->/g, (_, id) => pictureMarkup(records.get(id)));
