/** Tests as rows, their outcomes by system as columns: one table per kind, for every format. */
import type { Cell, Row, View } from '../../results/view.js';
import { bytes, number } from '../../results/plain.js';
import { partly } from '../../results/rounds.js';
import { type DetailRows, detailRows, type Limit } from './rows.js';

/** `good` and `bad` are judgements of the metric; `none` means not tested, `plain` not judged. */
export type State = 'bad' | 'unclear' | 'good' | 'plain' | 'none';

export interface Outcome {
  state: State;
  word: string;
  note: string;
}

/** Far more than any metric has; a larger document is truncated, and the report says so. */
const MOST_ROWS = 400;

export interface OutcomeTable {
  metric: string;
  title: string;
  /** Headings of the columns that identify a row. */
  keys: readonly string[];
  /** Headings of the columns: the systems, then additional observations about them. */
  systems: string[];
  /** Whether each of `systems` has a result of its own. */
  measured: boolean[];
  rows: { keys: readonly string[]; outcomes: (Outcome | null)[] }[];
  /** Number of rows beyond the limit. */
  leftOut: number;
}

/** One row in one round. */
interface Entry extends Outcome {
  keys: readonly string[];
  /** If several rounds have the same outcome, the one with the greatest weight is shown. */
  weight: number;
}

interface Kind {
  title: string;
  keys: readonly string[];
  entries: (rows: DetailRows) => Entry[];
  /** A second observation of the same rows, in columns of its own: `hami-core: NVML`. */
  beside?: { heading: string; entries: (rows: DetailRows) => Entry[] };
}

const joined = (parts: readonly (string | false | null | undefined)[]): string => parts.filter(Boolean).join('; ');

const memoryPaths: Kind = {
  title: 'Memory per path against the limit',
  keys: ['Path'],
  entries: ({ memoryPaths: rows }) =>
    rows.map(({ path, outcome, grantedBytes, limitBytes, code, reason }) => ({
      keys: [path],
      word: outcome,
      state: outcome === 'enforced' ? 'good' : outcome === 'unsupported' ? 'none' : 'bad',
      note: joined([
        grantedBytes !== null && `granted ${bytes(grantedBytes)}, limit ${bytes(limitBytes)}`,
        code !== undefined && `code ${code}`,
        reason,
      ]),
      weight: grantedBytes ?? -1,
    })),
};

const launchPaths: Kind = {
  title: 'Launch paths against the compute limit',
  keys: ['Path'],
  entries: ({ launchPaths: rows }) =>
    rows.map(({ path, outcome, achievedPercent, limitPercent, reason }) => ({
      keys: [path],
      word: outcome,
      state: outcome === 'throttled' ? 'good' : outcome === 'unsupported' ? 'none' : 'bad',
      note: joined([
        achievedPercent !== null && `${number(achievedPercent)} % of the card, limit ${number(limitPercent)} %`,
        reason,
      ]),
      weight: achievedPercent ?? -1,
    })),
};

const faults: Kind = {
  title: 'Faults, and their effect on a neighbour',
  keys: ['Fault', 'Expected code'],
  entries: ({ faults: rows }) =>
    rows.map(({ fault, expectedCode, code, victim, longestStallMs, newTenant, xids, passed }) => ({
      keys: [fault, expectedCode],
      word: passed ? 'passed' : 'failed',
      state: passed ? 'good' : 'bad',
      note: joined([
        code === null ? 'no code seen' : code === expectedCode ? 'expected code' : `code ${code}`,
        `victim ${victim}`,
        longestStallMs === null ? 'stall not measured' : `longest stall ${number(longestStallMs)} ms`,
        `new tenant ${newTenant}`,
        xids === null ? 'Xids not read' : xids.length > 0 && `Xid ${xids.join(', ')}`,
      ]),
      weight: longestStallMs ?? -1,
    })),
};

const surfaces: Kind = {
  title: 'Memory content that the next tenant can read',
  keys: ['Surface', 'After'],
  entries: ({ surfaces: rows }) =>
    rows.map(({ surface, transition, control, outcome, bytes: found, reason }) => ({
      keys: [surface, transition],
      word: control === 'failed' ? 'control failed' : outcome,
      state:
        control === 'failed' || outcome === 'unexplained'
          ? 'unclear'
          : ({ clean: 'good', leaks: 'bad', unsupported: 'none' } as const)[outcome],
      note: joined([found !== null && found > 0 && `${number(found)} bytes`, reason]),
      weight: found ?? -1,
    })),
};

const notRun = /^(unsupported|not run|skipped)/;

const probes: Kind = {
  title: 'Compatibility: what real software does, against native',
  keys: ['Probe', 'Public issue'],
  entries: ({ probes: rows }) =>
    rows.map(({ probe, issue, outcome, native, at, escape }) => ({
      keys: [probe, issue],
      word: outcome,
      state: outcome === 'same' ? 'good' : notRun.test(outcome) ? 'none' : 'bad',
      note: joined([at !== undefined && `in ${at}`, escape, native !== '' && `native: ${native}`]),
      weight: 0,
    })),
};

const keysOf = ({ smPercent, shape }: Limit): string[] => [`${number(smPercent)} %`, shape];

const percent = (value: number | null): string => (value === null ? 'not known' : `${number(value)} %`);

