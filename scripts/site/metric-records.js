// Which record of a real GPU shows each metric: the newest that has its number under native and two layers, or else under as
// many kinds of systems as there are. Records with systems of kind `custom` come last: they are about this tool itself.
import { renderingMetrics } from '../../dist/rendering.js';
import { upgraded } from '../../dist/results/upgraded.js';
import { upToDate } from '../../dist/run/effects/judged.js';
import { jsonRecords } from '../../bench/records.js';

const MOST_KINDS = 3;
const documentKinds = ['run', 'comparison'];

const roundsOf = ({ kind, content }) => (kind === 'run' ? [content] : content.systems.flat());

/** How well a record shows a metric: the higher, the better; 0 without a number, null without the metric as it is today. */
function fitOf(record, { id, unit }) {
  const found = roundsOf(record).flatMap(({ system, metrics }) =>
    metrics.filter((result) => result.id === id && result.unit === unit).map((result) => ({ system, result })),
  );
  if (found.length === 0) return null;
  // A loss against the baseline may be the only number.
  const effects = record.content.effects ?? [];
  const isDifference = ({ metric, difference, ratio }) => metric === id && (difference ?? ratio ?? null) !== null;
  const compared = effects.filter(isDifference).map(({ system }) => system);
  const ok = found.filter(({ system, result }) => result.value !== null || compared.includes(system?.name));
  const kinds = new Set(ok.map(({ system }) => system?.kind ?? 'none'));
  if (kinds.size === 0) return 0;
  const isOfLayers = found.every(({ system }) => system?.kind !== 'custom');
  return isOfLayers ? 1 + Math.min(MOST_KINDS, kinds.size) : 1;
}

/** The best record of each metric so far, without its document: there are many, and they are long. */
function chosenRecords(metrics) {
  const best = new Map();
  for (const record of jsonRecords()) {
    if (!documentKinds.includes(record.kind)) continue;
    const [first] = roundsOf(record);
    if (!first?.gpu[0] || first.gpu[0].simulated) continue;
    for (const metric of metrics) {
      const fit = fitOf(record, metric);
      if (fit === null) continue;
      const { startedAt } = record.content;
      const known = best.get(metric.id);
      if (known && (known.fit > fit || (known.fit === fit && known.startedAt > startedAt))) continue;
      best.set(metric.id, { fit, startedAt, record });
    }
  }
  return best;
}

/** Facts of a record for its caption. The folder is named after the date and the commit. */
function factsOf({ name, content, kind }) {
  const [{ gpu, driver }] = roundsOf({ content, kind });
  return {
    file: `bench/results/${name}`,
    gpus: gpu.length > 1 ? `${gpu.length} × ${gpu[0].name}` : gpu[0].name,
    driver: driver.version,
    date: content.startedAt.slice(0, 10),
    commit: /\/\d{4}-\d{2}-\d{2}-([0-9a-f]+)\//.exec(name)?.[1] ?? null,
    kind,
  };
}

/** Maps each metric to its markup, the facts of its record, and whether it has a number there. */
export async function metricRecords(metrics) {
  const drawings = new Map();
  const records = new Map();
  for (const [id, { fit, record }] of chosenRecords(metrics)) {
    if (!drawings.has(record.name))
      drawings.set(record.name, await renderingMetrics(upToDate(upgraded(record.content))));
    records.set(id, { markup: drawings.get(record.name)(id), hasNumber: fit > 0, ...factsOf(record) });
  }
  return records;
}
