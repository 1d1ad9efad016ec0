/** --env NAME[=VALUE]: a variable for the programs that a command starts. */
import { quoted, UsageError } from '../../errors/usage-error.js';

/** `isOwn`: without a value of its own, so it has the one that it has here. */
interface Variable {
  name: string;
  value: string;
  isOwn: boolean;
}

/** Throws UsageError for a variable that is not set here and has no value. */
export function variableOf(text: string): Variable {
  const [name = '', ...value] = text.split('=');
  if (value.length > 0) return { name, value: value.join('='), isOwn: false };
  const own = process.env[name];
  if (own !== undefined) return { name, value: own, isOwn: true };
  throw new UsageError(
    `Expected --env to name a variable that is set here, or NAME=value, but received ${quoted(text)}.`,
  );
}
