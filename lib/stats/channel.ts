/** How much an observer learns of a secret bit: a classifier of one threshold, and the capacity that its errors leave. */
import { gammaln, shuffle } from 'simple-statistics';
import { seededRandom } from './random.js';

/** What was observed in one slot, and whether the secret was 1 in it. */
export interface Slot {
  signals: readonly number[];
  secret: boolean;
}

/** Takes the secret for 1 where the signal lies above the threshold, or below it. */
interface Classifier {
  signal: number;
  threshold: number;
  above: boolean;
}

export interface Errors {
  wrong: number;
  slots: number;
}

const TAIL = 0.025;
const PERMUTATIONS = 1_999;

const says = ({ signal, threshold, above }: Classifier, { signals }: Slot): boolean =>
  (signals[signal] as number) > threshold === above;

export const errorsOf = (classifier: Classifier, slots: readonly Slot[]): Errors => ({
  wrong: slots.filter((slot) => says(classifier, slot) !== slot.secret).length,
  slots: slots.length,
});

/** The classifier with the fewest errors, and these: of equal ones the first. */
export function bestClassifier(slots: readonly Slot[]): Classifier & Errors {
  let best: Classifier & Errors = {
    signal: 0,
    threshold: 0,
    above: true,
    wrong: slots.length + 1,
    slots: slots.length,
  };
  const count = slots[0]?.signals.length ?? 0;
  for (let signal = 0; signal < count; signal++) {
    const values = [...new Set(slots.map(({ signals }) => signals[signal] as number))].sort((a, b) => a - b);
    for (const [i, value] of values.entries()) {
      const threshold = (value + (values[i + 1] ?? value)) / 2;
      for (const above of [true, false]) {
        const classifier = { signal, threshold, above };
        const errors = errorsOf(classifier, slots);
        if (errors.wrong < best.wrong) best = { ...classifier, ...errors };
      }
    }
  }
  return best;
}

/** 1 − H(error), for an error above a half too: who is wrong more often than right has learned nothing. */
export function bitsOf(error: number): number {
  const e = Math.min(error, 0.5);
  return e <= 0 ? 1 : 1 + e * Math.log2(e) + (1 - e) * Math.log2(1 - e);
}

/** P(at most `wrong` of `slots` are wrong), if each is with this probability. */
function atMost({ wrong, slots }: Errors, error: number): number {
  let sum = 0;
  for (let i = 0; i <= wrong; i++) {
    const ways = gammaln(slots + 1) - gammaln(i + 1) - gammaln(slots - i + 1);
    sum += Math.exp(ways + i * Math.log(error) + (slots - i) * Math.log1p(-error));
  }
  return sum;
}

/** The error at which a falling function of it crosses the tail. */
function crossing(falls: (error: number) => number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (falls(middle) > TAIL) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Exact 95 % interval of the error rate (C. J. Clopper & E. S. Pearson, 1934). */
export function errorInterval({ wrong, slots }: Errors): [low: number, high: number] {
  const high = wrong === slots ? 1 : crossing((error) => atMost({ wrong, slots }, error));
  const right = slots - wrong;
  const low = wrong === 0 ? 0 : 1 - crossing((correct) => atMost({ wrong: right, slots }, correct));
  return [low, high];
}

/** How likely permuted labels are right in every slot, of which half are of the one kind: the least p that so few slots allow. */
export function leastChance(slots: number): number {
  let ways = 1;
  for (let i = 1; i <= slots / 2; i++) ways *= (slots / 2 + i) / i;
  return 1 / ways;
}

/** Errors of the classifier after the secrets were dealt out again: their mean, and P(as few as there were). */
export function chanceOf(classifier: Classifier, slots: readonly Slot[], seed: number): { error: number; p: number } {
  const { wrong } = errorsOf(classifier, slots);
  const random = seededRandom(seed);
  const said = slots.map((slot) => says(classifier, slot));
  const secrets = slots.map(({ secret }) => secret);
  let [asFew, all] = [0, 0];
  for (let i = 0; i < PERMUTATIONS; i++) {
    const dealt = shuffle(secrets, random);
    const errors = said.filter((one, at) => one !== dealt[at]).length;
    all += errors;
    if (errors <= wrong) asFew++;
  }
  return { error: all / PERMUTATIONS / slots.length, p: (1 + asFew) / (1 + PERMUTATIONS) };
}
