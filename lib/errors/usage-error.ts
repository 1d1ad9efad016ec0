/** The request cannot be carried out as written; the command line answers with exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** A received value as an error quotes it: numbers bare, other text in quotes. */
export const quoted = (text: string): string => (/^-?[\d.]+$/.test(text) ? text : `'${text}'`);
