// The pages of the site: those that are in the checkout, and those that are written to build/site-pages/, which are the
// first page and one per metric.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as library from '../../dist/index.js';
import { categoryTitle } from '../../dist/results/text/category-title.js';
import { table } from '../markdown.js';
import { metricPage } from './metric-page.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const written = join(root, 'build/site-pages');

/** The pages by group, in the order of the navigation. */
const groups = {
  Guides: [
    'README.md',
    'docs/getting-started.md',
    'docs/serving.md',
    'docs/systems.md',
    'docs/pods.md',
    'docs/hami.md',
    'docs/kai.md',
    'docs/device-plugin.md',
    'docs/dra.md',
    'docs/exec.md',
    'docs/load.md',
    'docs/monitor.md',
    'docs/slurm.md',
    'docs/profiles.md',
    'docs/costs.md',
    'docs/gates.md',
    'docs/fleet.md',
    'docs/reports.md',
  ],
  Reference: [
    'docs/metrics.md',
    'docs/details.md',
    'docs/method.md',
    'docs/cards.md',
    'docs/drivers.md',
    'docs/interposer.md',
    'docs/findings-h200.md',
    'docs/findings-h100.md',
    'docs/findings-checkpoint.md',
    'examples/report.md',
    'CHANGELOG.md',
  ],
  Studies: [
    'studies/README.md',
    'studies/container-overhead/README.md',
    'studies/inference-engines/README.md',
    'studies/gpu-passthrough/README.md',
    'studies/hami-and-fcsp/README.md',
    'studies/mps-restore/README.md',
  ],
};
/** Titles in place of headings. */
const titles = { 'README.md': 'README', 'examples/report.md': 'Example report' };
export const METRICS = 'Metrics';
export const groupNames = [...Object.keys(groups), METRICS];

export const metrics = library.listMetrics();
const categories = [...new Set(metrics.map(({ category }) => category))];
export const categoryTitles = categories.map(categoryTitle);

export const fileOf = (id) => join(written, 'metrics', `${id}.md`);
export const homeFile = join(written, 'home.md');

function pageOf(path, group) {
  const file = join(root, path);
  const title = titles[path] ?? /^# (.*)$/m.exec(readFileSync(file, 'utf8'))[1];
  // All studies have a README.
  const slug = path.startsWith('studies/') ? basename(dirname(path)) : basename(path, '.md');
  return { file, group, slug, title, name: title.replace(/: .*/, '') };
}

const kept = Object.entries(groups).flatMap(([group, paths]) => paths.map((path) => pageOf(path, group)));

const forgotten = readdirSync(join(root, 'docs')).filter((name) => !kept.some(({ file }) => basename(file) === name));
if (forgotten.length > 0)
  throw new Error(`${forgotten.join(', ')} of docs/ is in no group of the site. Add it to scripts/site/pages.js.`);

/** Every page but the first: its file, its name and group in the navigation, and the name of its file in the site. */
export const pages = [
  ...kept,
  ...metrics.map(({ id, name, category }) => ({
    file: fileOf(id),
    group: METRICS,
    category: categoryTitle(category),
    slug: id,
    name: `${id} ${name}`,
  })),
];

const link = (text, file) => `[${text}](${relative(written, file)})`;

const list = (group) =>
  kept
    .filter((page) => page.group === group)
    .map(({ title, file }) => `- ${link(title, file)}`)
    .join('\n');

function metricLinks(category) {
  const own = metrics.filter((metric) => metric.category === category);
  return [categoryTitle(category), own.map(({ id, name }) => `${link(id, fileOf(id))} ${name}`).join('<br>')];
}

/** The first page; its heading is the name of the project. */
function home() {
  const readme = join(root, 'README.md');
  const about = readFileSync(readme, 'utf8').split('\n\n')[1];
  const functions = Object.keys(library).filter((name) => /^(?!measure)[a-z]/.test(name));
  return `${about}

${Object.keys(groups)
  .map((group) => `## ${group}\n\n${list(group)}`)
  .join('\n\n')}

## Metrics

${table(['Category', 'Metrics'], categories.map(metricLinks))}

## Library

${link('README', `${readme}#library`)} says how to begin. There is a function per metric, and ${functions
    .map((name) => `{@link ${name}}`)
    .join(', ')}.
`;
}

export function writePages() {
  rmSync(written, { recursive: true, force: true });
  mkdirSync(join(written, 'metrics'), { recursive: true });
  writeFileSync(homeFile, home());
  for (const metric of metrics) writeFileSync(fileOf(metric.id), metricPage(metric));
}
