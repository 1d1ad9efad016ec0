/** Result documents as a person reads them on a terminal. */
import type { MetricResult, RunDocument } from '../document.js';
import { number, plain } from './plain.js';
import { type Column, table } from './table.js';
import { isSimulated } from './view.js';

export const WATERMARK = 'SIMULATED GPU: these numbers say nothing about real hardware.';

const resultColumns: Column[] = [
  { title: 'Metric', width: 40 },
  { title: 'Value', align: 'right' },
  { title: '95 % interval', align: 'right' },
  { title: 'p99', align: 'right' },
  { title: 'Samples', align: 'right' },
  { title: 'Status', width: 48 },
];

export function runReport(document: RunDocument): string {
  const gpu = document.gpu[0];
  const title = gpu ? `${plain(gpu.name)}, driver ${document.driver.version ?? 'unknown'}` : 'no GPU';
  const { layer } = document.system;
  const under = layer ? `, under ${plain(layer.path)} (${layer.active ? 'active' : 'INACTIVE'})` : '';
  return [
    ...(isSimulated(document) ? [WATERMARK] : []),
    `${title}, system ${plain(document.system.name)}${under}`,
    '',
    table(resultColumns, document.metrics.map(resultRow)),
  ].join('\n');
}

/** Between processes, a process is the sample. */
function sampleCount({ stats, processes, ciScope }: MetricResult): string {
  return ciScope === 'between-processes' ? `${processes} processes` : `${stats?.count ?? 0}`;
}

function resultRow(result: MetricResult): string[] {
  const { id, name, unit, value, ci95, stats, status, reason } = result;
  const p99 = stats?.p99;
  return [
    plain(`${id} ${name}`),
    value === null ? '–' : `${number(value)} ${unit}`,
    ci95 === null ? '–' : `${number(ci95[0])} … ${number(ci95[1])}`,
    p99 === null || p99 === undefined ? '–' : number(p99),
    stats === null ? '–' : sampleCount(result),
    plain(reason ? `${status}: ${reason}` : status),
  ];
}

const listColumns: Column[] = [
  { title: 'Id' },
  { title: 'Name', width: 32 },
  { title: 'Unit' },
  { title: 'Better' },
  { title: 'Question', width: 56 },
  { title: 'Needs', width: 32 },
];

export interface ListedMetric {
  id: string;
  name: string;
  unit: string;
  direction: MetricResult['direction'];
  question: string;
  needs: readonly string[];
}

export function metricList(metrics: readonly ListedMetric[]): string {
  return table(
    listColumns,
    metrics.map(({ id, name, unit, direction, question, needs }) => [
      id,
      name,
      unit,
      direction === 'none' ? '–' : direction,
      question,
      needs.length > 0 ? needs.join(', ') : '–',
    ]),
  );
}
