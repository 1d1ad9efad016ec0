/** From a fleet's folder to its report. */
import { toolVersion } from '../../environment/tool.js';
import type { FleetPlan } from '../plan.js';
import { columnsOf, spreadOf, type Column, type Spread } from './columns.js';
import { type FleetReport, type NodeVerdict, REPORT_VERSION } from './document.js';
import { gather, type Gathered } from './gather.js';
import { groupsOf, type Group } from './groups.js';
import type { CardLimit } from './limits.js';
import { nodesOf } from './node-verdicts.js';
import { type Outlier, outliersIn } from './outliers.js';
import { type Paired, pairedOf } from './paired.js';
import type { Series } from './series.js';
import { outlierWords, rulesOf } from './words.js';

export interface ReportSettings {
  limits: readonly CardLimit[];
  /** The smallest distance from the median that matters, as a part of it. */
  least: number;
}

export const DEFAULT_LEAST = 0.05;

export async function fleetReport(fleet: string, plan: FleetPlan, settings: ReportSettings): Promise<FleetReport> {
  return reportOf(plan, await gather(fleet, plan), settings);
}

const tool = () => ({ name: 'gpu-virt-bench' as const, version: toolVersion() });

function reportOf(plan: FleetPlan, found: Gathered, settings: ReportSettings): FleetReport {
  const { tasks, catalogue, foreign, simulated } = found;
  const rows = tasks.flatMap(({ row }) => row ?? []);
  const groups = groupsOf(rows);
  const groupOf = new Map(groups.flatMap((group) => group.rows.map((row) => [row.index, group])));
  const columns = groups.flatMap(columnsOf);
  const series = catalogue.all;
  const sought = outliersIn(columns, series, settings);
  const outliers = sought.outliers.map((each) => outlierEntry(each, series));
  const count = (state: string) => tasks.filter((task) => task.state === state).length;
  return {
    kind: 'fleet-report',
    schemaVersion: REPORT_VERSION,
    tool: tool(),
    plan: {
      id: plan.id,
      created: plan.created,
      scheduler: plan.scheduler,
      command: plan.command,
      arguments: plan.arguments,
    },
    simulated,
    coverage: {
      planned: tasks.length,
      delivered: count('delivered'),
      refused: count('refused'),
      silent: count('silent'),
      cards: rows.length,
      tasks: tasks.map(({ index, state, node, attempt, exitCode, reason, row }) => ({
        index,
        state,
        node,
        attempt,
        exitCode,
        gpu: row?.uuid ?? null,
        group: groupOf.get(index)?.id ?? null,
        reason,
      })),
      foreign,
    },
    nodes: nodesOf({
      tasks,
      outliers,
      peers: new Map([...groupOf].map(([index, group]) => [index, group.rows.length])),
      simulated,
    }),
    groups: groups.map(({ id, facts, rows: cards }) => ({ id, ...facts, cards: cards.length })),
    spreads: columns.map((column) => spreadEntry(spreadOf(column), series)),
    rules: rulesOf(
      settings.limits.map(({ text }) => text),
      settings.least,
    ),
    tests: sought.tests,
    outliers,
    untested: sought.untested.map(({ rule, column, reason }) => ({
      ...seriesEntry(column, series),
      rule,
      cards: column.rows.length,
      reason,
    })),
    paired: pairedOf(columns, series).map((each) => pairedEntry(each, series)),
    warnings: warningsOf(groups, found),
  };
}

function seriesEntry({ series, group }: Column, all: readonly Series[]) {
  const { system, baseline, metric } = all[series] as Series;
  return { group: group.id, system, baseline, metric };
}

const end = ({ value, row }: Spread['min']) => ({ value, gpu: row.uuid, node: row.node });

function spreadEntry(
  { column, median, mad, min, max }: Spread,
  all: readonly Series[],
): FleetReport['spreads'][number] {
  const { name, unit, direction } = all[column.series] as Series;
  const cards = column.rows.length;
  return {
    ...seriesEntry(column, all),
    name,
    unit,
    direction,
    cards,
    median,
    mad: cards > 1 ? mad : null,
    min: end(min),
    max: end(max),
    spread: cards > 1 && min.value > 0 ? (max.value - min.value) / median : null,
  };
}

function outlierEntry(outlier: Outlier, all: readonly Series[]): FleetReport['outliers'][number] {
  const { rule, column, row, side, value, median, deviation, score, p, similarity } = outlier;
  return {
    ...seriesEntry(column, all),
    rule,
    gpu: row.uuid,
    node: row.node,
    side,
    value,
    median,
    deviation,
    score,
    p,
    similarity,
    words: outlierWords(outlier, all[column.series] as Series),
  };
}

function pairedEntry(
  { column, cards, centre, ci95, p, betweenCards, decision }: Paired,
  all: readonly Series[],
): FleetReport['paired'][number] {
  return {
    ...seriesEntry(column, all),
    unit: (all[column.series] as Series).unit,
    cards,
    centre,
    ci95,
    p,
    betweenCards,
    verdict: decision?.verdict ?? null,
  };
}

function warningsOf(groups: readonly Group[], { tasks, foreign }: Gathered): string[] {
  const [largest, ...others] = groups;
  const mixed =
    others.length === 0 || !largest
      ? []
      : [
          `The fleet is mixed: ${groups.length} kinds of cards. Outliers are sought within each kind; differences between kinds are not those of cards.`,
        ];
  const unrecorded = groups.some(({ facts }) => facts.vbios === null || facts.powerLimitW === null)
    ? ['Some documents do not record VBIOS or power limit, so cards with different ones may be in one group.']
    : [];
  const strange =
    foreign.length === 0
      ? []
      : [`${foreign.length} folders of deliveries are of no task of the plan, and are not read.`];
  const none = tasks.every(({ row }) => row === null)
    ? ['No task has delivered a result: nothing can be compared.']
    : [];
  return [...none, ...mixed, ...unrecorded, ...strange];
}

/** The verdict of the node of that name, or null if the plan and its deliveries name none. */
export function nodeVerdict({ plan, nodes }: FleetReport, name: string): NodeVerdict | null {
  const found = nodes.find(({ node }) => node === name);
  if (!found) return null;
  const { node, verdict, findings, gpus, tasks } = found;
  return {
    kind: 'fleet-node-verdict',
    schemaVersion: REPORT_VERSION,
    tool: tool(),
    plan: plan.id,
    node,
    verdict,
    findings,
    gpus,
    tasks,
  };
}
