/** Violations grouped by cause: nine paths that exceed a limit by the size of a context are one finding. */
import type { Broken } from '../results/answer-schema.js';
import { grouped } from '../results/text/grouped.js';
import { number, plain } from '../results/text/plain.js';
import { counted } from '../results/text/quantity.js';
import type { Violation } from '../results/violations.js';

interface Finding {
  metric: string;
  cause: string;
  /** The path, fault or scenario. */
  item: string;
  /** GiB, for a limit of memory. */
  memory?: Memory;
  /** Per cent, for a limit of compute. */
  compute?: { share: number; limit: number };
  detail: string;
}

interface Memory {
  granted: number;
  limit: number;
  used: number;
}

const GIB: Record<string, number> = {
  bytes: 2 ** -30,
  KiB: 2 ** -20,
  MiB: 2 ** -10,
  GiB: 1,
  TiB: 2 ** 10,
};
const SIZE = '([\\d.]+) (bytes|[KMGT]iB)';
const GRANTED = new RegExp(
  `^(.+?): ${SIZE} granted(?: beside [^;]*? held)? under a limit of ${SIZE}(?:; .*? ${SIZE})?`,
);
const SHARE = /^([\d.]+) % of the work without a limit under a limit of ([\d.]+) %/;

/** The upper bound of what a context takes, in GiB. */
const LARGEST_CONTEXT = 0.75;

const gib = (count: string | undefined, unit: string | undefined): number => Number(count) * (GIB[unit ?? ''] ?? NaN);

function memoryFinding({ metric, detail }: Violation): Finding | null {
  const found = GRANTED.exec(detail);
  if (!found) return null;
  const [, item = '', ...amounts] = found;
  const [granted, limit, seen] = [0, 2, 4].map((at) => gib(amounts[at], amounts[at + 1])) as [number, number, number];
  const used = Number.isNaN(seen) ? granted : seen;
  return { metric, cause: memoryCause({ granted, limit, used }), item, memory: { granted, limit, used }, detail };
}

function memoryCause({ granted, limit, used }: Memory): string {
  if (granted > limit) return 'path-not-limited';
  return used - granted <= LARGEST_CONTEXT ? 'context-not-counted' : 'memory-undercounted';
}

/** Entries of metrics/isolation/memory-eviction.ts. */
const SOFT = 'soft limit: ';
const SOFT_CAUSE = 'soft-limit-not-kept';

/** The parts of a detail that are the same for every occurrence, by metric. */
const itemOf = (detail: string): string => detail.split(':', 1)[0] ?? detail;

const causes: Record<string, string> = {
  'IS-001': 'memory-limit-exceeded',
  'IS-002': 'memory-limit-exceeded',
  'IS-003': 'compute-not-limited',
  'IS-004': 'compute-not-limited',
  'IS-005': 'memory-readable',
  'IS-009': 'memory-limit-exceeded',
  'IS-011': 'memory-limit-exceeded',
  'IS-010': 'fault-reaches-neighbour',
  'ERR-002': 'state-not-recovered',
  'ERR-003': 'errors-not-as-native',
  'LLM-005': 'pool-not-limited',
};

function findingOf(violation: Violation): Finding {
  const { metric, detail } = violation;
  const [, share, limit] = SHARE.exec(detail) ?? [];
  if (share !== undefined && limit !== undefined) {
    const compute = { share: Number(share), limit: Number(limit) };
    return { metric, cause: 'compute-not-limited', item: detail, compute, detail };
  }
  if (detail.startsWith(SOFT)) return { metric, cause: SOFT_CAUSE, item: detail.slice(SOFT.length), detail };
  return (
    memoryFinding(violation) ?? {
      metric,
      cause: causes[metric] ?? `${metric.toLowerCase()}-violated`,
      item: itemOf(detail),
      detail,
    }
  );
}

/** How many items a line names. */
const MOST_ITEMS = 4;

