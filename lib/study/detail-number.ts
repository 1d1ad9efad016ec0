/** A number of a metric's details, for a row of a published table. */
import type { MetricResult } from '../results/document.js';

/** Names of fields with dots between; a list is followed by what its row must have, such as `starts[processes=50].meanMs`. */
export const DETAIL = /^\w+(\[\w+=[^\]]+\])?(\.\w+(\[\w+=[^\]]+\])?)*$/;

/** Fields in which a row of details says why it has no numbers. */
const REASONS = ['unsupported', 'failed', 'leftOut'];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const fieldOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

function step(value: unknown, part: string): unknown {
  const [, name = '', key, wanted] = /^(\w+)(?:\[(\w+)=(.+)\])?$/.exec(part) ?? [];
  const found = fieldOf(value, name);
  if (key === undefined) return found;
  return Array.isArray(found) ? found.find((row: unknown) => String(fieldOf(row, key)) === wanted) : undefined;
}

/** The number at `path`, which matches DETAIL, or why there is none. */
export function numberAt({ details }: Pick<MetricResult, 'details'>, path: string): number | { reason: string } {
  const parts = path.match(/\w+(\[[^\]]+\])?/g) ?? [];
  const row = parts.slice(0, -1).reduce(step, details as unknown);
  const found = step(row, parts.at(-1) ?? '');
  if (typeof found === 'number') return found;
  const reason = REASONS.map((name) => fieldOf(row, name)).find((text) => typeof text === 'string');
  return { reason: typeof reason === 'string' ? reason : `its details have no number at ${path}` };
}
