/** The tokens of one YAML document without tags, of bounded depth, and its tree. */
import type { CST, Document } from 'yaml';
import { quoted } from '../errors/usage-error.js';
import { yamlLibrary } from './yaml-library.js';

/** Deeper nesting would exhaust the stack of what reads it. */
const DEEPEST = 100;
const LONGEST_QUOTE = 80;

/** What is wrong at a place of the text. */
export class YamlFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** The schema of a text: whether its scalars stay text, or are numbers and booleans where they look so. */
export type YamlSchema = 'failsafe' | 'core';

/** Null for an empty text. `onLine` gets the offset of every line. Throws YamlFault. */
export function yamlTree(text: string, schema: YamlSchema, onLine: (offset: number) => void): Document.Parsed | null {
  const { Composer, Parser } = yamlLibrary();
  const tokens = [...new Parser(onLine).parse(text)];
  const [, second] = tokens.filter(({ type }) => type === 'document');
  if (second) throw new YamlFault('Expected YAML but a second document begins here', offsetOf(second));
  for (const token of tokens) checkToken(token);
  // The library compares every key of a map with every other one.
  const composer = new Composer({ schema, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  const [document] = withoutStacks(() => [...composer.compose(tokens)]);
  const [wrong] = document?.errors ?? [];
  if (wrong) throw new YamlFault(`Expected YAML but ${wrong.message}`, wrong.pos[0]);
  return document ?? null;
}

/** The library makes an error for every wrong character, and only the first is read. */
function withoutStacks<T>(make: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const offsetOf = (token: CST.Token): number => ('offset' in token ? token.offset : 0);

interface Level {
  token: CST.Token;
  depth: number;
}

/** Does not recurse, so that it can find any depth. */
function checkToken(outermost: CST.Token): void {
  const levels: Level[] = [{ token: outermost, depth: 0 }];
  for (let level = levels.pop(); level; level = levels.pop()) {
    const { token, depth } = level;
    if (token.type === 'tag') throw tagFault(token);
    if (depth > DEEPEST)
      throw new YamlFault(`Expected YAML of at most ${DEEPEST} levels but it is nested deeper`, offsetOf(token));
    for (const inner of innerOf(token).reverse()) levels.push({ token: inner, depth: depth + depthOf(token) });
  }
}

const isCollection = (token: CST.Token) => yamlLibrary().CST.isCollection(token);
const depthOf = (token: CST.Token): number => (isCollection(token) ? 1 : 0);

/** Tokens within a token, in the order of the text. */
function innerOf(token: CST.Token): CST.Token[] {
  const some = (inner: CST.Token | null | undefined) => (inner ? [inner] : []);
  if (token.type === 'document') return [...token.start, ...some(token.value)];
  if (!isCollection(token)) return [];
  return token.items.flatMap(({ start, key, sep, value }) => [...start, ...some(key), ...(sep ?? []), ...some(value)]);
}

const tagFault = ({ source, offset }: CST.SourceToken): YamlFault =>
  new YamlFault(
    `Expected YAML without tags but received ${quoted(source.slice(0, LONGEST_QUOTE))}: write the value itself`,
    offset,
  );
