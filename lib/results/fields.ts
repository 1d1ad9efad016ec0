/** Fields of JSON, such as a server's answer or the details in a file, none of which is known to be there. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** Reads one of an object's own fields: `toString` is one that every object inherits. */
export const fieldOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The objects among the first `most` items of the list that a field holds. */
export function rowsOf(value: unknown, name: string, most: number): Fields[] {
  const list = fieldOf(fieldsOf(value), name);
  return Array.isArray(list) ? (list as unknown[]).slice(0, most).filter(isFields) : [];
}

/** Whether a field says anything: null, false, 0, and what is empty do not. */
export function isSaid(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return Boolean(value);
  return Object.keys(value).length > 0;
}

/** Parses JSON; undefined for text that is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
