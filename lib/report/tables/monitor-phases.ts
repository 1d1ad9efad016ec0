/** The monitor's values in each phase of a program, as a table. */
import { type MonitorTimeline, phaseSummaries } from '../../monitor/timeline.js';
import { number } from '../../results/text/plain.js';
import { type DataCell, type DataTable, numeric } from './table-data.js';

const figure = (value: number | null): DataCell => ({ text: value === null ? '–' : number(value), sort: value });

/** The table; null without samples or phases. */
export function phaseTable(timeline: MonitorTimeline): DataTable | null {
  const rows = phaseSummaries(timeline);
  if (rows.length === 0) return null;
  return {
    title: 'What the GPU did in each phase',
    columns: [
      numeric('GPU'),
      { title: 'Phase' },
      numeric('From s'),
      numeric('To s'),
      numeric('Samples'),
      numeric('GPU % (mean)'),
      numeric('Memory MiB (most)'),
      numeric('Power W (mean)'),
      numeric('Energy J'),
      numeric('°C (most)'),
    ],
    rows: rows.map((row) => ({
      cells: [
        String(row.gpu),
        row.name,
        ...[row.fromS, row.toS, row.samples, row.gpuPercent, row.memoryMostMib].map(figure),
        ...[row.powerW, row.energyJ, row.hottestC].map(figure),
      ],
    })),
  };
}
