/** Compares a probe's run under a system with its native run: same exit, same codes, same data. */
import type { Observation, Step } from './probe-process.js';

interface Judged {
  /** `same`, or a description of the difference. */
  outcome: string;
  /** The call at which it differed. */
  at?: string;
}

/** The program's own check failed, or a comparison within the program had another outcome. */
const isWrong = (step: Step): boolean =>
  step.gvb === 'data' && (step.otherwise === undefined ? step.value === 'wrong' : step.value !== 'the same');

/** Why a native run cannot be compared with; null if it can. */
export function excludedBecause({ ending, over, steps, done, last }: Observation): string | null {
  const during = last === null ? '' : ` in ${last}`;
  if (ending === null) return `natively it hangs${during}`;
  if (ending.signal !== null) return `natively it crashes${during}: ${ending.signal}`;
  if (over !== null) return over;
  const wrong = steps.find(isWrong);
  if (wrong) return `natively its data is wrong: ${wrong.step}`;
  return done && ending.exitCode === 0 ? null : `natively it ${ending.how}`;
}

/** A short text for a table. */
export function nativeText({ steps, count }: Observation): string {
  const works = count === null ? 'works' : `works, ${count} made`;
  const refused = steps.flatMap((step) =>
    step.gvb === 'code' && step.code !== 0 ? [`${step.step} ${step.code}`] : [],
  );
  const different = [...new Set(refused)];
  if (different.length === 0) return works;
  const more = different.length - 3;
  return `${works}, with ${different.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function difference(native: Step, own: Step): Judged | null {
  const at = own.step;
  if (native.gvb === 'code' && own.gvb === 'code')
    return native.code === own.code ? null : { outcome: `code ${own.code} instead of ${native.code}`, at };
  if (native.gvb === 'data' && own.gvb === 'data' && native.value === own.value) return null;
  return { outcome: (own.gvb === 'data' && own.otherwise) || 'wrong data', at };
}

function firstDifference(native: readonly Step[], own: readonly Step[]): Judged | null {
  for (const [i, step] of own.entries()) {
    const expected = native[i];
    const found = expected?.step === step.step ? difference(expected, step) : { outcome: 'wrong data', at: step.step };
    if (found) return found;
  }
  return null;
}

/** `native` must not be excluded. */
export function outcomeOf(native: Observation, own: Observation): Judged {
  const { ending, last, steps, done } = own;
  const at = last === null ? {} : { at: last };
  if (ending === null) return { outcome: 'hang', ...at };
  if (ending.signal !== null) return { outcome: `crash ${ending.signal}`, ...at };
  const found = firstDifference(native.steps, steps);
  if (found) return found;
  if (ending.exitCode !== 0) return { outcome: `exit ${ending.exitCode} instead of 0`, ...at };
  return done && steps.length === native.steps.length ? { outcome: 'same' } : { outcome: 'ends early', ...at };
}
