// The style sheet of the site: that of the HTML report for what comes from a record, by nesting, and the little that typedoc
// needs besides.
import { readFileSync } from 'node:fs';

const report = readFileSync(new URL('../../lib/report/html/page.css', import.meta.url), 'utf8');

/** Rules of the root of a page apply to a record; the theme is that of the page around it. */
const nested = report
  .replace(/^:root(\[data-theme='\w+'\]) \{/gm, ':root$1 & {')
  .replace(/^:root \{/gm, '& {')
  // A condition inside a rule has no root of its own.
  .replace(/^ {2}:root,\n {2}:root\[data-theme\] \{/gm, '  & {')
  .replace(/^ {2}@page \{[^}]*\}\n/gm, '');

/** What typedoc gives tables of pages. */
const reset = `.record :is(th, td) {
  border: 0 solid;
}
`;

const own = `
:root {
  --light-color-link: #0b5cad;
}
.record {
  --page: var(--color-background);
  --raised: var(--color-background-secondary);
  margin: 1rem 0;
}
.record tbody th {
  min-width: 0;
}
.record-source {
  font-size: 0.875rem;
}
.tsd-typography table {
  display: block;
  overflow-x: auto;
}
.record table {
  display: table;
}
`;

export const styleSheet = () => `${reset}.record {\n${nested}}\n${own}`;
