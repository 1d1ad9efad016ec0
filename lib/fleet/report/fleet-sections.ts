/** The sections of a fleet's report as tables, which all formats for people write. */
import type { DataTable } from '../../report/tables/table-data.js';
import { estimate, numeric } from '../../report/tables/table-data.js';
import { bytes, number } from '../../results/text/plain.js';
import { digits, estimateText } from '../../results/text/quantity.js';
import { type FleetReport, verdicts } from './document.js';
import { familyText, percent, valueText } from './words.js';

export interface FleetSection {
  id: string;
  title: string;
  /** Sentences before the table. */
  notes: readonly string[];
  table: DataTable | null;
}

/** More rows are for programs, which read the JSON. */
const MOST_ROWS = 200;

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

export function sectionsOf(report: FleetReport): FleetSection[] {
  return [coverage, verdictsTable, proofs, groups, outliers, paired, spreads, rules].flatMap(
    (section) => section(report) ?? [],
  );
}

/** The table of the first rows, and how many are left out. */
function limited(table: DataTable, notes: readonly string[]): Pick<FleetSection, 'notes' | 'table'> {
  const left = table.rows.length - MOST_ROWS;
  if (left <= 0) return { notes, table: table.rows.length === 0 ? null : table };
  return {
    notes: [...notes, `The first ${MOST_ROWS} of ${table.rows.length} rows; the JSON has all.`],
    table: { ...table, rows: table.rows.slice(0, MOST_ROWS) },
  };
}

const or = (text: string | number | null): string => (text === null ? '–' : String(text));

export function coverageText({ coverage: { planned, delivered, refused, silent, cards } }: FleetReport): string {
  return `${plural(planned, 'task')} planned: ${delivered} delivered (${plural(cards, 'card')}), ${refused} refused, ${silent} silent.`;
}

function coverage(report: FleetReport): FleetSection {
  const { tasks, foreign } = report.coverage;
  const rows = tasks
    .filter(({ state }) => state !== 'delivered')
    .map(({ index, node, state, attempt, exitCode, reason }) => ({
      cells: [String(index), or(node), state, or(attempt), or(exitCode), or(reason)],
    }));
  const strange = foreign.length === 0 ? [] : [`Of no task of the plan: ${foreign.slice(0, 20).join(', ')}.`];
  return {
    id: 'coverage',
    title: 'Coverage',
    ...limited(
      {
        title: 'Tasks without a result',
        columns: [
          { title: 'Task' },
          { title: 'Node' },
          { title: 'State' },
          numeric('Attempt'),
          numeric('Exit code'),
          { title: 'Reason' },
        ],
        rows,
      },
      [coverageText(report), ...strange],
    ),
  };
}

