/** Renders documents: one file per format in report/, all from the same view. None needs a GPU. */
import type { ResultDocument } from './results/kinds.js';
import { readable } from './results/text/readable.js';
import { type View, viewOf } from './results/view.js';
import { type Format, formats, type Rendered, type ReportFormat, reportFormats } from './report/formats.js';
import { type Words, wordsOf } from './report/text/words.js';

interface Drawn {
  view: View;
  forPeople: View;
  words: Words;
}

function drawn(document: ResultDocument): Drawn {
  const view = viewOf(document);
  const forPeople = readable(view);
  return { view, forPeople, words: wordsOf(forPeople) };
}

/** Renders one document in the requested formats; their common view is computed once, and only if needed. */
export function rendering(document: ResultDocument): (format: Format) => Promise<Rendered> {
  let known: Drawn | undefined;
  return async (format) => {
    const { view, forPeople, words } = (known ??= drawn(document));
    const { isForPeople, load }: ReportFormat = reportFormats[format];
    return (await load())(isForPeople ? forPeople : view, words);
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

/** Renders the metrics of a document one by one, as markup for a page with the style sheet of the HTML report. */
export async function renderingMetrics(document: ResultDocument): Promise<(metric: string) => string | null> {
  const { metricSection } = await import('./report/html/metric-section.js');
  const { forPeople, words } = drawn(document);
  return (metric) => metricSection(forPeople, words, metric)?.toString() ?? null;
}
