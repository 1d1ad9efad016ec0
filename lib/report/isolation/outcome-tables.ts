/** Tables of tests as rows and their outcomes by system as columns: one per kind, for every format. */
import { grouped } from '../../results/text/grouped.js';
import { partly } from '../../results/rounds.js';
import type { Cell, Row, View } from '../../results/view.js';
import { type Entry, joined, type Kind, kinds, type Outcome, type State } from './outcome-kinds.js';
import { detailRows } from './rows.js';

/** Most rows, far more than any metric has. A larger document is truncated, and the report says so. */
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

const severity: readonly State[] = ['bad', 'unclear', 'good', 'plain', 'none'];

/** Returns the most severe outcome of all rounds, and says how many rounds have it. */
function gravest(entries: readonly Entry[], rounds: number): Outcome | null {
  const [first] = [...entries].sort(
    (a, b) => severity.indexOf(a.state) - severity.indexOf(b.state) || b.weight - a.weight,
  );
  if (!first) return null;
  const same = entries.filter(({ word, state }) => word === first.word && state === first.state).length;
  const often = partly(same, rounds);
  const { state, word, note, named, brief } = first;
  return {
    state,
    word,
    note: joined([note, often !== null && `in ${often}`]),
    ...(named !== undefined && { named }),
    ...(brief !== undefined && { brief }),
  };
}

/** Status of a system without a result, as the reason in its column. */
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

/** Most names in a line: with more, the table is clearer. */
const MOST_NAMED = 5;

/** Lists names with what there is to say about them, once for names with the same: `a and b: x; c: y`. */
function nameList(names: readonly Named[]): string {
  const groups = [...grouped(names, ({ name, brief }) => (brief === '' ? name : `: ${brief}`)).values()];
  const texts = groups.map((own) => {
    const brief = own[0]?.brief ?? '';
    const all = [...own.slice(0, MOST_NAMED).map(({ name }) => name), ...(own.length > MOST_NAMED ? ['…'] : [])];
    return `${all.join(' and ')}${brief === '' ? '' : `: ${brief}`}`;
  });
  return [...texts.slice(0, MOST_NAMED), ...(texts.length > MOST_NAMED ? ['…'] : [])].join('; ');
}

interface Named {
  name: string;
  brief: string;
}

/**
 * Summarises the most important outcomes in one line, by name: `2 leaks (a; b), 14 enforced`. Null for outcomes that
 * are not judged, and for a system without a result.
 */
export function tally({ rows, measured }: OutcomeTable, system: number): string | null {
  if (!measured[system]) return null;
  const found = new Map<string, { state: State; names: Named[] }>();
  for (const { keys, outcomes } of rows) {
    const outcome = outcomes[system];
    if (!outcome || outcome.state === 'plain') continue;
    const entry = found.get(outcome.word) ?? { state: outcome.state, names: [] };
    entry.names.push({ name: outcome.named ?? keys.filter(Boolean).join(', '), brief: outcome.brief ?? '' });
    found.set(outcome.word, entry);
  }
  if (found.size === 0) return null;
  const sorted = [...found].sort(([, a], [, b]) => severity.indexOf(a.state) - severity.indexOf(b.state));
  return sorted
    .map(([word, { state, names }]) => {
      const isTold = state === 'bad' || state === 'unclear' || names.some(({ brief }) => brief !== '');
      return `${names.length} ${word}${isTold ? ` (${nameList(names)})` : ''}`;
    })
    .join(', ');
}
