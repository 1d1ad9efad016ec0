// What today's rules say of every recorded comparison, and how often they see a difference between a system and itself.
// Usage: node bench/rejudged.js > bench/results/rejudged.md
import { effectText, VERDICTS } from '../dist/results/text/effect-text.js';
import { familiesOfItself, KINDS, mostAlarms } from './alarms.js';
import { judgedRecord } from './judged-records.js';
import { isJsonRecord, jsonRecords, recordNames } from './records.js';

const OUTPUT = 'rejudged.md';
/** Compared by the first versions. */
const TWICE = 'of native compared with itself: printed tables without the values of their rounds';

const table = (titles, rows) =>
  [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function counted(words) {
  const counts = [...VERDICTS, 'none'].map((word) => [word, words.filter((each) => each === word).length]);
  const some = counts.filter(([, count]) => count > 0);
  return some.map(([word, count]) => `${count} ${word}`).join(', ') || '–';
}

const ofEffects = ({ effects }) => effects.map((each) => ({ ...each, key: `${each.metric} ${each.system}` }));
const ofCalls = ({ callEffects = [] }) =>
  callEffects.map((each) => ({ ...each, key: `${each.metric} ${each.call} ${each.system}` }));

/** Each with the verdict that was recorded: `none` if there was none of it. */
function beside(now, then) {
  const verdicts = new Map(then.map(({ key, verdict }) => [key, verdict]));
  return now.map((each) => ({ ...each, then: verdicts.get(each.key) ?? 'none' }));
}

function rejudged({ name, then, now }) {
  const units = new Map(now.systems.flat(2).flatMap(({ metrics }) => metrics.map(({ id, unit }) => [id, unit])));
  return {
    name: name.replace(/\.json(\.[gx]z)?$/, ''),
    systems: now.systems.flatMap((rounds) =>
      rounds[0] ? [{ name: rounds[0].system.name, rounds: rounds.length }] : [],
    ),
    effects: beside(ofEffects(now), ofEffects(then)).map((each) => ({
      ...each,
      text: effectText(each, units.get(each.metric) ?? ''),
    })),
    calls: beside(ofCalls(now), ofCalls(then)),
    families: familiesOfItself(now).map((family) => ({ name, ...family })),
  };
}

const change = (some) => {
  const [then, now] = [counted(some.map((each) => each.then)), counted(some.map(({ verdict }) => verdict))];
  return then === now || some.every((each) => each.then === 'none') ? now : `${then} → ${now}`;
};
const isChanged = ({ then, verdict }) => then !== verdict;
const ofSystem = (some, name) => some.filter(({ system }) => system === name);

const names = recordNames().filter((name) => name !== OUTPUT);
const skipped = new Map();
const skip = (what) => skipped.set(what, (skipped.get(what) ?? 0) + 1);
for (const name of names.filter((each) => !isJsonRecord(each)))
  skip(/twice/.test(name) ? TWICE : `of kind ${name.split('.').at(-1)}: no document`);
const comparisons = [];
for (const record of jsonRecords())
  if (record.kind === 'comparison') comparisons.push(rejudged(judgedRecord(record)));
  else skip(`of kind ${record.kind}: nothing is compared in it`);

const effects = comparisons.flatMap((each) => each.effects);
const calls = comparisons.flatMap((each) => each.calls).filter(({ then }) => then !== 'none');
const families = comparisons.flatMap((each) => each.families);

/** By the two words. */
function moves(some) {
  const found = new Map();
  for (const { then, verdict } of some.filter(isChanged))
    found.set(`${then} → ${verdict}`, (found.get(`${then} → ${verdict}`) ?? 0) + 1);
  return (
    [...found]
      .sort(([, a], [, b]) => b - a)
      .map(([move, count]) => `${count} ${move}`)
      .join(', ') || 'none'
  );
}

const alarmRow = (what, some) => [
  what,
  some.length,
  some.filter(({ alarms }) => alarms.length > 0).length,
  mostAlarms(some.length),
  some
    .flatMap(({ alarms, name, what: of }) =>
      alarms.map(({ metric, verdict }) => `${name}, ${of}: ${metric} ${verdict}`),
    )
    .join('; ') || '–',
];

console.log(`# Recorded comparisons, judged by today's rules

Made by \`node bench/rejudged.js > bench/results/rejudged.md\` from the ${names.length} files of this folder: ${comparisons.length} comparisons.
Left out:

${[...skipped].map(([what, count]) => `- ${count} files ${what}`).join('\n')}

## A system against itself

Nothing differs in these families of effects, so each \`slower\` or \`faster\` is a false alarm. The rule allows them in 5 % of families; a
rule that does stays within the bound in 99 of 100 cases. The H200 records also gave the spreads in
\`lib/metrics/recorded-variances.ts\`, which the rule uses.

${table(
  ['families', 'number', 'with an alarm', 'bound', 'which'],
  [
    ...Object.entries(KINDS).map(([kind, what]) =>
      alarmRow(
        what,
        families.filter((each) => each.kind === kind),
      ),
    ),
    alarmRow('all', families),
  ],
)}

## By document

An effect of one round has no interval and is inconclusive. Where \`→\` stands, the verdicts were recorded before it. Documents of the
first schema version have no verdicts of calls.

${table(
  ['document', 'system against baseline', 'rounds', 'effects', 'verdicts of effects', 'calls', 'verdicts of calls'],
  comparisons.flatMap(({ name, systems, effects: own, calls: ownCalls }) =>
    systems.flatMap((system, index) => {
      const [some, pairs] = [ofSystem(own, system.name), ofSystem(ownCalls, system.name)];
      if (index === 0 && pairs.length === 0) return [];
      const against = index === 0 ? system.name : `${system.name} against ${systems[0].name}`;
      return [[name, against, system.rounds, some.length, change(some), pairs.length, change(pairs)]];
    }),
  ),
)}

## Changed verdicts

Of ${effects.length} effects ${effects.filter(isChanged).length} have another verdict than was recorded (${moves(effects)}). Of ${calls.length} calls with a
recorded verdict it is ${calls.filter(isChanged).length} (${moves(calls)}).

${table(
  ['document', 'system', 'metric', 'rounds', 'size (95 %)', 'recorded', 'today'],
  comparisons.flatMap(({ name, effects: own }) =>
    own
      .filter(isChanged)
      .map((each) => [name, each.system, each.metric, each.rounds, each.text, each.then, each.verdict]),
  ),
)}`);
