/** Raw settings from the command line or a file: text, lists and maps, checked key by key. */
import { closest } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { parseSize, type Size } from './size.js';

export type RawValue = string | RawValue[] | RawMap;
export interface RawMap {
  [key: string]: RawValue;
}

/** Knows its setting, so that the reader of a file can report the line. */
export class SettingError extends UsageError {
  constructor(
    message: string,
    readonly path: readonly (string | number)[],
  ) {
    super(message);
  }
}

/** Names that both ELF and shells allow. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export class Values {
  readonly #raw: RawMap;
  readonly #owner: string;
  readonly #path: readonly (string | number)[];

  /** `owner` is the object with these keys, e.g. `hami-core`; keys not in `keys` are refused. */
  constructor(raw: RawMap, owner: string, keys: readonly string[], path: readonly (string | number)[] = []) {
    [this.#raw, this.#owner, this.#path] = [raw, owner, path];
    for (const key of Object.keys(raw)) if (!keys.includes(key)) throw this.#unknown(key, keys);
  }

  /** The object with these keys. */
  get owner(): string {
    return this.#owner;
  }

  /** Its place in the file. */
  get path(): readonly (string | number)[] {
    return this.#path;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#raw, key);
  }

  text(key: string): string | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '' || value.includes('\0')) throw this.expected(key, 'text');
    return value;
  }

  required(key: string): string {
    const value = this.text(key);
    if (value === undefined) throw this.error(key, `Expected ${this.#owner} to have ${key}.`);
    return value;
  }

  choice<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = this.text(key);
    if (value === undefined || choices.includes(value as T)) return value as T | undefined;
    const near = closest(value, choices);
    throw this.expected(key, choices.join(', ').replace(/, ([^,]*)$/, ' or $1'), near && `did you mean ${near}?`);
  }

  integer(key: string, least: number, most: number): number | undefined {
    const value = this.text(key);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw this.expected(key, `an integer from ${least} to ${most}`);
  }

  /** A decimal number; `what` describes it, e.g. `a number of %`. */
  number(key: string, what: string, { least = -Infinity, most = Infinity } = {}): number | undefined {
    const value = this.text(key);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (decimal.test(value) && Number.isFinite(number) && number >= least && number <= most) return number;
    throw this.expected(key, what);
  }

  size(key: string, percent: boolean): Size | undefined {
    const value = this.text(key);
    return value === undefined
      ? undefined
      : this.within(key, () => parseSize(value, { what: this.named(key), percent }));
  }

  strings(key: string): string[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length > 0 && value.every(isText)) return value;
    throw this.expected(key, 'a list of texts');
  }

  /** An argument list. A single text is refused, because it would need a shell. */
  command(key: string): string[] | undefined {
    const value = this.raw(key);
    if (value === undefined || isCommand(value)) return value;
    throw this.expected(key, 'a command as a list of arguments');
  }

  /** One argument list, or a list of them. */
  commands(key: string): string[][] {
    const value = this.raw(key);
    if (value === undefined) return [];
    const list = Array.isArray(value) && value.every(Array.isArray) ? value : [value];
    if (list.every(isCommand)) return list;
    throw this.expected(key, 'a command as a list of arguments, or a list of such');
  }

  map(key: string): RawMap | undefined {
    const value = this.raw(key);
    if (value === undefined || isMap(value)) return value;
    throw this.expected(key, 'a map of keys to values');
  }

  nested(key: string, keys: readonly string[]): Values {
    return new Values(this.map(key) ?? {}, this.named(key), keys, [...this.#path, key]);
  }

  /** Variables with their values. */
  variables(key: string): Record<string, string> {
    const entries = Object.entries(this.map(key) ?? {});
    for (const [name, value] of entries) {
      if (!variableName.test(name)) throw this.expected(key, 'a map of variable names', `${name} is none`);
      if (typeof value !== 'string' || value.includes('\0'))
        throw this.expected(key, 'a map of variables to texts', `${name} is not text`);
    }
    return Object.fromEntries(entries) as Record<string, string>;
  }

  variableNames(key: string): string[] {
    const names = this.strings(key) ?? [];
    const wrong = names.find((name) => !variableName.test(name));
    if (wrong !== undefined) throw this.expected(key, 'a list of variable names', `${quoted(wrong)} is none`);
    return names;
  }

  raw(key: string): RawValue | undefined {
    return this.has(key) ? this.#raw[key] : undefined;
  }

  /** Attaches the setting to errors thrown by `read`. */
  within<T>(key: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof UsageError && !(error instanceof SettingError)) throw this.error(key, error.message);
      throw error;
    }
  }

  named(key: string): string {
    return `${key} of ${this.#owner}`;
  }

  expected(key: string, what: string, hint: string | null = null): SettingError {
    const received = `but received ${show(this.raw(key))}${hint ? `: ${hint}` : '.'}`;
    return this.error(key, `Expected ${this.named(key)} to be ${what} ${received}`);
  }

  error(key: string, message: string): SettingError {
    return new SettingError(message, [...this.#path, key]);
  }

  #unknown(key: string, keys: readonly string[]): SettingError {
    const near = closest(key, keys);
    const hint = near ? `did you mean ${near}?` : `it has ${keys.join(', ')}.`;
    return this.error(key, `Expected a key of ${this.#owner} but received ${quoted(key)}: ${hint}`);
  }
}

export const isMap = (value: RawValue | null): value is RawMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: RawValue): value is string => typeof value === 'string' && value !== '' && !value.includes('\0');

function isCommand(value: RawValue): value is string[] {
  const isArgument = (part: RawValue) => typeof part === 'string' && !part.includes('\0');
  return Array.isArray(value) && value.every(isArgument) && value[0] !== undefined && value[0] !== '';
}

function show(value: RawValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'a map';
}
