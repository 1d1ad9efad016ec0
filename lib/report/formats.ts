/** The formats of a report, each described once: the flags, their help, docs/reports.md and `renderReport` follow from here. */
import { isComparison } from '../results/kinds.js';
import type { View } from '../results/view.js';
import type { Words } from './text/words.js';

/** A text, in one piece or several, in order. */
export type Rendered = string | readonly string[];
type Render = (view: View, words: Words) => Rendered | Promise<Rendered>;

export interface ReportFormat {
  /** The help of its flag, without the default. */
  help: string;
  /** Markdown that follows the help in docs/reports.md. */
  more?: string;
  /** Whether numbers get units that people read easily; programs get the units of the metrics. */
  isForPeople?: true;
  /** Loads it on demand: charts alone take longer to load than the rest of the tool. */
  load: () => Promise<Render>;
}

/** Named like the values of --format and the command line's flags, in the order of the help. */
export const reportFormats = {
  json: {
    help: 'the result document',
    more: ' ([run](../schema/run-document.schema.json), [comparison](../schema/comparison-document.schema.json))',
    load: async () => {
      const { jsonReport } = await import('./formats/json.js');
      return ({ document }, { answer }) => jsonReport(isComparison(document) ? { ...document, answer } : document);
    },
  },
  markdown: {
    help: 'a report for issues and pull requests',
    more: '; the default of `report`',
    isForPeople: true,
    load: async () => (await import('./formats/markdown.js')).markdownReport,
  },
  html: {
    help: 'a report with charts, one self-contained page',
    more: '; readable without JavaScript, printable, loads nothing from the network',
    isForPeople: true,
    load: async () => (await import('./formats/html.js')).htmlReport,
  },
  csv: {
    help: 'one row per metric, system and round',
    more: '; text that a spreadsheet would execute is quoted',
    load: async () => (await import('./formats/csv.js')).csvReport,
  },
  junit: {
    help: 'one case per metric and threshold, from the gate or its defaults',
    more: ' ([gates](gates.md))',
    load: async () => {
      const [{ junitReport, unjudgedJunitReport }, { gateOfReport }, { metricsOf }, { incompleteText }] =
        await Promise.all([
          import('./formats/junit.js'),
          import('../gate/gate.js'),
          import('../metrics/core/stored-definitions.js'),
          import('./tables/incomplete.js'),
        ]);
      return ({ document }) => {
        const incomplete = incompleteText(document);
        return incomplete === null
          ? junitReport(gateOfReport(document, metricsOf(document)))
          : unjudgedJunitReport('interrupted', incomplete);
      };
    },
  },
  openmetrics: {
    help: "text for Prometheus' textfile collector",
    more: ': base units, all gauges',
    load: async () => (await import('./formats/openmetrics.js')).openMetricsReport,
  },
  bencher: {
    help: 'Bencher Metric Format',
    more: ': times as `latency` in nanoseconds',
    load: async () => (await import('./formats/bencher.js')).bencherReport,
  },
} satisfies Record<string, ReportFormat>;

export type Format = keyof typeof reportFormats;
export const formats = Object.keys(reportFormats) as Format[];
