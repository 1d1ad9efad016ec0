/**
 * The details of isolation metrics, row by row. A document is not trusted: rows without the expected fields are
 * collected separately and shown unchanged.
 */
import * as v from 'valibot';
import type { MetricResult } from '../../results/document.js';
import { short } from '../text/markup.js';

const NAME = 120;
export const SENTENCE = 400;
const MOST_ROWS = 400;
const MOST_BINS = 100_000;
/** Largest accepted number, for which sums and differences are finite. */
const LARGEST = 1e200;

const name = v.pipe(
  v.string(),
  v.transform((text) => short(text, NAME)),
);
const sentence = v.pipe(
  v.string(),
  v.transform((text) => short(text, SENTENCE)),
);
const figure = v.pipe(v.number(), v.finite(), v.minValue(-LARGEST), v.maxValue(LARGEST));
const size = v.pipe(figure, v.minValue(0));
const reason = v.optional(sentence);

/** Reason by which a result of older documents, which call it a leak, shows that it is none. */
const OWN_LIMITS = /^each of \d+ processes has a limit of its own$/;

const memoryPath = v.pipe(
  v.object({
    path: name,
    outcome: v.picklist(['enforced', 'limited per process', 'leaks', 'wrong error', 'unsupported']),
    grantedBytes: v.nullable(size),
    limitBytes: size,
    code: v.optional(name),
    reason,
  }),
  v.transform((row) =>
    row.outcome === 'leaks' && OWN_LIMITS.test(row.reason ?? '')
      ? { ...row, outcome: 'limited per process' as const }
      : row,
  ),
);
const eviction = v.union([
  v.object({
    firstHolds: name,
    firstBytes: size,
    askedBytes: size,
    grantedBytes: size,
    refusal: reason,
    tookMs: size,
    outcome: name,
    told: v.nullable(sentence),
    passed: v.boolean(),
  }),
  v.object({ firstHolds: name, notMeasured: sentence }),
]);
const launchPath = v.object({
  path: name,
  outcome: v.picklist(['throttled', 'not throttled', 'unsupported']),
  achievedPercent: v.nullable(figure),
  limitPercent: figure,
  reason,
});
const fault = v.object({
  fault: name,
  expectedCode: name,
  code: v.nullable(name),
  victim: sentence,
  longestStallMs: v.nullable(size),
  newTenant: sentence,
  xids: v.nullable(v.pipe(v.array(v.number()), v.maxLength(64))),
  passed: v.boolean(),
});
const surface = v.object({
  surface: name,
  transition: name,
  control: v.picklist(['passed', 'failed']),
  outcome: v.picklist(['clean', 'leaks', 'unexplained', 'unsupported']),
  bytes: v.nullable(size),
  lookedAtBytes: v.optional(size),
  reason,
});
const report = v.object({ source: name, says: name, expected: name, agrees: v.nullable(v.boolean()) });
const probe = v.object({
  probe: name,
  issue: name,
  outcome: sentence,
  native: sentence,
  at: v.optional(name),
  escape: v.optional(sentence),
});
const MOST_WORDS = 64;
const names = v.pipe(v.array(name), v.maxLength(MOST_WORDS));
const detection = v.object({ fault: name, codes: names, latencyUs: v.nullable(figure) });
const recovery = v.object({
  fault: name,
  way: name,
  told: names,
  processes: size,
  recovered: size,
  recoveryUs: v.nullable(figure),
  mostTries: v.optional(size),
  refusals: v.pipe(v.array(sentence), v.maxLength(MOST_WORDS)),
  missingBytes: v.optional(size),
});
const interference = v.object({
  victim: name,
  aggressor: name,
  degradationPercent: v.nullable(figure),
  givenUp: v.optional(size),
  overloaded: v.optional(v.boolean()),
  reason,
});
const share = v.object({
  name,
  limitPercent: v.nullable(figure),
  binMs: v.pipe(figure, v.minValue(1e-6)),
  percent: v.pipe(v.array(figure), v.maxLength(MOST_BINS)),
});
const limit = v.object({
  smPercent: figure,
  shape: name,
  kernelMs: v.nullish(figure),
  achievedPercent: v.nullish(figure),
  unsupported: reason,
  failed: reason,
  mechanism: v.nullish(v.object({ name, evidence: v.optional(sentence) })),
  nvml: v.nullish(
    v.object({ gpuPercent: v.nullable(figure), processPercent: v.nullable(figure), reason: v.optional(sentence) }),
  ),
});

/** The shapes of the rows of each key in the details, by where they go. */
const shapes = {
  paths: { memoryPaths: memoryPath, launchPaths: launchPath },
  evictions: { evictions: eviction },
  faults: { faults: fault },
  surfaces: { surfaces: surface },
  reports: { reports: report },
  probes: { probes: probe },
  detections: { detections: detection },
  recoveries: { recoveries: recovery },
  interference: { interference },
  shares: { shares: share },
  limits: { limits: limit },
};

type Schemas =
  typeof shapes extends Record<string, infer Each>
    ? { [Kind in Each extends Each ? keyof Each : never]: Extract<Each, Record<Kind, unknown>>[Kind] }
    : never;
type Rows = { [Kind in keyof Schemas]: v.InferOutput<Schemas[Kind]>[] };

export interface DetailRows extends Rows {
  /** Rows that do not have the shape for their key. */
  other: { key: string; row: unknown }[];
}

export type MemoryPath = Rows['memoryPaths'][number];
export type Fault = Rows['faults'][number];
export type Probe = Rows['probes'][number];
export type Detection = Rows['detections'][number];
export type Recovery = Rows['recoveries'][number];
export type Interference = Rows['interference'][number];
export type Share = Rows['shares'][number];
export type Limit = Rows['limits'][number];

const described = /^(IS|COMPAT|ERR)-\d{3}$/;

/** Rows that were read, because every section asks again, and a share has thousands of bins. */
const known = new WeakMap<MetricResult, DetailRows | null>();

/** Rows of a result's details; null for a metric whose details have none. */
export function detailRows(result: MetricResult): DetailRows | null {
  const before = known.get(result);
  if (before !== undefined) return before;
  const rows = readRows(result);
  known.set(result, rows);
  return rows;
}

/**
 * Reads rows. A failed metric may give its reason in the details: a share that never settled. An invalid one shows
 * nothing.
 */
function readRows({ id, status, details }: MetricResult): DetailRows | null {
  if (!described.test(id) || status === 'invalid') return null;
  const kinds = Object.values(shapes).flatMap((of) => Object.keys(of));
  const found = Object.fromEntries([...kinds, 'other'].map((kind) => [kind, []])) as unknown as DetailRows;
  for (const key of Object.keys(shapes) as (keyof typeof shapes)[]) {
    if (!Object.hasOwn(details, key)) continue;
    const rows: unknown = details[key];
    if (!Array.isArray(rows)) found.other.push({ key, row: rows });
    else for (const row of rows.slice(0, MOST_ROWS) as unknown[]) place(found, key, row);
  }
  return found;
}

function place(found: DetailRows, key: keyof typeof shapes, row: unknown): void {
  for (const [kind, schema] of Object.entries(shapes[key])) {
    const parsed = v.safeParse(schema, row);
    if (!parsed.success) continue;
    (found[kind as keyof Rows] as unknown[]).push(parsed.output);
    return;
  }
  found.other.push({ key, row });
}

const SHOWN = 300;

/** Formats a row unchanged, on one line. */
export function rowText(row: unknown): string {
  try {
    return short(JSON.stringify(row) ?? String(row), SHOWN);
  } catch {
    return String(typeof row);
  }
}
