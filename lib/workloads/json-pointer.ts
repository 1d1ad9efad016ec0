/** JSON pointers, RFC 6901. */

export const isPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));

/** Undefined where the pointer leads to nothing. */
export function pointed(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  let at = value;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
