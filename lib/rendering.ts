/** Renders documents: one file per format in report/, all from the same view. None needs a GPU. */
import { isComparison, type ResultDocument } from './results/kinds.js';
import { readable } from './results/text/readable.js';
import { type View, viewOf } from './results/view.js';
import { type Words, wordsOf } from './report/text/words.js';

/** The formats, named like the values of --format and the command line's flags. */
export const formats = ['json', 'markdown', 'html', 'csv', 'junit', 'openmetrics', 'bencher'] as const;
export type Format = (typeof formats)[number];

/** A text, in one piece or several, in order. */
type Rendered = string | readonly string[];
type Render = (view: View, words: Words) => Rendered | Promise<Rendered>;

/** Loaded on demand: charts alone take longer to load than the rest of the tool. */
const renderers: Record<Format, () => Promise<Render>> = {
  json: async () => {
    const { jsonReport } = await import('./report/formats/json.js');
    return ({ document }, { answer }) => jsonReport(isComparison(document) ? { ...document, answer } : document);
  },
  markdown: async () => (await import('./report/formats/markdown.js')).markdownReport,
  html: async () => (await import('./report/formats/html.js')).htmlReport,
  csv: async () => (await import('./report/formats/csv.js')).csvReport,
  junit: async () => {
    const [{ junitReport }, { gateOfReport }, { metricsOf }] = await Promise.all([
      import('./report/formats/junit.js'),
      import('./gate/gate.js'),
      import('./metrics/core/stored-definitions.js'),
    ]);
    return ({ document }) => junitReport(gateOfReport(document, metricsOf(document)));
  },
  openmetrics: async () => (await import('./report/formats/openmetrics.js')).openMetricsReport,
  bencher: async () => (await import('./report/formats/bencher.js')).bencherReport,
};

/** Renders one document in the requested formats; their common view is computed once, and only if needed. */
export function rendering(document: ResultDocument): (format: Format) => Promise<Rendered> {
  let drawn: { view: View; forPeople: View; words: Words } | undefined;
  const draw = () => {
    const view = viewOf(document);
    const forPeople = readable(view);
    return { view, forPeople, words: wordsOf(forPeople) };
  };
  return async (format) => {
    const { view, forPeople, words } = (drawn ??= draw());
    const isForPeople = format === 'markdown' || format === 'html';
    return (await renderers[format]())(isForPeople ? forPeople : view, words);
  };
}

/**
 * Renders a report for programs. The document may have an earlier schema version. Throws RangeError for an unknown
 * format, TypeError for anything else than a document.
 */
export async function renderReport(given: ResultDocument, format: Format): Promise<string> {
  if (!formats.includes(format))
    throw new RangeError(`Expected format to be one of ${formats.join(', ')} but received ${String(format)}.`);
  const [v, { comparisonDocumentSchema, runDocumentSchema }, { upgraded }, { upToDate }] = await Promise.all([
    import('valibot'),
    import('./results/document.js'),
    import('./results/upgraded.js'),
    import('./run/effects/judged.js'),
  ]);
  const document = upgraded(given);
  if (!v.is(v.union([runDocumentSchema, comparisonDocumentSchema]), document))
    throw new TypeError('Expected document to be of run or compare but received something else.');
  const rendered = await rendering(upToDate(document))(format);
  return typeof rendered === 'string' ? rendered : rendered.join('');
}
