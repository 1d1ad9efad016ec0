/** The `verify` steps of a custom system, by which its layer is recognised. */
import type * as v from 'valibot';
import { didYouMean } from '../../../errors/closest.js';
import { type Field, field, integer, key, needed, pattern, scalar, size, text, texts } from '../../../config/schema.js';
import type { Place } from '../../../config/setting-place.js';
import { oneOf, settings } from '../../../config/read.js';
import { Refused } from '../../../config/refused.js';
import { readSize, type Size } from '../../../config/size.js';
import { baseName, isFunctionName } from '../../../native/base-name.js';
import { functionNames } from '../../../native/function-names.js';
import type { Step } from './custom-profile.js';
import type { Placeholder } from '../../input/placeholders.js';
import { checkEach } from '../state-files.js';

/** Patterns that take forever are usually long. */
const LONGEST_PATTERN = 200;

const functionName = (): Field<string, string> => {
  const what = 'a function whose owner is known';
  return scalar(what, { json: { type: 'string' } }, (name) => {
    if (isFunctionName(name)) return name;
    const bases = functionNames.map(baseName);
    return new Refused(what, didYouMean(name, [...functionNames, ...bases], `there are ${bases.join(', ')}.`));
  });
};

/** Two bounds, the smaller first. */
const bounds = <Written, Value>(
  item: Readonly<Record<string, unknown>>,
  read: (least: string, most: string) => readonly [Value, Value] | Refused,
): Field<readonly [Written, Written], readonly [Value, Value]> =>
  field({ json: { type: 'array', items: [item, item], minItems: 2, maxItems: 2 } }, (raw) => {
    const [least, most] = Array.isArray(raw) && raw.length === 2 ? raw : [];
    if (typeof least !== 'string' || typeof most !== 'string') return new Refused('a list of two bounds');
    return read(least, most);
  });

const counts = () =>
  bounds<number, number>({ type: 'integer' }, (least, most) => {
    const isCount = (given: string) => /^\d{1,6}$/.test(given);
    if (!isCount(least) || !isCount(most) || Number(least) > Number(most))
      return new Refused('two integers, the smaller first');
    return [Number(least), Number(most)];
  });

const sizes = () =>
  bounds<string, Size>({ type: 'string' }, (least, most) => {
    const [low, high] = [readSize(least, true), readSize(most, true)];
    return low instanceof Refused ? low : high instanceof Refused ? high : [low, high];
  });

export const verifySchema = oneOf({
  symbolOwner: needed(
    settings({
      symbol: needed(functionName(), 'A function of the driver, such as cuLaunchKernel.'),
      matches: needed(pattern(LONGEST_PATTERN), 'A regular expression.'),
    }),
    'The file that owns the function on the measured path matches the regular expression.',
  ),
  symbolExported: needed(text(), 'A preloaded or intercepting library exports that name.'),
  env: needed(
    settings({
      name: needed(text(), 'The name of the variable.'),
      value: needed(text(), 'The value of the variable.'),
    }),
    'The process has the variable with that value.',
  ),
  smCount: needed(counts(), 'The number of SMs that the process sees is between the bounds.'),
  totalMemory: needed(sizes(), 'Total memory is between the bounds, sizes or per cent of the card.'),
  allocationCanary: needed(size(), 'An allocation of that size is refused.'),
  command: needed(
    settings({
      argv: needed(texts('a command as a list of arguments'), 'The program and its arguments; no shell reads them.'),
      exit: key(integer(0, 255), 'The exit code that it must have.', 0),
      matches: key(pattern(LONGEST_PATTERN), 'A regular expression that its output must match.'),
    }),
    'The command ends with that code and its output matches.',
  ),
});

type Given = v.InferOutput<typeof verifySchema>;

/** Throws SettingError for placeholders that have no value. */
export function verifySteps(given: readonly Given[], place: Place, allowed: readonly Placeholder[]): Step[] {
  return given.map((step, index) => {
    const own = place.entry('verify', index);
    if ('env' in step) checkEach([step.env.value], 'value', own.inside('env'), allowed);
    if ('command' in step) checkEach(step.command.argv, 'argv', own.inside('command'), allowed);
    return stepOf(step);
  });
}

function stepOf(given: Given): Step {
  if ('symbolOwner' in given) return { step: 'symbolOwner', ...given.symbolOwner };
  if ('symbolExported' in given) return { step: 'symbolExported', symbol: given.symbolExported };
  if ('env' in given) return { step: 'env', ...given.env };
  if ('smCount' in given) return { step: 'smCount', least: given.smCount[0], most: given.smCount[1] };
  if ('totalMemory' in given) return { step: 'totalMemory', least: given.totalMemory[0], most: given.totalMemory[1] };
  if ('allocationCanary' in given) return { step: 'allocationCanary', size: given.allocationCanary };
  const { argv, exit, matches = null } = given.command;
  return { step: 'command', argv, exit, matches };
}
