/** The monitor's values in each phase of a program, as the columns of a table. */
import type { PhaseSummary } from '../monitor/timeline.js';

/** Headings of that table; columns from the third on are numbers. */
export const phaseHeadings = [
  'GPU',
  'Phase',
  'From s',
  'To s',
  'Samples',
  'GPU % (mean)',
  'Memory MiB (most)',
  'Power W (mean)',
  'Energy J',
  '°C (most)',
] as const;

export const phaseFigures = (row: PhaseSummary): (number | null)[] => [
  ...[row.fromS, row.toS, row.samples],
  ...[row.gpuPercent, row.memoryMostMib, row.powerW, row.energyJ, row.hottestC],
];
