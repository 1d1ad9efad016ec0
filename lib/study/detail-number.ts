/** A number of a metric's details, for a row of a published table. */
import { fieldOf, fieldsOf } from '../results/fields.js';
import type { MetricResult } from '../results/document.js';

/** A path in details: names of fields, joined by dots. `[field=value]` picks the row of a list: `starts[processes=50].meanMs`. */
export const DETAIL = /^\w+(\[\w+=[^\]]+\])?(\.\w+(\[\w+=[^\]]+\])?)*$/;

/** Fields in which a row of details says why it has no numbers. */
const REASONS = ['unsupported', 'failed', 'leftOut'];

function step(value: unknown, part: string): unknown {
  const [, name = '', key, wanted] = /^(\w+)(?:\[(\w+)=(.+)\])?$/.exec(part) ?? [];
  const found = fieldOf(fieldsOf(value), name);
  if (key === undefined) return found;
  return Array.isArray(found)
    ? found.find((row: unknown) => String(fieldOf(fieldsOf(row), key)) === wanted)
    : undefined;
}

/** The number at `path`, which matches DETAIL, or why there is none. */
export function numberAt({ details }: Pick<MetricResult, 'details'>, path: string): number | { reason: string } {
  const parts = path.match(/\w+(\[[^\]]+\])?/g) ?? [];
  const row = parts.slice(0, -1).reduce(step, details as unknown);
  const found = step(row, parts.at(-1) ?? '');
  if (typeof found === 'number') return found;
  const reason = REASONS.map((name) => fieldOf(fieldsOf(row), name)).find((text) => typeof text === 'string');
  return { reason: typeof reason === 'string' ? reason : `its details have no number at ${path}` };
}
