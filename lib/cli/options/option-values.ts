/** Refuses an option as the value of another option: `--json --junit` would otherwise write a file named --junit. */
import type { Command, Option } from 'commander';
import { quoted, UsageError } from '../../errors/usage-error.js';

/** Applies to every option that the command has so far and that takes arbitrary text. */
export function refusingOptionsAsValues(command: Command): Command {
  for (const option of command.options) if (option.required && !option.parseArg) option.argParser(checked(option));
  return command;
}

const checked =
  ({ long, flags }: Option) =>
  (text: string): string => {
    if (!text.startsWith('--')) return text;
    const value = /<.*>/.exec(flags)?.[0];
    throw new UsageError(
      `Expected ${long} to be followed by ${value} but received ${quoted(text)}: give it, or leave ${long} out.`,
    );
  };

/** Collects the values of an option that may be given several times. */
export const repeatable = (value: string, earlier: string[] = []): string[] => [...earlier, value];