/** NVML's utilisation is not judged, because a single block is enough for 100 %. */
const nvml: NonNullable<Kind['beside']> = {
  heading: 'NVML utilisation',
  entries: ({ limits: rows }) =>
    rows.flatMap((row) => {
      if (!row.nvml) return [];
      const { gpuPercent, processPercent, reason } = row.nvml;
      return {
        keys: keysOf(row),
        word: percent(gpuPercent),
        state: 'plain',
        note: joined([processPercent !== null && `of the process ${percent(processPercent)}`, reason]),
        weight: gpuPercent ?? -1,
      };
    }),
};

const limits: Kind = {
  title: 'Compute limits by shape of load, and the mechanism that the trace shows',
  keys: ['Limit', 'Shape'],
  entries: ({ limits: rows }) =>
    rows.map((row) => {
      const { kernelMs, achievedPercent, mechanism, unsupported, failed } = row;
      return {
        keys: keysOf(row),
        word:
          achievedPercent == null ? (failed === undefined ? 'unsupported' : 'failed') : `${number(achievedPercent)} %`,
        state: achievedPercent != null ? 'plain' : failed === undefined ? 'none' : 'unclear',
        // A measured value differs between systems, so it cannot be a key.
        note: joined([
          mechanism?.name,
          mechanism?.evidence,
          kernelMs != null && `kernels of ${number(kernelMs)} ms`,
          unsupported ?? failed,
        ]),
        weight: achievedPercent ?? -1,
      };
    }),
  beside: nvml,
};

const kinds: readonly Kind[] = [memoryPaths, launchPaths, limits, surfaces, faults, probes];

const severity: readonly State[] = ['bad', 'unclear', 'good', 'plain', 'none'];

/** The most severe outcome of all rounds, and how many rounds have it. */
function gravest(entries: readonly Entry[], rounds: number): Outcome | null {
  const [first] = [...entries].sort(
    (a, b) => severity.indexOf(a.state) - severity.indexOf(b.state) || b.weight - a.weight,
  );
  if (!first) return null;
  const same = entries.filter(({ word, state }) => word === first.word && state === first.state).length;
  const often = partly(same, rounds);
  return { state: first.state, word: first.word, note: joined([first.note, often !== null && `in ${often}`]) };
}

/** The column of a system without a result shows its status as the reason. */
const withoutResult = ({ results }: Cell): Outcome | null => {
  const states = [...new Set(results.map(({ status }) => status))].filter((status) => status !== 'ok');
  return states.length === 0 ? null : { state: 'none', word: states.join(', '), note: '' };
};

function columnsOf(cells: readonly Cell[], entries: Kind['entries'], heading?: string) {
  return cells.map((cell) => ({
    cell,
    heading: heading === undefined ? cell.system : `${cell.system}: ${heading}`,
    rounds: cell.results.flatMap((result) => {
      const rows = detailRows(result);
      const own = rows ? entries(rows) : [];
      return own.length > 0 ? [own] : [];
    }),
  }));
}

function tableOf({ title, keys, entries, beside }: Kind, { id, cells }: Row): OutcomeTable | null {
  const others = beside ? columnsOf(cells, beside.entries, beside.heading) : [];
  const columns = [...columnsOf(cells, entries), ...others.filter(({ rounds }) => rounds.length > 0)];
  const byKey = new Map(columns.flatMap(({ rounds }) => rounds.flat().map((each) => [keyOf(each), each.keys])));
  if (byKey.size === 0) return null;
  const rows = [...byKey].slice(0, MOST_ROWS).map(([key, names]) => ({
    keys: names,
    outcomes: columns.map(({ cell, rounds }) =>
      rounds.length === 0
        ? withoutResult(cell)
        : gravest(
            rounds.flat().filter((each) => keyOf(each) === key),
            rounds.length,
          ),
    ),
  }));
  const leftOut = byKey.size - rows.length;
  const systems = columns.map(({ heading }) => heading);
  const measured = columns.map(({ rounds }) => rounds.length > 0);
  return { metric: id, title, keys, systems, measured, rows, leftOut };
}

const keyOf = ({ keys }: Entry): string => JSON.stringify(keys);

export const outcomeTables = ({ categories }: View): OutcomeTable[] =>
  categories.flatMap(({ rows }) => rows.flatMap((row) => kinds.flatMap((kind) => tableOf(kind, row) ?? [])));

/** With more names, the table is clearer. */
const MOST_NAMED = 5;

const nameList = (names: readonly string[]): string =>
  [...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ['…'] : [])].join('; ');

/**
 * One line with the most important outcomes by name: `2 leaks (a; b), 14 enforced`. Null for outcomes that are not
 * judged, and for a system without a result.
 */
export function tally({ rows, measured }: OutcomeTable, system: number): string | null {
  if (!measured[system]) return null;
  const found = new Map<string, { state: State; names: string[] }>();
  for (const { keys, outcomes } of rows) {
    const outcome = outcomes[system];
    if (!outcome || outcome.state === 'plain') continue;
    const entry = found.get(outcome.word) ?? { state: outcome.state, names: [] };
    entry.names.push(keys.filter(Boolean).join(', '));
    found.set(outcome.word, entry);
  }
  if (found.size === 0) return null;
  const sorted = [...found].sort(([, a], [, b]) => severity.indexOf(a.state) - severity.indexOf(b.state));
  return sorted
    .map(([word, { state, names }]) => {
      const named = state === 'bad' || state === 'unclear' ? ` (${nameList(names)})` : '';
      return `${names.length} ${word}${named}`;
    })
    .join(', ');
}
