/** The matrix of rates between GPUs as Markdown tables. */
import { number } from '../results/plain.js';
import type { View } from '../results/view.js';
import { markdownTable, markdownText } from './markdown-text.js';
import { type PeerCell, peerMatrices } from './peer-matrix.js';

const cellText = (cell: PeerCell | null): string =>
  cell ? `${number(cell.gbs)} (${markdownText(cell.connection)})` : '–';

/** Null if no system has one. */
export function peersMarkdown(view: View): string | null {
  const tables = peerMatrices(view).map(({ metric, system, gpus, cells }) => {
    const columns = [{ title: 'From' }, ...gpus.map((gpu) => ({ title: `to GPU ${gpu}`, align: 'right' as const }))];
    const rows = cells.map((row, from) => [`GPU ${gpus[from]}`, ...row.map(cellText)]);
    return `**${markdownText(`${metric} GB/s from each GPU to each other one, ${system}`)}**\n\n${markdownTable(columns, rows)}`;
  });
  return tables.length === 0 ? null : tables.join('\n\n');
}
