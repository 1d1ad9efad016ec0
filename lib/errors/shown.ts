/** A value that may be anything, as a message shows it: what a document holds need not have a text of its own. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
