/** How much programs slow each other down (`exec` with tenants): the rows that every format shows. */
import { type EstimateText, estimateText } from '../../results/text/quantity.js';
import { type Cell, type Row, rowsOf, type View } from '../../results/view.js';
import { type DataTable, estimate, numeric } from './table-data.js';

export const SCENE_TITLE = 'Programs beside each other';

export const SCENE_NOTE =
  'Each victim alone and beside the other tenants of its scene, under the same system. A slowdown above 1 is worse.';

interface SceneRow {
  scene: string;
  victim: string;
  metric: string;
  system: string;
  /** The victim's number alone; null if there is none. */
  alone: EstimateText | null;
  together: EstimateText | null;
  slowdown: EstimateText | null;
  /** The number that tables sort by. */
  ratio: number | null;
}

/** The whole id of a row, of which a displayed row may have a shortened one. */
const idOf = ({ id, cells }: Row): string => cells.flatMap(({ results }) => results)[0]?.id ?? id;

const textOf = (row: Row | undefined, index: number, unit: string | null | undefined): EstimateText | null => {
  const { value = null, ci95 = null }: Partial<Cell> = row?.cells[index] ?? {};
  return value === null ? null : estimateText({ value, ci95 }, unit ?? null);
};

/** Rows of metrics `SCENE/VICTIM/METRIC/slowdown`, each with the two metrics whose ratio it is. */
export function sceneRowsOf(view: View): SceneRow[] {
  const rows = new Map(rowsOf(view).map((row) => [idOf(row), row]));
  return [...rows].flatMap(([id, slowdown]) => {
    const [scene = '', victim = '', metric = '', form, ...more] = id.split('/');
    if (form !== 'slowdown' || more.length > 0) return [];
    const stem = id.slice(0, -'/slowdown'.length);
    const [together, alone] = [rows.get(stem), rows.get(`${stem}/alone`)];
    return slowdown.cells.map(({ system, value }, index): SceneRow => ({
      scene,
      victim,
      metric,
      system,
      alone: textOf(alone, index, alone?.unit),
      together: textOf(together, index, together?.unit),
      slowdown: textOf(slowdown, index, null),
      ratio: value,
    }));
  });
}

/** The table; null without scenes. */
export function sceneTable(view: View): DataTable | null {
  const rows = sceneRowsOf(view);
  if (rows.length === 0) return null;
  return {
    title: SCENE_TITLE,
    columns: [
      ...['Scene', 'Victim', 'Metric', 'System'].map((title) => ({ title })),
      numeric('Alone'),
      numeric('Beside the others'),
      numeric('Slowdown', '95 % interval'),
    ],
    rows: rows.map(({ scene, victim, metric, system, alone, together, slowdown, ratio }) => ({
      cells: [scene, victim, metric, system, alone?.value ?? '–', together?.value ?? '–', estimate(slowdown, ratio)],
    })),
  };
}