function listed(items: readonly string[]): string {
  const more = items.length - MOST_ITEMS;
  return `${items.slice(0, MOST_ITEMS).join('; ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const amount = (value: number): string => `${number(Number(value.toPrecision(3)))} GiB`;

const largest = (findings: readonly Finding[], of: (memory: Memory) => number): number =>
  findings.reduce((most, { memory }) => (memory ? Math.max(most, of(memory)) : most), -Infinity);

/**
 * Counts paths that exceed a limit: `9 paths exceed 4 GiB by 0.49 GiB`; with several limits or amounts, the largest.
 */
function exceeding(findings: readonly Finding[], items: readonly string[]): string {
  const overs = new Set(findings.map(({ memory }) => memory && amount(memory.used - memory.limit)));
  const limits = new Set(findings.map(({ memory }) => memory && amount(memory.limit)));
  const limit = limits.size === 1 ? [...limits].join('') : 'their limits';
  const exceed = items.length === 1 ? '1 path exceeds' : `${items.length} paths exceed`;
  const over = amount(largest(findings, ({ used, limit: own }) => used - own));
  return `${exceed} ${limit} by ${overs.size === 1 ? '' : 'up to '}${over}`;
}

function notLimited(findings: readonly Finding[], items: readonly string[]): string {
  const granted = amount(largest(findings, (memory) => memory.granted));
  const limit = amount(largest(findings, (memory) => memory.limit));
  return `does not limit ${counted(items.length, 'way')} to allocate: ${granted} granted under ${limit}`;
}

type Amounts = Pick<Broken, 'value' | 'limit' | 'unit'>;

/** The finding that is furthest above its limit. */
function amountsOf(findings: readonly Finding[]): Amounts {
  const all = findings.flatMap(({ memory, compute }): Amounts[] => [
    ...(memory ? [{ value: Math.max(memory.granted, memory.used), limit: memory.limit, unit: 'GiB' }] : []),
    ...(compute ? [{ value: compute.share, limit: compute.limit, unit: '%' }] : []),
  ]);
  const above = ({ value, limit }: Amounts) => (value ?? 0) / (limit || 1);
  return [...all].sort((a, b) => above(b) - above(a))[0] ?? { value: null, limit: null, unit: '' };
}

function overCompute(findings: readonly Finding[]): string {
  const all = findings.flatMap(({ compute }) => compute ?? []);
  const [most] = [...all].sort((a, b) => b.share / b.limit - a.share / a.limit);
  return most
    ? `does not limit compute: ${number(most.share)} % of the card's work under ${number(most.limit)} %`
    : 'does not limit compute';
}

const texts: Record<string, (findings: readonly Finding[], items: readonly string[]) => string> = {
  'context-not-counted': (findings, items) => `counts no context memory: ${exceeding(findings, items)}`,
  'memory-undercounted': (findings, items) => `counts less than the card holds: ${exceeding(findings, items)}`,
  'path-not-limited': notLimited,
  'compute-not-limited': overCompute,
  [SOFT_CAUSE]: (_, items) => `does not keep soft memory limits: ${listed(items)}`,
  'memory-readable': (_, items) => `lets a tenant read another's memory: ${listed(items)}`,
  'fault-reaches-neighbour': (_, items) => `lets ${counted(items.length, 'fault')} of a tenant reach its neighbours: ${listed(items)}`, // prettier-ignore
  'errors-not-as-native': (_, items) => `ends ${counted(items.length, 'error')} otherwise than native: ${listed(items)}`, // prettier-ignore
  'state-not-recovered': (_, items) => `does not recover from ${counted(items.length, 'crash').replace(/hs$/, 'hes')}: ${listed(items)}`, // prettier-ignore
};

function broken(system: string, cause: string, findings: readonly Finding[]): Broken {
  const items = [...new Set(findings.map(({ item }) => plain(item)))];
  const metrics = [...new Set(findings.map(({ metric }) => metric))].sort();
  const [first] = findings;
  const rest = findings.length > 1 ? `; ${findings.length - 1} more` : '';
  const kind = cause === 'memory-limit-exceeded' ? 'exceeds its memory limit' : 'breaks a limit';
  const text = texts[cause]?.(findings, items) ?? `${kind}: ${first?.detail ?? ''}${rest}`;
  return { system, cause, text: plain(text), items, metrics, ...amountsOf(findings) };
}

/**
 * One entry per system and cause, in the order of the systems. Within a system, causes with the most findings come
 * first.
 */
export function brokenBy(violations: readonly Violation[]): Broken[] {
  return [...grouped(violations, ({ system }) => system)].flatMap(([system, own]) =>
    [...grouped(own.map(findingOf), ({ cause }) => cause)]
      .map(([cause, findings]) => broken(system, cause, findings))
      .sort((a, b) => b.items.length - a.items.length),
  );
}

/** The finding without its items: `lets 2 faults of a tenant reach its neighbours`. */
export const headOf = ({ text }: Broken): string => text.split(': ', 1)[0] ?? text;

export const MEMORY_CAUSES: readonly string[] = [
  'path-not-limited',
  'context-not-counted',
  'memory-undercounted',
  'memory-limit-exceeded',
  'pool-not-limited',
];
export const COMPUTE_CAUSES: readonly string[] = ['compute-not-limited'];
export const FAULT_CAUSES: readonly string[] = ['fault-reaches-neighbour', 'state-not-recovered'];
export const LEAK_CAUSES: readonly string[] = ['memory-readable'];
/** All causes that decide where limits must hold. */
export const QUOTA_CAUSES: readonly string[] = [
  ...MEMORY_CAUSES,
  SOFT_CAUSE,
  ...COMPUTE_CAUSES,
  ...LEAK_CAUSES,
  ...FAULT_CAUSES,
];
