/** Text for HTML and XML: a template that escapes everything except its own markup. */

/** Markup, made only by `html` and `trusted`, so that all other text is escaped. */
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
 * Matches characters that XML 1.0 does not allow, other control characters, and those that change the direction of
 * surrounding text: a name must not be able to reverse a neighbouring number.
 */
const UNWANTED =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|\p{Cs}/gu;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Removes unwanted characters from text that is escaped elsewhere. */
export const cleaned = (text: string): string => text.replace(UNWANTED, '');

/** Escapes text and quoted attribute values for HTML and XML. */
export const escape = (text: string): string =>
  cleaned(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

/** Takes text as markup. Use only for known markup: our own files, and checked drawings. */
export const trusted = (text: string): Markup => new Markup(text);

function rendered(value: Interpolated): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '–';
  return typeof value === 'string' ? escape(value) : value.map(rendered).join('');
}

/**
 * Makes markup: escapes values and joins arrays; null, undefined and false become nothing. Attribute values must be
 * quoted.
 */
export function html(parts: TemplateStringsArray, ...values: Interpolated[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + rendered(values[i - 1]) + part));
}

/** Shortens a name that is too long for a page. */
export function short(text: string, length: number): string {
  const characters = text.length > 4 * length ? [...text.slice(0, 4 * length)] : [...text];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : characters.join('');
}

/** Makes XML by the same template: the escapes and dropped characters suit both. */
export const xml = html;