export function tallyText({ nodes }: FleetReport): string {
  const counted = [...verdicts].reverse().flatMap((verdict) => {
    const count = nodes.filter((each) => each.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${verdict}`];
  });
  return `Nodes: ${counted.join(', ') || 'none'}.`;
}

/** Severities that somebody has to act on. */
const ACTED_ON = ['CRITICAL', 'UNKNOWN', 'WARNING'];

function verdictsTable(report: FleetReport): FleetSection {
  const rows = report.nodes
    .filter(({ verdict }) => ACTED_ON.includes(verdict))
    .sort((a, b) => verdicts.indexOf(b.verdict) - verdicts.indexOf(a.verdict))
    .flatMap(({ node, tasks, findings }) =>
      findings
        .filter(({ severity }) => ACTED_ON.includes(severity))
        .map(({ severity, reason, action }) => ({
          cells: [node ?? `of task ${tasks.join(', ')}`, severity, reason, or(action)],
        })),
    );
  const columns = ['Node', 'Verdict', 'Reason', 'Next'].map((title) => ({ title }));
  return {
    id: 'verdicts',
    title: 'Nodes to act on',
    ...limited({ title: 'Nodes to act on', columns, rows }, [tallyText(report)]),
  };
}

function proofs({ nodes }: FleetReport): FleetSection {
  const measured = nodes.filter(({ gpus }) => gpus.length > 0);
  const rows = measured
    .filter(({ proofs: { passed, failed } }) => passed + failed.length > 0)
    .map(({ node, proofs: { passed, failed, proven, processes } }) => ({
      cells: [or(node), String(passed), failed.length === 0 ? '0' : failed.join('; '), `${proven} of ${processes}`],
    }));
  const columns = [{ title: 'Node' }, numeric('Proofs passed'), { title: 'Failed' }, numeric('Processes proven')];
  const without = measured.length - rows.length;
  const note =
    without === 0
      ? []
      : [
          `${plural(without, 'node')} measured systems that have no proofs: an environment as it was found, or no layer at all.`,
        ];
  return { id: 'proofs', title: 'Proofs', ...limited({ title: 'Proofs by node', columns, rows }, note) };
}

const LAYER = 12;

function groups({ groups: all, warnings }: FleetReport): FleetSection {
  const columns = [
    { title: 'Group' },
    numeric('Cards'),
    { title: 'GPU' },
    { title: 'Memory' },
    { title: 'Driver' },
    { title: 'VBIOS' },
    { title: 'Power limit' },
    { title: 'Highest SM clock' },
    { title: 'MIG' },
    { title: 'Layer' },
    { title: 'Measured by' },
  ];
  const rows = all.map((each) => ({
    cells: [
      each.id,
      String(each.cards),
      each.gpu,
      bytes(each.memoryBytes),
      each.driver ?? 'not recorded',
      each.vbios ?? 'not recorded',
      each.powerLimitW === null ? 'not recorded' : `${number(each.powerLimitW)} W`,
      each.maxSmClockMhz === null ? 'not recorded' : `${each.maxSmClockMhz} MHz`,
      each.mig,
      each.layer?.slice(0, LAYER) ?? 'none',
      each.tool,
    ],
  }));
  return {
    id: 'groups',
    title: 'Groups of equal cards',
    ...limited({ title: 'Groups of equal cards', columns, rows }, warnings),
  };
}

const systemText = ({ system, baseline }: { system: string; baseline: string | null }): string =>
  baseline === null ? system : `${system} against ${baseline}`;

function outliers({ outliers: all, tests }: FleetReport): FleetSection {
  const columns = ['Metric', 'System', 'Group', 'Node', 'GPU', 'Rule', 'Side', 'Found'].map((title) => ({ title }));
  const rows = all.map((each) => ({
    metric: each.metric,
    cells: [each.metric, systemText(each), each.group, each.node, each.gpu, each.rule, each.side, each.words],
  }));
  const none = rows.length === 0 ? ['No card is an outlier.'] : [];
  return {
    id: 'outliers',
    title: 'Outliers',
    ...limited({ title: 'Cards that differ from their group', columns, rows }, [...none, familyText(tests)]),
  };
}

/** Null for plans of `run`. */
function paired({ paired: all, plan }: FleetReport): FleetSection | null {
  if (plan.command !== 'compare') return null;
  const columns = [
    { title: 'Metric' },
    { title: 'System' },
    { title: 'Group' },
    numeric('Cards'),
    numeric('Effect', '95 % over cards'),
    { title: 'Verdict' },
    numeric('Between cards'),
  ];
  const rows = all.map((each) => {
    const { centre: value, ci95, unit, betweenCards } = each;
    const shown = estimate(estimateText({ value, ci95 }, unit, unit !== null), value, unit ?? undefined);
    const between =
      betweenCards === null ? '–' : unit === null ? percent(Math.expm1(betweenCards)) : valueText(betweenCards, unit);
    return {
      metric: each.metric,
      cells: [
        each.metric,
        systemText(each),
        each.group,
        String(each.cards),
        shown,
        each.verdict ?? 'not judged',
        between,
      ],
    };
  });
  return {
    id: 'comparisons',
    title: 'Comparisons within cards',
    ...limited({ title: 'Comparisons within cards', columns, rows }, [
      'Both systems ran on every card: the effect is computed within each card, then over the cards of a group. The card is the unit, so one card has no interval.',
    ]),
  };
}

function spreads({ spreads: all }: FleetReport): FleetSection {
  const columns = [
    { title: 'Metric' },
    { title: 'System' },
    { title: 'Group' },
    numeric('Cards'),
    numeric('Median'),
    numeric('MAD'),
    numeric('Lowest'),
    { title: 'at' },
    numeric('Highest'),
    { title: 'at' },
    numeric('Spread'),
  ];
  const at = ({ node, gpu }: FleetReport['spreads'][number]['min']) => `${node}, ${gpu}`;
  const rows = all.map((each) => ({
    metric: each.metric,
    cells: [
      `${each.metric} ${each.name}`,
      systemText(each),
      each.group,
      String(each.cards),
      valueText(each.median, each.unit),
      each.mad === null ? '–' : each.unit === null ? digits(each.mad) : valueText(each.mad, each.unit),
      valueText(each.min.value, each.unit),
      at(each.min),
      valueText(each.max.value, each.unit),
      at(each.max),
      each.spread === null ? '–' : percent(each.spread),
    ],
  }));
  return {
    id: 'spread',
    title: 'Spread between cards',
    ...limited({ title: 'Spread between cards', columns, rows }, []),
  };
}

function rules({ rules: all, untested }: FleetReport): FleetSection {
  const reasons = new Map<string, { rule: string; group: string; reason: string; metrics: string[] }>();
  for (const { rule, group, reason, metric } of untested) {
    const key = JSON.stringify([rule, group, reason]);
    const known = reasons.get(key);
    if (known) known.metrics.push(metric);
    else reasons.set(key, { rule, group, reason, metrics: [metric] });
  }
  const SHOWN = 8;
  const rows = [...reasons.values()].map(({ rule, group, reason, metrics }) => {
    const named = [...new Set(metrics)];
    const more = named.length > SHOWN ? ` and ${named.length - SHOWN} more` : '';
    return { cells: [rule, group, `${named.slice(0, SHOWN).join(', ')}${more}`, reason] };
  });
  const columns = ['Rule', 'Group', 'Metrics', 'Why not'].map((title) => ({ title }));
  return {
    id: 'rules',
    title: 'Rules',
    ...limited(
      { title: 'Where a rule was not applied', columns, rows },
      all.map(({ rule, words, needs }) => `${rule}: ${words} Needs ${plural(needs, 'card')}.`),
    ),
  };
}
