/** The rows of IS-010, one per fault, and what is concluded of them. */
import * as v from 'valibot';
import { choice, count, described, flag, quantity, rows, text } from '../../core/details.js';
import { processContext } from '../../tenants/tenants.js';
import type { Check } from '../../../results/document.js';
import { invalidBy, type Measured } from '../../core/metric.js';
import { type Noticed, STALL_MS } from '../watched-victim.js';
import { isTold } from './faults.js';

const bystander = choice(['victim', 'new tenant'], 'A process that a fault should not end');

export type Bystander = v.InferOutput<typeof bystander>;

const faultRow = v.strictObject({
  fault: text('The fault'),
  expectedCode: text('What the tenant that fails should be told'),
  code: v.nullable(text('The observed outcome; null if the fault did not happen')),
  notRaised: v.optional(text('Why it did not happen')),
  cardFull: v.optional(
    v.nullable(
      flag('Endless kernel: whether no other kernel of its process could begin beside it; null if that was not seen'),
    ),
  ),
  victim: text('unharmed, or what happened to the victim'),
  longestStallMs: v.nullable(quantity('ms', "Longest time without a verified result of the victim's")),
  newTenant: text('starts, or what happened when another tenant was started afterwards'),
  died: v.optional(rows(bystander, 'Whose process ended')),
  unexplained: v.optional(
    rows(
      v.strictObject({ who: bystander, how: text('How its process ended') }),
      'Deaths that were not seen again when the fault was raised again: something else may have caused them',
    ),
  ),
  xids: v.nullable(
    described(v.array(v.number()), 'Errors of the card (Xid) after the fault; null if NVML does not report them'),
  ),
  passed: flag('Whether the tenant was told what was expected, the victim was unharmed and a new tenant started'),
});

export type FaultRow = v.InferOutput<typeof faultRow>;

/** Schema of IS-010's details. */
export const faultDetails = v.strictObject({
  faults: rows(faultRow, 'A row per fault'),
  notMeasured: v.optional(
    described(
      v.strictObject({
        faults: rows(v.string(), 'Names of the faults'),
        reason: text('Why they were not raised'),
      }),
      'The faults that were not raised, if any',
    ),
  ),
  rounds: count('How often all faults are raised'),
  context: v.optional(processContext),
});

export type FaultIsolationDetails = v.InferOutput<typeof faultDetails>;

const UNHARMED = 'unharmed';
export const STARTS = 'starts';

export function harm({ error, wrong, longestStallMs }: Noticed): string {
  if (error !== null) return error;
  if (wrong > 0) return `${wrong} wrong results`;
  return longestStallMs > STALL_MS ? `no result for ${Math.round(longestStallMs)} ms` : UNHARMED;
}

const hasPassed = ({ code, expectedCode, victim, newTenant }: Omit<FaultRow, 'passed'>): boolean =>
  isTold(code, expectedCode) && victim === UNHARMED && newTenant === STARTS;

export function rowOf({ died = [], ...row }: Omit<FaultRow, 'passed'>): FaultRow {
  return { ...row, ...(died.length > 0 && { died }), passed: hasPassed(row) };
}

/** A fault that was raised again because a process died the first time; `again` is null if that could not be done. */
export function repeated(first: FaultRow, again: FaultRow | null): FaultRow {
  const deaths = [first, ...(again ? [again] : [])].flatMap((row) =>
    (row.died ?? []).map((who) => ({ who, how: who === 'victim' ? row.victim : row.newTenant })),
  );
  const unexplained = deaths.filter(({ who }) => !(first.died?.includes(who) && again?.died?.includes(who)));
  return { ...(again ?? first), ...(unexplained.length > 0 && { unexplained }) };
}

/** What a fault did that it must not do. */
function findings({ expectedCode, code, victim, newTenant, unexplained = [] }: FaultRow): string[] {
  if (code === null) return [];
  const isExplained = (who: Bystander) => unexplained.every((death) => death.who !== who);
  return [
    ...(isTold(code, expectedCode) ? [] : [`the tenant was told ${code}, not ${expectedCode}`]),
    ...(victim !== UNHARMED && isExplained('victim') ? [`its neighbour: ${victim}`] : []),
    ...(newTenant !== STARTS && isExplained('new tenant') ? [`a new tenant did not start: ${newTenant}`] : []),
  ];
}

const sentencesOf = (row: FaultRow): string[] => {
  const found = findings(row);
  return found.length === 0 ? [] : [`${row.fault}: ${found.join('; ')}`];
};

/** All faults that were planned, or why the others were not raised. */
interface Planned {
  count: number;
  notMeasured: string | null;
}

function happened(rows: readonly FaultRow[], { count, notMeasured }: Planned): Check {
  const missing = rows.filter(({ code }) => code === null).map((row) => `${row.fault}: ${row.notRaised}`);
  // A fault that did harm is the answer, whatever the others do.
  const isOpen = rows.length < count && !rows.some((row) => findings(row).length > 0);
  if (isOpen) missing.push(`${rows.length} of ${count} were raised: ${notMeasured ?? 'the others were not'}`);
  return {
    name: 'every fault really happened',
    passed: missing.length === 0,
    detail: missing.join('; ') || `${rows.length} faults, ${count} planned`,
  };
}

function explained(rows: readonly FaultRow[]): Check {
  const deaths = rows.flatMap(({ fault, unexplained = [] }) =>
    unexplained.map(({ who, how }) => `${fault}: the ${who}: ${how.replace(/\.$/, '')}`),
  );
  return {
    name: 'every death was seen again when its fault was raised again',
    passed: deaths.length === 0,
    detail: deaths.length === 0 ? 'no process died only once' : `${deaths.join('; ')}, and not again`,
  };
}

function seenFromOutside(rows: readonly FaultRow[]): Check {
  const unseen = rows.filter(({ xids }) => xids === null).length;
  return {
    name: 'errors of the card (Xid) seen from outside',
    passed: unseen === 0 ? true : 'not checked',
    detail: unseen === 0 ? `after each of ${rows.length} faults` : 'NVML does not report them here',
  };
}

export function judge(
  rows: readonly FaultRow[],
  details: Omit<FaultIsolationDetails, 'faults'>,
  planned: Planned,
  processes: number,
): Measured<FaultIsolationDetails> {
  const needed = [happened(rows, planned), explained(rows)];
  const violations = rows.flatMap(sentencesOf);
  return {
    ...invalidBy(needed),
    value: violations.length === 0 ? 1 : 0,
    ci95: null,
    ciScope: 'between-processes',
    processes,
    headline: null,
    details: { faults: [...rows], ...details },
    checks: [...needed, seenFromOutside(rows)],
    violations,
  };
}
