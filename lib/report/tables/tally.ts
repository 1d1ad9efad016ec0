/** The number of metrics by verdict and system. */
import { type Verdict, VERDICTS } from '../../results/text/effect-text.js';
import { plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';

interface Tally {
  system: string;
  counts: { verdict: Verdict; count: number }[];
  /** The sentence of a system: `Of 15 metrics: 6 slower, 1 same, 8 inconclusive.` */
  text: string;
}

export function tallies({ systems, effects }: View): Tally[] {
  return systems
    .filter(({ isCompared }) => isCompared)
    .flatMap(({ name }) => {
      const own = effects.filter(({ system }) => system === name);
      if (own.length === 0) return [];
      const counts = VERDICTS.map((verdict) => ({
        verdict,
        count: own.filter((effect) => effect.verdict === verdict).length,
      })).filter(({ count }) => count > 0);
      const text = counts.map(({ verdict, count }) => `${count} ${verdict}`).join(', ');
      return [{ system: plain(name), counts, text: `Of ${counted(own.length, 'metric')}: ${text}.` }];
    });
}
