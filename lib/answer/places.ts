/**
 * Places of systems for a use, from tests between them and nothing else: a system is ahead of another if it is better in
 * a deciding metric and worse in none. Without such a test they share a place.
 */
import type { Advice, Figure } from '../results/answer-schema.js';
import type { Effect } from '../results/document.js';
import { isDifference } from '../results/text/effect-text.js';
import { isComparison } from '../results/kinds.js';
import { plain } from '../results/text/plain.js';
import type { View } from '../results/view.js';

interface Duel {
  better: string;
  worse: string;
  /** The figure in which it is better. */
  what: string;
}

/** Finds who is better in which deciding metric, by the tests between the two. */
function duelsOf(pairs: readonly Effect[], figures: readonly Figure[]): Duel[] {
  return pairs.filter(isDifference).flatMap(({ system, baseline, metric, verdict }) => {
    const what = figures.find((one) => one.metric === metric)?.what;
    if (what === undefined) return [];
    return [
      verdict === 'slower' ? { better: baseline, worse: system, what } : { better: system, worse: baseline, what },
    ];
  });
}

function isAhead(a: string, b: string, duels: readonly Duel[]): boolean {
  const won = duels.some(({ better, worse }) => better === a && worse === b);
  return won && !duels.some(({ better, worse }) => better === b && worse === a);
}

type Placed = Pick<Advice, 'places' | 'reason'>;

const none = (reason: string): Placed => ({ places: null, reason });

const MOST = 3;

function said(duels: readonly Duel[]): string {
  const texts = duels.map(({ better, worse, what }) => `${better} is better than ${worse}: ${what}`);
  return plain(`${texts.slice(0, MOST).join('; ')}${texts.length > MOST ? '; and others' : ''}.`);
}

interface Compared {
  systems: readonly string[];
  /** Systems with violations that decide for the use. */
  harmed: ReadonlySet<string>;
  figures: readonly Figure[];
}

/** Returns the tests between candidates, and those with the baseline if that is a candidate; null if there are none. */
function testsOf({ document, systems: all, effects }: View, systems: readonly string[]): Effect[] | null {
  const pairs = isComparison(document) ? document.pairs : [];
  const hasBaseline = all.some(({ name, isBaseline }) => isBaseline && systems.includes(name));
  if (pairs.length === 0 && !(hasBaseline && systems.length === 2)) return null;
  const tests = [...pairs, ...(hasBaseline ? effects : [])];
  return tests.length === 0 ? null : tests;
}

export function placesOf(view: View, { systems, harmed, figures }: Compared): Placed {
  if (systems.length < 2) return none('Only one system was measured, so there are no places.');
  const pairs = testsOf(view, systems);
  const safe = systems.filter((system) => !harmed.has(system));
  if (harmed.size > 0 && safe.length < 2) return none('Violations decide before costs, so there are no places.');
  if (!pairs) return none('No places: no test compares these systems with each other.');
  const duels = duelsOf(pairs, figures).filter(({ better, worse }) => safe.includes(better) && safe.includes(worse));
  if (duels.length === 0) return none('No places: the tests between these systems show no difference that counts.');
  const placeOf = (name: string) => 1 + safe.filter((each) => isAhead(each, name, duels)).length;
  const taken = [...new Set(safe.map(placeOf))].sort((a, b) => a - b);
  if (taken.length === 1) return none(`A trade-off, so there are no places. ${said(duels)}`);
  const places = taken.map((place) => ({ place, systems: safe.filter((name) => placeOf(name) === place).map(plain) }));
  return { places, reason: said(duels) };
}
