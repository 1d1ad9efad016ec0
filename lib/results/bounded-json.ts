/** Reads JSON that is not trusted: its values are counted before memory is taken for them. */

/** The largest documents, with all samples, have three million; a byte of text can take forty bytes of memory. */
const MOST_VALUES = 2 ** 23;
/** Deeper nesting would exhaust the stack of what reads it. */
const DEEPEST = 100;

/** A text of too many or too deeply nested values; the message continues a sentence about it. */
export class JsonBoundsError extends Error {}

/** Throws JsonBoundsError, or SyntaxError for a text that is no JSON. */
export function boundedJson(text: string): unknown {
  checkBounds(text);
  return JSON.parse(text) as unknown;
}

const [QUOTE, COMMA, BACKSLASH] = [...'",\\'].map((each) => each.charCodeAt(0)) as [number, number, number];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [...'[]{}'].map((each) => each.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];

/** A value is the first of a list or a map, or stands behind a comma; an empty list counts as if it had one. */
function checkBounds(text: string): void {
  let [values, depth] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === CLOSE_LIST || code === CLOSE_MAP) depth--;
    else if (code === COMMA) values++;
    else if (code === OPEN_LIST || code === OPEN_MAP) {
      values++;
      depth++;
      if (depth > DEEPEST) throw new JsonBoundsError(`it is nested deeper than ${DEEPEST} levels`);
    }
    if (values > MOST_VALUES) throw new JsonBoundsError(`it has more than ${MOST_VALUES} values`);
  }
}

/** The place of the quote that ends the string which begins at `start`; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
