/** A request that cannot be carried out as written; the command line exits with code 2. */
export class UsageError extends Error {
  readonly code = 'USAGE';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const LONGEST_QUOTE = 1_000;

/** A received value in an error message: numbers bare, other text in quotes; the first 1000 characters. */
export function quoted(text: string): string {
  const shown = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return /^-?[\d.]+$/.test(shown) ? shown : `'${shown}'`;
}
