/** Numbers in lines of JSON, among other output of a program. */
import { quoted } from '../../errors/usage-error.js';
import { boundedJson } from '../../results/bounded-json.js';
import { keysOfPointer, pointed } from './json-pointer.js';

const LONGEST_QUOTE = 80;
/** Most places in a line at which JSON is looked for: behind `[rank0]: ` it begins at the second. */
const MOST_STARTS = 8;

/** Matches what Python, JavaScript and C print of a number that is not finite, which is no JSON. */
const NOT_FINITE = /([:[,]\s*)-?(?:NaN|nan|Infinity|inf)(?=\s*[,\]}])/g;

interface JsonOfLine {
  value: unknown;
  /** Offset of the JSON in the line. */
  at: number;
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: boundedJson(text) };
  } catch {
    return null;
  }
}

/**
 * Returns the JSON at the end of a line, behind a tag or a time; null if there is none, `unread` if not all places were
 * tried.
 */
function jsonOf(line: string): JsonOfLine | 'unread' | null {
  let at = line.search(/[[{]/);
  for (let start = 0; at >= 0 && start < MOST_STARTS; start++) {
    const text = line.slice(at);
    const found = parsed(text) ?? parsed(text.replaceAll(NOT_FINITE, '$1null'));
    if (found) return { ...found, at };
    const next = text.slice(1).search(/[[{]/);
    at = next < 0 ? -1 : at + 1 + next;
  }
  return at < 0 ? null : 'unread';
}

/** The last key of a pointer as JSON text to search for; null for an empty key. */
function keyText(pointer: string): string | null {
  const key = keysOfPointer(pointer).at(-1) ?? '';
  return key === '' ? null : `${JSON.stringify(key)}:`;
}

/** Whether a text that is no JSON was meant to hold the metric: it begins like an object and has the key. */
function isBroken(text: string, pointer: string): boolean {
  const key = keyText(pointer);
  return key !== null && /^\s*\{/.test(text) && text.includes(key);
}

const shortened = (line: string): string => quoted(line.trim().slice(0, LONGEST_QUOTE));

type LinesOfJson =
  | { values: number[]; notes: string[] }
  /** Why the lines give no number. */
  | { missing: string };

/**
 * Reads a metric's numbers from lines of JSON. Lines without the metric are other output of the program. A line that
 * has it without a finite number is a failure: a loss that became NaN must not leave the last good one. A carriage
 * return ends a line too: progress bars write over themselves.
 */
export function numbersInLines(pointer: string, text: string): LinesOfJson {
  const values: number[] = [];
  let behind = 0;
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const found = jsonOf(line);
    if (found === 'unread') {
      if (!line.includes(keyText(pointer) ?? '')) continue;
      return { missing: `the line ${shortened(line)} has more than ${MOST_STARTS} brackets before its JSON` };
    }
    const value = found ? pointed(found.value, pointer) : undefined;
    const quote = () => shortened(line);
    if (isBroken(found ? line.slice(0, found.at) : line, pointer))
      return { missing: `the line ${quote()} is not JSON` };
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value))
      return { missing: `what is at ${quoted(pointer)} is no finite number in the line ${quote()}` };
    if (found && found.at > 0 && line.slice(0, found.at).trim() !== '') behind++;
    values.push(value);
  }
  const notes = behind === 0 ? [] : [`${behind} of ${values.length} numbers stood behind other text in their line`];
  return { values, notes };
}
