/** Settings files in YAML, which includes JSON. Errors name line and column. */
import { readFile, stat } from 'node:fs/promises';
import { whyUnreadable } from '../errors/unreadable.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { type Path, SettingError } from './setting-place.js';
import type { RawValue } from './raw.js';
import { yamlLibrary } from './yaml-library.js';
import { YamlFault, type YamlSchema, yamlTree } from './yaml-tokens.js';
import { type Offsets, YamlValues } from './yaml-values.js';

const MAX_BYTES = 2 ** 20;

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

interface PlacedValues {
  /** Null for an empty text. */
  value: unknown;
  offsets: Offsets;
  /** `file:line:column`. */
  placeOf: (offset: number) => string;
}

/** Throws UsageError with the place of what is wrong. */
export function yamlValues(text: string, file: string, schema: YamlSchema): PlacedValues {
  const { LineCounter } = yamlLibrary();
  const lines = new LineCounter();
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  try {
    const tree = yamlTree(text, schema, lines.addNewLine);
    const values = new YamlValues(schema === 'failsafe' ? '' : null);
    return { value: tree && values.of(tree), offsets: values.offsets, placeOf };
  } catch (error) {
    throw error instanceof YamlFault ? new UsageError(`${placeOf(error.offset)}: ${error.message}.`) : error;
  }
}

/** Every scalar stays text: `argv: [true]` names a program, and 010 keeps its zero. */
export function readYaml(text: string, file: string): Source {
  const { value, offsets, placeOf } = yamlValues(text, file, 'failsafe');
  const place = (path: Path) => placeOf(offsetOf(value, path, offsets));
  const error = (path: Path, message: string) => new PlacedError(`${place(path)}: ${message}`);
  const at = <T>(path: Path, read: () => T): T => {
    try {
      return read();
    } catch (thrown) {
      if (!(thrown instanceof UsageError) || thrown instanceof PlacedError) throw thrown;
      throw error(thrown instanceof SettingError ? [...path, ...thrown.path] : path, thrown.message);
    }
  };
  return { value: value as RawValue | null, at, error, place };
}

/** The offset of the innermost value of the path that exists in the file. */
function offsetOf(outermost: unknown, path: Path, offsets: Offsets): number {
  let [value, offset] = [outermost, 0];
  for (const key of path) {
    const found = offsets.get(value as object)?.get(key);
    if (found === undefined) return offset;
    offset = found;
    value = (value as Record<string | number, unknown>)[key];
  }
  return offset;
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
