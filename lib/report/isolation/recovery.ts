/** Table of faults as rows: what a host was told of each, how soon, and whether and when its tenant worked again. */
import { sum } from 'simple-statistics';
import { quantity } from '../../results/text/quantity.js';
import { medianOf, type View } from '../../results/view.js';
import type { Outcome } from './outcome-kinds.js';
import { type Detection, type DetailRows, detailRows, type Probe, type Recovery } from './rows.js';

/** Metrics whose details are joined in the table. */
const METRICS = ['ERR-001', 'ERR-002', 'ERR-003'];
/** Name that ERR-002 gives to recovery in a new process, in contrast to recovery within the process. */
const NEW_PROCESS = 'new process';
/** Most rows, far more than the metrics have. */
const MOST_ROWS = 200;

export interface RecoveryCell {
  told: string;
  /** Microseconds until the host was told, median over rounds; null: not measured. */
  soonUs: number | null;
  /** Whether the tenant worked again; null: not measured. */
  recovered: Outcome | null;
}

export interface RecoveryMatrix {
  /** Ids of the metrics that have a part of the table. */
  metrics: string[];
  systems: string[];
  /** Rows with a cell per system, which is null if the system has no such row. */
  rows: { fault: string; cells: (RecoveryCell | null)[] }[];
  leftOut: number;
}

const unique = (texts: readonly string[]): string => [...new Set(texts)].join(', ');
const most = (values: readonly number[]): number => values.reduce((high, value) => Math.max(high, value), 0);

/** Groups the rounds of each fault by the name under which it is shown. */
function byName<T>(rows: readonly T[], nameOf: (row: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) found.set(nameOf(row), [...(found.get(nameOf(row)) ?? []), row]);
  return found;
}

const nameOf = ({ fault, way }: Recovery): string => (way === NEW_PROCESS ? fault : `${fault}: ${way}`);

function recoveredOf(rows: readonly Recovery[]): Outcome {
  const [processes, recovered] = [sum(rows.map((row) => row.processes)), sum(rows.map((row) => row.recovered))];
  const missing = most(rows.flatMap(({ missingBytes }) => missingBytes ?? []));
  const tries = most(rows.flatMap(({ mostTries }) => mostTries ?? []));
  const took = medianOf(rows.flatMap(({ recoveryUs }) => recoveryUs ?? []));
  const inProcess = rows.some(({ way }) => way !== NEW_PROCESS);
  const all = recovered === processes;
  const notes = [
    took !== null && `after ${quantity(took, 'us')}${inProcess ? '' : ' more than a start'}`,
    missing > 0 && `${quantity(missing, 'bytes')} of memory not given back`,
    tries > 1 && `up to ${tries} tries`,
    unique(rows.flatMap(({ refusals }) => refusals)),
  ];
  return {
    // Software need not be able to go on in a process that failed.
    state: inProcess ? 'plain' : all && missing === 0 ? 'good' : 'bad',
    word: all ? (missing > 0 ? 'partly' : 'yes') : recovered === 0 ? 'no' : `${recovered} of ${processes}`,
    note: notes.filter(Boolean).join('; '),
  };
}

const untested = /^(not run|unsupported|skipped)/;

/**
 * The cell of a scenario in which errors are as natively and a kernel works afterwards, else of the first round that
 * differs.
 */
function scenarioOf(rows: readonly Probe[]): RecoveryCell | null {
  const shown = rows.find(({ outcome }) => outcome !== 'same') ?? rows[0];
  if (!shown || untested.test(shown.outcome)) return null;
  const same = shown.outcome === 'same';
  const told = same ? 'as natively' : `${shown.outcome}${shown.at === undefined ? '' : ` in ${shown.at}`}`;
  const recovered: Outcome = { state: same ? 'good' : 'bad', word: same ? 'yes' : 'no', note: '' };
  return { told, soonUs: null, recovered };
}

function faultOf(detections: readonly Detection[], recoveries: readonly Recovery[]): RecoveryCell {
  return {
    told: unique([...detections.flatMap(({ codes }) => codes), ...recoveries.flatMap(({ told }) => told)]),
    soonUs: medianOf(detections.flatMap(({ latencyUs }) => latencyUs ?? [])),
    recovered: recoveries.length === 0 ? null : recoveredOf(recoveries),
  };
}

/** Cells of one system by the name of the fault. */
function cellsOf(details: readonly DetailRows[]): Map<string, RecoveryCell | null> {
  const detections = byName(
    details.flatMap((rows) => rows.detections),
    ({ fault }) => fault,
  );
  const recoveries = byName(
    details.flatMap((rows) => rows.recoveries),
    nameOf,
  );
  const scenarios = byName(
    details.flatMap((rows) => rows.probes),
    ({ probe }) => probe,
  );
  const faults = [...new Set([...detections.keys(), ...recoveries.keys()])];
  return new Map([
    ...faults.map((fault) => [fault, faultOf(detections.get(fault) ?? [], recoveries.get(fault) ?? [])] as const),
    ...[...scenarios].map(([probe, rows]) => [probe, scenarioOf(rows)] as const),
  ]);
}

/** The table; null if no system has such details. */
export function recoveryMatrix({ categories, systems }: View): RecoveryMatrix | null {
  const metrics = categories.flatMap(({ rows }) => rows).filter(({ id }) => METRICS.includes(id));
  const bySystem = systems.map(({ name }) =>
    cellsOf(
      metrics.flatMap(({ cells }) =>
        cells
          .filter(({ system }) => system === name)
          .flatMap(({ results }) => results.flatMap((result) => detailRows(result) ?? [])),
      ),
    ),
  );
  const faults = [...new Set(bySystem.flatMap((cells) => [...cells.keys()]))].filter((fault) =>
    bySystem.some((cells) => cells.get(fault)),
  );
  if (faults.length === 0) return null;
  return {
    metrics: metrics.map(({ id }) => id),
    systems: systems.map(({ name }) => name),
    rows: faults
      .slice(0, MOST_ROWS)
      .map((fault) => ({ fault, cells: bySystem.map((cells) => cells.get(fault) ?? null) })),
    leftOut: Math.max(0, faults.length - MOST_ROWS),
  };
}
