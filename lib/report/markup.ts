/** Text for HTML and XML: a template that escapes whatever is not markup of its own. */

/** Written by `html` alone, so that only what was escaped counts as markup. */
export class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type Interpolated = Markup | string | number | null | undefined | false | readonly Interpolated[];

/**
 * What XML 1.0 does not allow, the rest of the control characters, and what changes the direction of the text around it:
 * a name must not be able to make a neighbouring number read backwards.
 */
const UNWANTED =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Cs}/gu;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For what escapes by itself, and would let them pass. */
export const cleaned = (text: string): string => text.replace(UNWANTED, '');

/** For text and for attribute values in double or single quotes, of HTML and of XML. */
export const escape = (text: string): string =>
  cleaned(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

/** Only for text that is known to be markup: our own files, and drawings that were checked. */
export const trusted = (text: string): Markup => new Markup(text);

function rendered(value: Interpolated): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '–';
  return typeof value === 'string' ? escape(value) : value.map(rendered).join('');
}

/** Values are escaped, arrays joined; null, undefined and false are nothing. Attribute values stand in quotes. */
export function html(parts: TemplateStringsArray, ...values: Interpolated[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + rendered(values[i - 1]) + part));
}

/** Names stay whole up to what a page can bear. */
export function short(text: string, length: number): string {
  const characters = text.length > 4 * length ? [...text.slice(0, 4 * length)] : [...text];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('');
}

/** The same for XML: what is escaped and what is dropped satisfies both. */
export const xml = html;
