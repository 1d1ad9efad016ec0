/** The values of a YAML tree and where each begins in the text. */
import type { Document, Node } from 'yaml';
import { quoted } from '../errors/usage-error.js';
import { yamlLibrary } from './yaml-library.js';
import { YamlFault } from './yaml-tokens.js';

/** Most values, counted with aliases replaced by what they name: more than a file of 1 MiB can hold without them. */
const MOST_VALUES = 2 ** 20;
const LONGEST_QUOTE = 80;

/** The offsets of the values in each list and map. */
export type Offsets = ReadonlyMap<object, ReadonlyMap<string | number, number>>;

interface Found {
  value: unknown;
  /** How many values it is, with what is in it. */
  count: number;
}

export class YamlValues {
  readonly offsets = new Map<object, Map<string | number, number>>();
  readonly #anchors = new Map<string, Found | 'open'>();
  readonly #empty: '' | null;

  /** `empty`: the value of a key without one. */
  constructor(empty: '' | null) {
    this.#empty = empty;
  }

  /** Throws YamlFault. */
  of({ contents }: Document.Parsed): unknown {
    return this.#read(contents, 0).value;
  }

  #read(node: Node | null, offset: number): Found {
    const { isAlias, isMap, isScalar, isSeq } = yamlLibrary();
    if (isAlias(node)) return this.#named(node.source, offset);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    const found = this.#own(node, offset);
    if (anchor !== undefined) this.#anchors.set(anchor, found);
    if (found.count > MOST_VALUES)
      throw new YamlFault(`Expected at most ${MOST_VALUES} values, with what aliases name, but there are more`, offset);
    return found;
  }

  #named(name: string, offset: number): Found {
    const found = this.#anchors.get(name);
    const quote = quoted(name.slice(0, LONGEST_QUOTE));
    if (found === undefined)
      throw new YamlFault(`Expected YAML but no anchor ${quote} stands before its alias`, offset);
    if (found === 'open') throw new YamlFault(`Expected YAML but the alias ${quote} contains itself`, offset);
    return found;
  }

  #own(node: Node | null, offset: number): Found {
    const { isMap, isScalar, isSeq } = yamlLibrary();
    if (isSeq(node)) return this.#list(node.items as Node[], offset);
    if (isMap(node)) return this.#map(node.items as { key: Node | null; value: Node | null }[], offset);
    return { value: isScalar(node) ? (node.value ?? this.#empty) : this.#empty, count: 1 };
  }

  #list(items: readonly Node[], offset: number): Found {
    const found = items.map((item) => this.#read(item, placeOf(item) ?? offset));
    const value = found.map((each) => each.value);
    this.offsets.set(value, new Map(items.map((item, index) => [index, placeOf(item) ?? offset])));
    return { value, count: found.reduce((sum, { count }) => sum + count, 1) };
  }

  #map(items: readonly { key: Node | null; value: Node | null }[], offset: number): Found {
    const entries = new Map<string, unknown>();
    const offsets = new Map<string, number>();
    let count = 1;
    for (const { key, value } of items) {
      const at = placeOf(key) ?? offset;
      const name = this.#key(key, at);
      if (entries.has(name))
        throw new YamlFault(
          `Expected YAML but the keys of a map must be unique: ${quoted(name.slice(0, LONGEST_QUOTE))} is there twice`,
          at,
        );
      const valueAt = placeOf(value) ?? at;
      const found = this.#read(value, valueAt);
      entries.set(name, found.value);
      offsets.set(name, valueAt);
      count += 1 + found.count;
    }
    const map = Object.fromEntries(entries);
    this.offsets.set(map, offsets);
    return { value: map, count };
  }

  #key(node: Node | null, offset: number): string {
    const { value } = this.#read(node, offset);
    if (typeof value === 'object' && value !== null)
      throw new YamlFault('Expected YAML but a key of a map is a list or a map', offset);
    return String(value ?? '');
  }
}

const placeOf = (node: Node | null): number | null => node?.range?.[0] ?? null;
