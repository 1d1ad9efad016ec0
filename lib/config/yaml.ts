/** Settings files in YAML, which includes JSON. Errors name line and column. */
import { readFile, stat } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { whyUnreadable } from '../errors/unreadable.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { type RawValue, SettingError } from './values.js';

const MAX_BYTES = 2 ** 20;
/** Enough for a hand-written file; an alias bomb needs many more. */
const MAX_ALIASES = 100;

export type Path = readonly (string | number)[];

export interface Source {
  /** Null for an empty file. */
  value: RawValue | null;
  /** Attaches the place in the file to errors of `read`, which reads the value at `path`; the innermost place wins. */
  at: <T>(path: Path, read: () => T) => T;
  error: (path: Path, message: string) => UsageError;
  /** `file:line:column`. */
  place: (path: Path) => string;
}

class PlacedError extends UsageError {}

/** Every scalar stays text: `argv: [true]` names a program, and 010 keeps its zero. */
export function readYaml(text: string, file: string): Source {
  const lines = new LineCounter();
  const options = { schema: 'failsafe', lineCounter: lines, prettyErrors: false, logLevel: 'error' } as const;
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const document = guarded(file, () => parseDocument(text, options));
  const [wrong] = document.errors;
  if (wrong) throw new UsageError(`${placeOf(wrong.pos[0])}: Expected YAML but ${wrong.message}`);
  const value = guarded(file, () => withoutCycle(document.toJS({ maxAliasCount: MAX_ALIASES }) as RawValue | null));
  /** The offset of the innermost node of the path that exists in the file. */
  const offsetOf = (path: Path): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
      if (node?.range) return node.range[0];
    }
    return 0;
  };
  const place = (path: Path) => placeOf(offsetOf(path));
  const error = (path: Path, message: string) => new PlacedError(`${place(path)}: ${message}`);
  const at = <T>(path: Path, read: () => T): T => {
    try {
      return read();
    } catch (thrown) {
      if (!(thrown instanceof UsageError) || thrown instanceof PlacedError) throw thrown;
      throw error(thrown instanceof SettingError ? [...path, ...thrown.path] : path, thrown.message);
    }
  };
  return { value, at, error, place };
}

/** Refuses values that contain themselves: traversing one would never end. */
function withoutCycle<T extends RawValue | null>(value: T, path = new Set<unknown>(), done = new Set<unknown>()): T {
  if (typeof value !== 'object' || value === null || done.has(value)) return value;
  if (path.has(value)) throw new Error('an alias contains itself');
  path.add(value);
  for (const inner of Object.values<RawValue>(value)) withoutCycle(inner, path, done);
  path.delete(value);
  done.add(value);
  return value;
}

/** The parser reports too many aliases and too deep nesting without a place. */
function guarded<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(
      `Expected ${quoted(file)} to be a configuration but it cannot be read: ${(error as Error).message}.`,
    );
  }
}

/** `option` is the option that named the file. */
export async function readYamlText(file: string, option: string): Promise<string> {
  const refuse = (why: string) =>
    new UsageError(`Expected ${option} to be a YAML file but received ${quoted(file)}: ${why}.`);
  try {
    const found = await stat(file);
    // Reading a device may never end.
    if (!found.isFile()) throw refuse('it is not a regular file');
    if (found.size > MAX_BYTES) throw refuse(`it has ${found.size} bytes, and at most 1 MiB is read`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw error instanceof UsageError ? error : refuse(whyUnreadable(error));
  }
}
