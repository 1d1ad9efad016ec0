/** Messages on stderr. */
import { messageOf } from '../../errors/message-of.js';
import { descriptorShortage } from '../files/descriptors.js';
import { shown } from '../../report/text/screen.js';
import { plain } from '../../results/text/plain.js';

/** An error is one line, whatever its message quotes. */
export const oneLine = (text: string): string => plain(text.replace(/\s*\n\s*/g, ' '));

export function errorLine(error: unknown): string {
  if (process.env.GVB_DEBUG === '1' && error instanceof Error && error.stack) return shown(`error: ${error.stack}\n`);
  return shown(`error: ${oneLine(descriptorShortage(error) ?? messageOf(error))}\n`);
}

/** One line for any number of errors: the first names file and reason. */
export function sayUnwritten([first, ...others]: readonly Error[], advice?: string): void {
  const more = others.length > 0 ? `${others.length} more could not be written.` : undefined;
  if (first) process.stderr.write(errorLine(new Error([first.message, more, advice].filter(Boolean).join(' '))));
}

const spoken: string[] = [];

export function say(text: string): void {
  spoken.push(`${new Date().toISOString()} ${text}\n`);
  process.stderr.write(shown(`${text}\n`));
}

/** Everything printed so far, with the time. */
export const transcript = (): string => spoken.join('');

const warned = new Set<string>();

/** Prints each warning once, as soon as it is known. */
export function warn(text: string): void {
  if (warned.has(text)) return;
  warned.add(text);
  say(`warning: ${oneLine(text)}`);
}
