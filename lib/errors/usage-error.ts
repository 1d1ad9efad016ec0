/** A request that cannot be carried out as written; the command line exits with code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** A received value in an error message: numbers bare, other text in quotes. */
export const quoted = (text: string): string => (/^-?[\d.]+$/.test(text) ? text : `'${text}'`);
