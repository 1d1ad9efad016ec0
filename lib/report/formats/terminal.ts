/** Result documents for the terminal. */
import type { MetricResult, RunDocument } from '../../results/document.js';
import { missingIntervals } from '../../results/intervals-missing.js';
import { plain } from '../../results/text/plain.js';
import { digits, quantity, range } from '../../results/text/quantity.js';
import { readableResult } from '../../results/text/readable.js';
import { viewOf } from '../../results/view.js';
import { violationsOf } from '../../results/violations.js';
import { indented } from '../text/indented.js';
import { isolationLines } from '../isolation/lines.js';
import { type Screen, screen } from '../text/screen.js';
import { type Column, table } from '../tables/table.js';
import { PROGRAM_TITLE, profilePriceLines } from '../tables/program-costs.js';
import { violationLines } from '../text/violation-text.js';
import { isSimulated } from '../../results/kinds.js';

export const WATERMARK = 'SIMULATED GPU: these numbers say nothing about real hardware.';

const resultColumns: Column[] = [
  { title: 'Metric', width: 40 },
  { title: 'Value', align: 'right' },
  { title: '95 % interval', align: 'right', leaves: 3 },
  { title: 'p99', align: 'right', leaves: 2 },
  { title: 'Samples', align: 'right', leaves: 1 },
  { title: 'Status', width: 48 },
];

export function runReport(document: RunDocument, on: Screen = screen()): string {
  const gpu = document.gpu[0];
  const title = gpu ? `${plain(gpu.name)}, driver ${document.driver.version ?? 'unknown'}` : 'no GPU';
  const { layer } = document.system;
  const under = layer ? `, under ${plain(layer.path)} (${layer.active ? 'active' : 'INACTIVE'})` : '';
  return [
    ...(isSimulated(document) ? [WATERMARK] : []),
    `${title}, system ${plain(document.system.name)}${under}`,
    ...violationLines(violationsOf(document)),
    '',
    table(resultColumns, document.metrics.map(readableResult).map(resultRow), on),
    ...indented('No interval', missingIntervals(document)).flatMap((lines) => ['', lines]),
    ...indented(PROGRAM_TITLE, profilePriceLines(document)).flatMap((lines) => ['', lines]),
    ...indented('Isolation', isolationLines(viewOf(document))).flatMap((lines) => ['', lines]),
  ].join('\n');
}

/** Number of samples. If the interval is over processes, a process is the sample. */
function sampleCount({ stats, processes, ciScope }: MetricResult): string {
  return ciScope === 'between-processes' ? `${processes} processes` : `${stats?.count ?? 0}`;
}

function resultRow(result: MetricResult): string[] {
  const { id, name, unit, value, ci95, stats, status, reason } = result;
  const p99 = stats?.p99;
  return [
    plain(`${id} ${name}`),
    value === null ? '–' : quantity(value, unit),
    ci95 === null ? '–' : range(ci95),
    p99 === null || p99 === undefined ? '–' : digits(p99),
    stats === null ? '–' : sampleCount(result),
    plain(reason ? `${status}: ${reason}` : status),
  ];
}
