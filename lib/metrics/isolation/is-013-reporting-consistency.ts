/** IS-013: whether all reports to a tenant about its GPU agree with each other, with its limits and with the card. */
import * as v from 'valibot';
import { flag, rows, text } from '../core/details.js';
import type { ReportedMemory, ReportedSizes } from '../../native/addon-types.js';
import type { Check } from '../../results/document.js';
import { invalidBy, type MeasureContext, type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { MIB } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { inMemoryTenant, type MemoryTenant } from './shared/memory-tenant.js';

/** Tolerances for a limit, and for the card, part of which is reserved and counted by some functions only. */
const LIMIT_TOLERANCE = 0.01;
const CARD_TOLERANCE = 0.05;
/** The size of the allocation between two readings, and the tolerance of its report. */
const STEP = 256 * MIB;
const STEP_TOLERANCE = 8 * MIB;
/** A smaller allocation would not show in reports of this tolerance. */
const LEAST_STEP = 4 * STEP_TOLERANCE;
const MULTIPROCESSOR_TOLERANCE = 2;
const FUNCTION_MISSING = 13;

const reportRow = v.strictObject({
  source: text('Who reports what'),
  says: text('What the tenant is told'),
  expected: text('What agrees with the limits and with what is seen from outside'),
  agrees: v.nullable(flag('Whether the two agree; null if it is not reported, or there is nothing to compare with')),
});

type Report = v.InferOutput<typeof reportRow>;

interface Looks {
  before: ReportedMemory;
  during: ReportedMemory;
  heldBefore: number | null;
  heldDuring: number | null;
  granted: number;
}

async function look(tenant: MemoryTenant): Promise<Looks> {
  const [before, heldBefore] = [await tenant.reported(), await tenant.held()];
  const step = Math.min(STEP, Math.floor(tenant.limitBytes / 4 / MIB) * MIB);
  const { grantedBytes } = await tenant.fill('cuMemAlloc_v2', { mostBytes: step, smallestBytes: MIB });
  const [during, heldDuring] = [await tenant.reported(), await tenant.held()];
  await tenant.release();
  return { before, during, heldBefore, heldDuring, granted: grantedBytes };
}

interface Expected {
  limitBytes: number | null;
  cardBytes: number | null;
}

function totalReport({ source, code, totalBytes }: ReportedSizes, { limitBytes, cardBytes }: Expected): Report {
  const wanted = limitBytes ?? cardBytes;
  const of = limitBytes === null ? 'the card' : 'the limit';
  const expected = wanted === null ? 'unknown' : `${formatBytes(wanted)} (${of})`;
  const named = { source: `${source}: total`, expected };
  if (code !== 0) return { ...named, says: `code ${code}`, agrees: code === FUNCTION_MISSING ? null : false };
  if (totalBytes === null || wanted === null) return { ...named, says: 'nothing', agrees: null };
  const tolerance = limitBytes === null ? CARD_TOLERANCE : LIMIT_TOLERANCE;
  const agrees = Math.abs(totalBytes - wanted) <= tolerance * wanted;
  return { ...named, says: formatBytes(totalBytes), agrees };
}

/** Whether it shows the allocation between the two readings. */
function growthReport(before: ReportedSizes, during: ReportedSizes | undefined, granted: number): Report[] {
  if (before.code !== 0 || before.freeBytes === null || during?.freeBytes == null) return [];
  const shrunk = before.freeBytes - during.freeBytes;
  return [
    {
      source: `${before.source}: free, after an allocation`,
      says: `${formatBytes(Math.abs(shrunk))} ${shrunk < 0 ? 'more' : 'less'}`,
      expected: `${formatBytes(granted)} less`,
      agrees: Math.abs(shrunk - granted) <= STEP_TOLERANCE,
    },
  ];
}

/** No allocation can use free memory above the total, or above the limit. */
function freeReport({ source, code, freeBytes, totalBytes }: ReportedSizes, { limitBytes }: Expected): Report[] {
  if (code !== 0 || freeBytes === null || totalBytes === null) return [];
  const most = Math.min(totalBytes, limitBytes ?? totalBytes);
  const agrees = freeBytes <= most * (1 + LIMIT_TOLERANCE);
  return [
    { source: `${source}: free`, says: formatBytes(freeBytes), expected: `at most ${formatBytes(most)}`, agrees },
  ];
}

/** PIDs inside and outside agree if the coordinator finds the tenant by its own PID. */
function processReport({ during, heldDuring }: Looks, pid: number): Report {
  const own = during.processes?.find((process) => process.pid === pid);
  const others = during.processes?.filter((process) => process.pid !== pid).length;
  const listed = own ? `${own.usedBytes === null ? 'no size' : formatBytes(own.usedBytes)} of its own` : 'not itself';
  const report = {
    source: 'NVML process list',
    says: during.processes === null ? 'nothing' : `${listed}, ${others} others`,
    expected: heldDuring === null ? 'unknown' : `${formatBytes(heldDuring)} of its own`,
  };
  if (during.processes === null || heldDuring === null) return { ...report, agrees: null };
  const used = own?.usedBytes ?? null;
  return { ...report, agrees: used !== null && Math.abs(used - heldDuring) <= STEP_TOLERANCE + 0.02 * heldDuring };
}

function multiprocessorReport({ before }: Looks, smPercent: number | null): Report {
  const { multiprocessors: seen, bareMultiprocessors: bare } = before;
  const source = 'MULTIPROCESSOR_COUNT';
  if (seen === null || bare === null) return { source, says: 'nothing', expected: 'unknown', agrees: null };
  const share = Math.ceil((bare * (smPercent ?? 100)) / 100);
  const agrees = seen === bare || Math.abs(seen - share) <= MULTIPROCESSOR_TOLERANCE;
  const expected = share === bare ? `${bare}` : `${bare}, or ${share} as a share`;
  return { source, says: `${seen}`, expected, agrees };
}

/** The driver gives GPU- before the UUID of a MIG instance too, NVML MIG-. */
function identityReport({ during: { uuids, bareUuid } }: Looks): Report {
  const same = uuids?.find((uuid) => uuid.slice('GPU-'.length) === bareUuid.slice('GPU-'.length));
  const report = { source: 'NVML: GPUs', says: uuids?.join(', ') ?? 'nothing', expected: same ?? bareUuid };
  return { ...report, agrees: uuids === null ? null : same !== undefined };
}

/** What the coordinator's NVML knows of the card and the tenant's says nothing about: nothing then contradicts it. */
function missingSizes({ before }: Looks, { cardBytes }: Expected): string | null {
  const said = before.sizes.some(({ source, totalBytes }) => source.startsWith('nvml') && totalBytes !== null);
  return cardBytes === null || said ? null : 'NVML reports no memory to the tenant, and does outside of it';
}

function reportsOf(looks: Looks, expected: Expected, pid: number, smPercent: number | null): Report[] {
  const sizes = looks.before.sizes.flatMap((before) => {
    const during = looks.during.sizes.find(({ source }) => source === before.source);
    return [
      totalReport(before, expected),
      ...freeReport(before, expected),
      ...growthReport(before, during, looks.granted),
    ];
  });
  return [...sizes, processReport(looks, pid), multiprocessorReport(looks, smPercent), identityReport(looks)];
}

/** The reference of the reports must itself be correct. */
function allocationCheck({ granted, heldBefore, heldDuring }: Looks): Check {
  const name = 'the allocation between the two readings is visible';
  if (heldBefore === null || heldDuring === null)
    return { name, passed: 'not checked', detail: 'the coordinator cannot see the memory of individual processes' };
  const grown = heldDuring - heldBefore;
  const detail = `${formatBytes(granted)} granted, NVML outside shows ${formatBytes(Math.abs(grown))}`;
  return { name, passed: granted > 0 && Math.abs(grown - granted) <= STEP_TOLERANCE, detail };
}

const details = v.strictObject({ reports: rows(reportRow, 'A row per report to the tenant') });

export type ReportingConsistencyDetails = v.InferOutput<typeof details>;

export const reportingConsistency: MetricDefinition<ReportingConsistencyDetails> = {
  id: 'IS-013',
  name: 'Reporting Consistency',
  category: 'isolation',
  unit: 'boolean',
  direction: 'higher',
  question: 'Do all reports to a tenant about its GPU agree with each other, with its limits and with the card?',
  estimator: '1 if every report agrees, else 0',
  delta: { absolute: 0.5 },
  values: 'exact',
  needs: ['fresh processes'],
  functionName: 'measureReportingConsistency',
  where: 'fresh-processes',
  details,
  seconds: { quick: 2, standard: 2, thorough: 2 },
  async measure(context: MeasureContext) {
    const { memoryBytes: limitBytes, smPercent } = context.system.limits();
    const cardBytes = (await context.truth?.cardMemory())?.totalBytes ?? null;
    const expected = { limitBytes, cardBytes };
    const { looks, pid } = await inMemoryTenant(context, limitBytes ?? cardBytes ?? 4 * STEP, async (tenant) => ({
      looks: await look(tenant),
      pid: tenant.pid,
    }));
    if (looks.granted < LEAST_STEP)
      return unsupported(
        `an allocation that reports can show takes ${formatBytes(LEAST_STEP)}; ${formatBytes(looks.granted)} were granted`,
      );
    const reports = reportsOf(looks, expected, pid, smPercent);
    const compared = reports.filter(({ agrees }) => agrees !== null);
    if (compared.length === 0) return unsupported('there is nothing to compare the reports with', { reports });
    const missing = missingSizes(looks, expected);
    if (missing !== null && compared.every(({ agrees }) => agrees)) return unsupported(missing, { reports });
    const value = compared.every(({ agrees }) => agrees) ? 1 : 0;
    const checks = [allocationCheck(looks)];
    return { ...invalidBy(checks), value, ci95: null, headline: Float64Array.of(value), details: { reports }, checks };
  },
};

/**
 * IS-013, 1 or 0: whether cuMemGetInfo, cuDeviceTotalMem, NVML, the multiprocessor count and the UUID agree, in a process, with
 * each other, with the limits and with what the coordinator sees; `details.reports[]` has what each says.
 */
export const measureReportingConsistency = measureFunction(reportingConsistency);
