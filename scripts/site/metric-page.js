// The page of a metric as Markdown: what it answers and means, how it is measured, and its details.
import { firstRun } from '../../dist/metrics/first-run.js';
import { purposes } from '../../dist/metrics/purposes.js';
import { metrics as definitions } from '../../dist/metrics/registry.js';
import { fieldsTable } from '../details.js';
import { better, delta, seconds } from '../metric-words.js';
import { methodOf } from './method-texts.js';
import { placeholderOf } from './pictures.js';

/** Path from a page of a metric to the checkout. */
const ROOT = '../../..';

function usesOf(id) {
  const uses = Object.entries(purposes).flatMap(([name, { limits, metrics }]) =>
    id in metrics ? [`\`--for ${name}\`${limits.includes(id) ? ' (a limit)' : ''}: ${metrics[id]}`] : [],
  );
  return [...uses, ...(firstRun.includes(id) ? ['the set of a first run'] : [])];
}

/** A system with the limit that the metric needs. */
function layerFor({ needs }) {
  const limits = [
    ['memory limit', 'memory=10GiB'],
    ['compute limit', 'sm=50'],
  ].filter(([limit]) => needs.some((need) => need.includes(limit)));
  return ['mps', limits.map(([, setting]) => setting).join(',')].filter(Boolean).join(':');
}

function facts(metric) {
  const { unit, direction, estimator, needs, where, functionName, costOf, contains, variesBecause } = metric;
  const uses = usesOf(metric.id);
  const rows = [
    ['Value', estimator],
    ['Unit', direction === 'none' ? unit : `${unit}; ${better[direction]} is better`],
    ['Counts as a difference', delta(metric.delta, unit)],
    ['Needs', needs.join(', ') || 'one GPU'],
    ['Measured in', where === 'process' ? 'one process' : 'fresh processes'],
    ['Seconds', `${seconds(metric.seconds)} at tier quick / standard (a round) / thorough (a round)`],
    ...(costOf ? [['Cost of', costOf]] : []),
    ...(contains ? [['Contains', contains.join(', ')]] : []),
    ...(variesBecause ? [['Varies because', variesBecause]] : []),
    ...(uses.length > 0 ? [['Part of', uses.join('; ')]] : []),
    ['Function', `{@link ${functionName}}, with the options {@link MeasureOptions}`],
  ];
  return rows.map(([what, text]) => `- **${what}:** ${text}`).join('\n');
}

/** Makes links of docs/method.md lead there from a page of a metric. */
const fromHere = (text) =>
  text.replace(/\]\((#|[\w-]+\.md)/g, (_, target) =>
    target === '#' ? `](${ROOT}/docs/method.md#` : `](${ROOT}/docs/${target}`,
  );

function method(id) {
  const found = methodOf(id);
  const page = `${ROOT}/docs/method.md`;
  if (found === null) return `[Method](${page}) says what all metrics have in common.`;
  const { heading, anchor, text } = found;
  return `${fromHere(text)}\n\n[${heading}](${page}#${anchor}) has what the metrics of this section have in common.`;
}

export function metricPage(metric) {
  const { id, name, question } = metric;
  const { entries } = definitions.find((definition) => definition.id === id).details;
  return `# ${id} ${name}

**${question}**

${facts(metric)}

\`\`\`sh
npx gpu-virt-bench run ${id}
npx gpu-virt-bench compare ${id} --system native --system ${layerFor(metric)}
\`\`\`

## On a real GPU

${placeholderOf(id)}

## How it is measured

${method(id)}

## Fields of details

Fields with a * are not in every result. [Details](${ROOT}/docs/details.md#in-every-result) has those of every result.

${fieldsTable(entries)}
`;
}
