// How each metric is measured, as docs/method.md says it: the items of a section that name the metric, or the whole
// section where it is about nothing else.
import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../docs/method.md', import.meta.url), 'utf8');

/** Ids in a text: `IS-006 … IS-009` and `START-001 … 004` are ranges. */
function idsIn(text) {
  const ids = [];
  for (const [, category, from, to] of text.matchAll(/\b([A-Z]+)-(\d{3})(?: … (?:\1-)?(\d{3}))?/g))
    for (let n = Number(from); n <= Number(to ?? from); n++) ids.push(`${category}-${String(n).padStart(3, '0')}`);
  return ids;
}

/** Metrics that an item describes: those that it names in bold. */
const describedIn = (item) => idsIn([...item.matchAll(/\*\*([^*]+)\*\*/g)].map(([, bold]) => bold).join('\n'));

/** Anchor of a heading, as GitHub has it. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const sections = page
  .slice(page.indexOf('\n## Each metric\n'), page.indexOf('\n## Comparisons\n'))
  .split(/\n### /)
  .slice(1)
  .map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return {
      heading,
      ids: idsIn(heading),
      text: lines.join('\n').trim(),
      items: lines
        .join('\n')
        .split(/\n(?=- )/)
        .filter((item) => item.startsWith('- ')),
    };
  });

/** The text about a metric and the heading and anchor of its section; null where the page says nothing of it. */
export function methodOf(id) {
  for (const { heading, ids, text, items } of sections) {
    const own = items.filter((item) => describedIn(item).includes(id)).map((item) => item.trim());
    const isWhole = own.length === 0 && ids.length === 1 && ids[0] === id;
    if (own.length > 0 || isWhole) return { heading, anchor: anchorOf(heading), text: isWhole ? text : own.join('\n') };
  }
  return null;
}
