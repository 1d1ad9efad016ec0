/** Error for a wrong argument of a library function: Expected X to be Y but received Z. */

export function expected(what: string, wanted: string, received: unknown, Kind: typeof TypeError | typeof RangeError) {
  return new Kind(`Expected ${what} to be ${wanted} but received ${show(received)}.`);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
