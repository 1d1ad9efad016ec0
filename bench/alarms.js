// Families of effects of a system and itself, in recorded comparisons: nothing differs, so every `slower` or `faster` in
// them is a false alarm.
import { binomialDistribution } from 'simple-statistics';
import { isDifference } from '../dist/results/text/effect-text.js';
import { judged } from '../dist/run/effects/judged.js';

/** Share of families that may have a false difference (docs/method.md). */
const RATE = 0.05;
const CERTAINTY = 0.99;
/** Each half then has the two rounds that an interval needs. */
const FEWEST_ROUNDS = 4;

/** Which effects count, and why nothing can differ in them. */
export const KINDS = {
  compared: 'two systems of one comparison that have the same settings and the same layer, or none',
  calls:
    'the calls of a system without a layer, through the pointer of the program and through the same one of the driver',
  halves: `one system of a comparison of ${FEWEST_ROUNDS} rounds or more: rounds 1, 4, 5, 8 … against 2, 3, 6, 7 …, so that each half is as often first in a round`,
};

const hasLayer = ({ kind, layer }) => layer !== undefined || !['native', 'custom'].includes(kind);

function isSameSystem(a, b) {
  if (JSON.stringify(a.settings) !== JSON.stringify(b.settings)) return false;
  if (!hasLayer(a) && !hasLayer(b)) return true;
  return a.kind === b.kind && a.layer !== undefined && a.layer.sha256 === b.layer?.sha256;
}

const systemsOf = ({ systems }) => systems.flatMap(([first]) => first?.system ?? []);

function compared(document) {
  const systems = systemsOf(document);
  const effects = [...document.effects, ...document.pairs];
  return systems.flatMap((system, index) =>
    systems
      .slice(0, index)
      .filter((other) => isSameSystem(system, other))
      .map((other) => ({
        what: `${system.name} against ${other.name}`,
        members: effects.filter((effect) => effect.system === system.name && effect.baseline === other.name),
      })),
  );
}

const calls = (document) =>
  systemsOf(document)
    .filter((system) => !hasLayer(system))
    .map(({ name }) => ({
      what: `calls of ${name}`,
      members: document.callEffects.filter(({ system }) => system === name),
    }));

/** Whether a round, counted from 0, belongs to the first half. */
const isOfFirst = (index) => [0, 3].includes(index % 4);

const renamed = (round, name) => ({ ...round, system: { ...round.system, name } });

const halves = (document) =>
  document.systems
    .filter((rounds) => rounds.length >= FEWEST_ROUNDS)
    .map((rounds) => {
      const { name } = rounds[0].system;
      const half = (isWanted, as) => rounds.filter((_, index) => isWanted(index)).map((round) => renamed(round, as));
      const systems = [half(isOfFirst, 'one half'), half((index) => !isOfFirst(index), 'the other')];
      return { what: `halves of ${name}`, members: judged({ ...document, systems, effects: [], pairs: [] }).effects };
    });

const found = { compared, calls, halves };

/** Of a document that was judged by today's rules: those with at least one effect that has an interval. */
export const familiesOfItself = (document) =>
  Object.entries(found).flatMap(([kind, families]) =>
    families(document)
      .filter(({ members }) => members.some(({ verdict, p }) => verdict !== 'invalid' && p !== null))
      .map((family) => ({ kind, ...family, alarms: family.members.filter(isDifference) })),
  );

/** The most false alarms of so many families that a rule with this error rate stays below in 99 of 100 cases. */
export function mostAlarms(families) {
  const probabilities = binomialDistribution(families, RATE);
  let upTo = 0;
  const most = probabilities.findIndex((probability) => (upTo += probability) >= CERTAINTY);
  return most < 0 ? families : most;
}
