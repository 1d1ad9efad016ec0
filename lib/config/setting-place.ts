/** Where a map of settings is written, for errors that name a setting and, in a file, its line. */
import { UsageError } from '../errors/usage-error.js';
import { isMap, type RawMap, type RawValue, shown } from './raw.js';

export type Path = readonly (string | number)[];

/** Knows its setting, so that the reader of a file can report the line. */
export class SettingError extends UsageError {
  constructor(
    message: string,
    readonly path: Path,
  ) {
    super(message);
  }
}

export class Place {
  constructor(
    readonly raw: RawMap,
    /** The object with these settings, e.g. `hami-core`. */
    readonly owner: string,
    /** Keys of the map, from the outermost value of the file. */
    readonly path: Path = [],
  ) {}

  has(key: string): boolean {
    return Object.hasOwn(this.raw, key);
  }

  value(key: string): RawValue | undefined {
    return this.has(key) ? this.raw[key] : undefined;
  }

  /** Returns the place without its other settings. */
  only(keys: readonly string[]): Place {
    const raw = Object.fromEntries(Object.entries(this.raw).filter(([key]) => keys.includes(key)));
    return new Place(raw, this.owner, this.path);
  }

  named(key: string): string {
    return `${key} of ${this.owner}`;
  }

  /** The place of a map of settings in this one, which is empty if there is none. */
  inside(key: string): Place {
    const value = this.value(key);
    return new Place(value !== undefined && isMap(value) ? value : {}, this.named(key), [...this.path, key]);
  }

  /** The place of a map of settings in a list. */
  entry(key: string, index: number): Place {
    const list = this.value(key);
    const value = Array.isArray(list) ? list[index] : undefined;
    const owner = `entry ${index + 1} of ${this.named(key)}`;
    return new Place(value !== undefined && isMap(value) ? value : {}, owner, [...this.path, key, index]);
  }

  /** `what` is what a setting has to be, in words. */
  expected(key: string, what: string, hint: string | null = null): SettingError {
    const received = `but received ${shown(this.value(key))}${hint ? `: ${hint}` : ''}`;
    return this.error(
      key,
      `Expected ${this.named(key)} to be ${what} ${/[.?]$/.test(received) ? received : `${received}.`}`,
    );
  }

  error(key: string, message: string): SettingError {
    return new SettingError(message, [...this.path, key]);
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
}
