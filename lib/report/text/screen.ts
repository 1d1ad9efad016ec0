/** The screen that text is shown on: its width and its character set. */

export interface Screen {
  /** Characters per line; Infinity if unknown, as in a file. */
  width: number;
  hasUtf8: boolean;
}

/** Narrowest width of a layout. */
const NARROWEST = 40;

/** Describes the screen. COLUMNS decides its width if it is a number, else the terminal on standard output. */
export function screenOf(environment: NodeJS.ProcessEnv, stdout: { isTTY?: boolean; columns?: number }): Screen {
  const asked = /^[1-9]\d*$/.test(environment.COLUMNS ?? '') ? Number(environment.COLUMNS) : null;
  const width = asked ?? (stdout.isTTY ? stdout.columns : undefined);
  return { width: width ? Math.max(NARROWEST, width) : Infinity, hasUtf8: hasUtf8(environment) };
}

export const screen = (): Screen => screenOf(process.env, process.stdout);

/**
 * Whether the locale has UTF-8, named as for setlocale(3) by the first of the three that is not empty; without any it
 * is C.
 */
function hasUtf8({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

const inAscii: Record<string, string> = {
  '…': '...',
  '–': '-',
  '—': '-',
  '−': '-',
  '×': 'x',
  '÷': '/',
  µ: 'u',
  μ: 'u',
  δ: 'delta',
  '°': 'deg ',
  '±': '+-',
  '≤': '<=',
  '≥': '>=',
  '→': '->',
  '·': '-',
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '\u00a0': ' ',
  '▁': '_',
  '▂': '.',
  '▃': '-',
  '▄': '-',
  '▅': '=',
  '▆': '+',
  '▇': '*',
  '█': '#',
};

/**
 * Converts text to the screen's characters. Without UTF-8 that is plain ASCII; characters without an equivalent become
 * `?`.
 */
export function shownOn({ hasUtf8: isUtf8 }: Screen, text: string): string {
  return isUtf8 ? text : text.replace(/[^\0-\x7f]/gu, (character) => inAscii[character] ?? '?');
}

export const shown = (text: string): string => shownOn(screen(), text);
