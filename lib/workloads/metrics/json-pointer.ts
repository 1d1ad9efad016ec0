/** Reads values by JSON pointers, RFC 6901. */

export const isPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));

/** The keys that a pointer names, from the outermost; empty for the whole value. */
export const keysOfPointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The value that a pointer leads to; undefined where there is none. */
export function pointed(value: unknown, pointer: string): unknown {
  let at = value;
  for (const key of keysOfPointer(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
