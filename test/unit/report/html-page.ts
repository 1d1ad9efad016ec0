/** A strict parser for a report's page: every tag closed, every value in double quotes. */

export interface Tag {
  name: string;
  attributes: Record<string, string>;
}

export interface Parsed {
  tags: Tag[];
  /** Decoded, without style and script. */
  texts: string[];
  style: string;
  script: string;
}

const VOID = new Set(['meta', 'input', 'br', 'hr']);
const ENTITY = /&(amp|lt|gt|quot|#39);/g;
const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decode = (text: string): string => text.replace(ENTITY, (_, name: string) => characters[name] as string);

function text(raw: string): string {
  if (/[>"]|&(?!(amp|lt|gt|quot|#39);)/.test(raw.replace(/"/g, ''))) throw new Error(`Not text: ${raw.slice(0, 200)}`);
  return decode(raw);
}

function attributesOf(raw: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  const rest = raw.replace(/\s+([a-zA-Z][\w:-]*)(?:="([^"<]*)")?/g, (_, name: string, value = '') => {
    if (name in attributes) throw new Error(`Twice: ${name}`);
    attributes[name] = decode(value);
    return '';
  });
  if (!/^\s*\/?$/.test(rest)) throw new Error(`Not attributes: ${raw.slice(0, 200)}`);
  return attributes;
}

export function parse(page: string): Parsed {
  const parsed: Parsed = { tags: [], texts: [], style: '', script: '' };
  const open: string[] = [];
  let at = page.startsWith('<!doctype html>') ? '<!doctype html>'.length : Number.NaN;
  while (at < page.length) {
    const next = page.indexOf('<', at);
    parsed.texts.push(text(page.slice(at, next === -1 ? page.length : next)));
    if (next === -1) break;
    const end = page.indexOf('>', next);
    const inside = page.slice(next + 1, end);
    at = end + 1;
    const closing = /^\/([a-zA-Z][a-zA-Z0-9]*)$/.exec(inside);
    if (closing) {
      if (open.pop() !== closing[1]) throw new Error(`Not open: ${inside}`);
      continue;
    }
    const name = /^[a-zA-Z][a-zA-Z0-9]*/.exec(inside)?.[0];
    if (!name) throw new Error(`Not a tag: ${inside.slice(0, 200)}`);
    parsed.tags.push({ name, attributes: attributesOf(inside.slice(name.length)) });
    if (name === 'style' || name === 'script') {
      const stop = page.indexOf(`</${name}>`, at);
      parsed[name] += page.slice(at, stop);
      at = stop + name.length + 3;
    } else if (!inside.endsWith('/') && !VOID.has(name)) open.push(name);
  }
  if (Number.isNaN(at) || open.length > 0) throw new Error(`Not closed: ${open.join(', ') || 'no doctype'}`);
  return parsed;
}

/** Elements with the names of their attributes, to which a hostile name must not add. */
export const kinds = ({ tags }: Parsed): Set<string> =>
  new Set(tags.map(({ name, attributes }) => `${name} ${Object.keys(attributes).sort().join(' ')}`));

export interface Row {
  /** Texts of the cells as a browser shows them, except for white space. */
  cells: string[];
  /** Attributes of each cell. */
  attributes: Record<string, string>[];
}

/** The rows of a section's tables, in order. */
export function rowsIn(page: string, section: string): Row[] {
  const start = page.indexOf(`<section id="${section}"`);
  const own = page.slice(start, page.indexOf('</section>', start));
  return [...own.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) => {
    const found = [...row.matchAll(/<t[hd]([^>]*)>(.*?)<\/t[hd]>/gs)];
    return {
      cells: found.map(([, , inside = '']) =>
        decode(inside.replace(/<[^>]*>/g, ' '))
          .replace(/\s+/g, ' ')
          .trim(),
      ),
      attributes: found.map(([, attributes = '']) => attributesOf(attributes)),
    };
  });
}
