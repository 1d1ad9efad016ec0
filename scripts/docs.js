#!/usr/bin/env node
// Writes docs/metrics.md and docs/details.md from the metric definitions, examples/report.* from a recorded comparison (through dist),
// lib/native/function-names.ts from the sources of the addon; --check fails if they are not current.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { format } from 'prettier';
import { listMetrics, renderReport } from '../dist/index.js';
import { firstRun } from '../dist/metrics/first-run.js';
import { purposes } from '../dist/metrics/purposes.js';
import { categoryTitle } from '../dist/results/text/category-title.js';
import { generated } from './generated.js';
import './function-names.js';
import { detailsPage } from './details.js';
import { table } from './markdown.js';
import { better, delta, seconds } from './metric-words.js';
import { writePages } from './pages.js';
import { writeSettings } from './settings.js';

await writeSettings();
writePages();

function section(category, metrics) {
  const rows = metrics.map((metric) => [
    `**${metric.id}** ${metric.name}`,
    metric.unit,
    better[metric.direction],
    metric.question,
    metric.estimator,
    delta(metric.delta, metric.unit),
    metric.needs.join(', ') || '–',
    seconds(metric.seconds),
    `\`${metric.functionName}\``,
  ]);
  const head = ['Metric', 'Unit', 'Better', 'Question', 'Value', 'δ', 'Needs', 'Seconds', 'Function'];
  return `## ${categoryTitle(category)}\n\n${table(head, rows)}\n`;
}

function purposeSection(name, { about, limits, metrics: chosen }) {
  const rows = Object.entries(chosen).map(([id, because]) => [
    id,
    nameOf(id),
    because,
    limits.includes(id) ? 'yes' : '–',
  ]);
  return `### ${name}\n\n${about}\n\n${table(['Metric', 'Name', 'Why', 'Limit'], rows)}\n`;
}

const metrics = listMetrics();
const nameOf = (id) => metrics.find((metric) => metric.id === id).name;
const categories = [...new Set(metrics.map(({ category }) => category))];
const text = `# Metrics

Generated from the definitions in \`lib/metrics\` by \`npm run docs\`. How they are measured is in [Method](method.md), what\n\`details\` of each result has in [Details](details.md).

δ is what counts as a difference between systems: relative, or absolute in the metric's unit where values may be zero or
negative. Seconds are rough, on a real GPU, at tier quick / standard (a round) / thorough (a round).

${categories
  .map((category) =>
    section(
      category,
      metrics.filter((metric) => metric.category === category),
    ),
  )
  .join('\n')}
## Purposes

\`compare --for NAME\` and \`run --for NAME\` measure these metrics, in the order in which they answer the question. A violation of a
limit decides before any cost. Selectors add to them: \`compare --for serving OH-002\`.

${Object.entries(purposes)
  .map(([name, purpose]) => purposeSection(name, purpose))
  .join('\n')}
## The set of a first run

\`run\` without a selector or a purpose measures ${firstRun.length} of ${metrics.length} metrics within about a minute: ${firstRun.join(', ')}.
\`run all\` measures all.
`;

generated('docs/metrics.md', await format(text, { parser: 'markdown' }), {
  source: 'the metric definitions',
  command: 'npm run docs',
});

// Aligned columns would double its size.
generated('docs/details.md', detailsPage, {
  source: 'the schemas of details in lib/metrics',
  command: 'npm run docs',
});

// The example report is of a comparison that was measured on a real GPU.
const recorded = 'bench/results/h100/2026-11-25-e642a53f/serving.json.gz';
const document = JSON.parse(gunzipSync(readFileSync(new URL(`../${recorded}`, import.meta.url))).toString());
for (const [format, extension] of [
  ['markdown', 'md'],
  ['html', 'html'],
])
  generated(`examples/report.${extension}`, await renderReport(document, format), {
    source: recorded,
    command: 'npm run docs',
  });
