/** A document as indented JSON with each array of numbers on one line. */

/** Approximate size of a chunk in characters. */
const CHUNK = 2 ** 20;

/**
 * Writes a document in chunks of pure ASCII: a single character beyond Latin-1 doubles the memory for the whole text,
 * here and in its readers. One line per number would double it again if there are raw samples.
 */
export function jsonReport(document: object): string[] {
  const chunks: string[] = [];
  let pieces: string[] = [];
  let length = 0;
  const cut = () => {
    chunks.push(pieces.join(''));
    [pieces, length] = [[], 0];
  };
  const put = (text: string) => {
    pieces.push(text);
    length += text.length;
    if (length >= CHUNK) cut();
  };
  write(put, document, '');
  put('\n');
  cut();
  return chunks;
}

function write(put: (text: string) => void, value: unknown, indent: string): void {
  if (typeof value !== 'object' || value === null || isRow(value)) return put(ascii(value));
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const inner = `${indent}  `;
  put(open);
  for (const [index, [key, each]] of entries.entries()) {
    put(`${index === 0 ? '' : ','}\n${inner}${Array.isArray(value) ? '' : `${ascii(key)}: `}`);
    write(put, each, inner);
  }
  put(entries.length === 0 ? close : `\n${indent}${close}`);
}

const isRow = (value: object): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'number' || each === null);

const ascii = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
