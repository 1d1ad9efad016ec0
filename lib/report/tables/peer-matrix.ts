/** Rates between GPUs, by system: medians over rounds. Details come from a file and are not trusted. */
import * as v from 'valibot';
import { grouped } from '../../results/text/grouped.js';
import type { MetricResult } from '../../results/document.js';
import { number } from '../../results/text/plain.js';
import { medianOf, rowsOf, type View } from '../../results/view.js';
import { type DataTable, numeric } from './table-data.js';

const METRIC = 'NCCL-003';
const MOST_GPUS = 64;
const MOST_PAIRS = MOST_GPUS ** 2;

const place = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e6));
const rate = v.nullish(v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(1e9)));
const pairSchema = v.object({
  from: place,
  to: place,
  connection: v.nullish(v.pipe(v.string(), v.maxLength(20))),
  gbs: rate,
  hostStagedGbs: rate,
});
type PeerPair = v.InferOutput<typeof pairSchema>;

interface PeerCell {
  gbs: number;
  /** How the GPUs are connected, e.g. `NVLink`; with `through the host` if there is no peer access. */
  connection: string;
}

export interface PeerMatrix {
  metric: string;
  system: string;
  /** NVML's indexes of the GPUs, in the order of rows and columns. */
  gpus: number[];
  /** Cells by source, then by target; null for a GPU itself and for pairs without a number. */
  cells: (PeerCell | null)[][];
}

function pairsIn({ status, details }: MetricResult): PeerPair[] {
  const rows: unknown = status === 'invalid' || status === 'failed' ? null : details.pairs;
  if (!Array.isArray(rows)) return [];
  return rows.slice(0, MOST_PAIRS).flatMap((row) => {
    const parsed = v.safeParse(pairSchema, row);
    return parsed.success ? [parsed.output] : [];
  });
}

function cellOf(pairs: readonly PeerPair[]): PeerCell | null {
  const direct = pairs.flatMap(({ gbs }) => gbs ?? []);
  const gbs = medianOf(direct.length > 0 ? direct : pairs.flatMap(({ hostStagedGbs }) => hostStagedGbs ?? []));
  if (gbs === null) return null;
  const names = [...new Set(pairs.map(({ connection }) => connection ?? 'unknown'))].join(', ');
  return { gbs, connection: direct.length > 0 ? names : `${names}, through the host` };
}

/** Makes one matrix per system that has pairs. */
export const peerMatrices = (view: View): PeerMatrix[] =>
  rowsOf(view)
    .filter(({ id }) => id === METRIC)
    .flatMap(({ id, cells }) =>
      cells.flatMap(({ system, results }): PeerMatrix[] => {
        const pairs = grouped(results.flatMap(pairsIn), ({ from, to }) => `${from}-${to}`);
        const all = [...new Set([...pairs.values()].flat().flatMap(({ from, to }) => [from, to]))];
        const gpus = all.sort((a, b) => a - b).slice(0, MOST_GPUS);
        if (gpus.length === 0) return [];
        return [
          {
            metric: id,
            system,
            gpus,
            cells: gpus.map((from) => gpus.map((to) => cellOf(pairs.get(`${from}-${to}`) ?? []))),
          },
        ];
      }),
    );

/** Rate of the fastest pair, to which the others are compared. */
export const fastestOf = ({ cells }: PeerMatrix): number =>
  cells.flat().reduce((most, cell) => Math.max(most, cell?.gbs ?? 0), 0);

export const peerTable = ({ metric, system, gpus, cells }: PeerMatrix): DataTable => ({
  title: `${metric} GB/s from each GPU to each other one, ${system}: medians, and what is between them`,
  columns: [{ title: 'From' }, ...gpus.map((gpu) => numeric(`to GPU ${gpu}`))],
  rows: cells.map((row, from) => ({
    cells: [
      `GPU ${gpus[from]}`,
      ...row.map((cell) => (cell ? { text: number(cell.gbs), note: cell.connection, sort: cell.gbs } : '–')),
    ],
  })),
});
