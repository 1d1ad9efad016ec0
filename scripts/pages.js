// Tables in pages of docs/ that are generated from what lib (through dist) describes.
import { readFileSync } from 'node:fs';
import { kinds } from '../dist/all-settings.js';
import { reportFormats } from '../dist/report/formats.js';
import { programMetrics } from '../dist/workloads/metrics/program-metrics.js';
import { generated } from './generated.js';
import { table } from './markdown.js';
import { settingsTables } from './settings.js';

/** Markdown by name. */
const tables = new Map([
  ...settingsTables,
  [
    'kinds of systems',
    table(
      ['kind', 'what it is', 'settings'],
      Object.entries(kinds).map(([kind, { about, settings }]) => [
        `\`${kind}\``,
        about,
        Object.keys(settings.entries)
          .map((key) => `\`${key}\``)
          .join(', '),
      ]),
    ),
  ],
  [
    'metrics of a program',
    table(
      ['metric', 'unit', 'what it is'],
      Object.entries(programMetrics).map(([key, { unit, about }]) => [`\`NAME/${key}\``, unit, about]),
    ),
  ],
  [
    'formats of a report',
    table(
      ['format', 'flag', 'what it is'],
      Object.entries(reportFormats).map(([name, { help, more = '' }]) => [
        `\`${name}\``,
        `\`--${name} FILE\``,
        `${help}${more}`,
      ]),
    ),
  ],
]);

/** Fills `<!-- NAME -->` … `<!-- end -->`. */
function writePage(path) {
  const text = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const filled = text.replace(/<!-- (.*?) -->\n.*?<!-- end -->/gs, (_, name) => {
    if (!tables.has(name)) throw new Error(`${path} has a table of ${name}, which does not exist.`);
    return `<!-- ${name} -->\n\n${tables.get(name)}\n\n<!-- end -->`;
  });
  generated(path, filled, { source: 'what lib/ describes', command: 'npm run docs' });
}

export function writePages() {
  for (const name of ['systems', 'exec', 'load', 'gates', 'costs', 'reports']) writePage(`docs/${name}.md`);
}
