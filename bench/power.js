// What verdicts can find and how often they are wrong, by simulation with the rule that compare uses. Prints the tables
// of docs/method.md: the bars that the rule must meet, and what two, five and ten rounds find of each metric whose spread
// between rounds is on record. Exits 1 if a bar is missed beyond Monte-Carlo error.
// Usage: node bench/power.js [--families 4000] [--only bars|metrics]
import { parseArgs } from 'node:util';
import { effectsOf } from '../dist/run/effects/family.js';
import { detectionOf, plannedRounds } from '../dist/run/effects/detect.js';
import { recordedVariances } from '../dist/metrics/recorded-variances.js';
import { normal, percent } from './detecting.js';

const { values: given } = parseArgs({
  options: { families: { type: 'string', default: '4000' }, only: { type: 'string', default: '' } },
});
const FAMILIES = Number(given.families);
if (!Number.isInteger(FAMILIES) || FAMILIES < 1)
  throw new Error(`Expected --families to be an integer above 0 but received ${given.families}.`);

const noise = normal(1);

/**
 * A metric of the simulation. Its spread is on record under the id of a metric whose recorded spread is nearest, or not
 * on record at all.
 */
const metricOf = (id, delta = 0.05, values = 'continuous') => ({
  id,
  direction: 'lower',
  delta: { relative: delta },
  values,
});

/** Recorded standard deviations as the rule uses them, by id. */
const onRecord = new Map(
  Object.entries(recordedVariances)
    .filter(([, { scale }]) => scale === 'log')
    .map(([id, { sd, sdLayer }]) => [id, Math.max(sd, sdLayer)]),
);

/** The values of one effect: a part of the variance is shared by both arms of a round, the rest is the process's. */
function measured({ metric, effect = 0, sd: [own, other], shared = 0.3, grid = 0, rounds }) {
  const parts = Array.from({ length: rounds }, () => noise());
  const onGrid = (value) => (grid === 0 ? value : Math.round(value / grid) * grid);
  const arm = (sd, centre) =>
    parts.map((part) => onGrid(Math.exp(centre + sd * (Math.sqrt(shared) * part + Math.sqrt(1 - shared) * noise()))));
  return { metric, system: arm(own, effect), baseline: arm(other, 0), invalid: null };
}

const isPublished = ({ verdict }) => verdict === 'slower' || verdict === 'faster';

/** Shares over simulated families of what is published of real effects and of nulls. */
function families(effects, count = FAMILIES) {
  const numbered = effects.map((each, i) => ({ ...each, metric: { ...each.metric, id: each.metric.id ?? `X-${i}` } }));
  let [withFalse, falseShare, found, same] = [0, 0, 0, 0];
  for (let run = 0; run < count; run++) {
    const verdicts = effectsOf(numbered.map(measured), 'layer', 'native');
    const isReal = (i) => (effects[i].effect ?? 0) > 0;
    const published = verdicts.filter(isPublished).length;
    const right = verdicts.filter(({ verdict }, i) => isReal(i) && verdict === 'slower').length;
    if (published > right) withFalse++;
    if (published > 0) falseShare += (published - right) / published;
    found += right;
    same += verdicts.filter(({ verdict }) => verdict === 'same').length;
  }
  const real = effects.filter(({ effect = 0 }) => effect > 0).length;
  return {
    withFalse: withFalse / count,
    falseShare: falseShare / count,
    found: found / (count * Math.max(1, real)),
    same: same / (count * effects.length),
  };
}

const times = (count, effect) => Array.from({ length: count }, () => effect);
const plain = (sd, rounds, more = {}) => ({ metric: metricOf(undefined), sd: [sd, sd], rounds, ...more });

/** Three standard errors of a share near a bar. */
const error = (bar, count) => 3 * Math.sqrt((bar * (1 - bar)) / count);
let missed = 0;
function bar(what, share, { atLeast, atMost, count = FAMILIES }) {
  const isMet =
    (atLeast === undefined || share >= atLeast - error(atLeast, count)) &&
    (atMost === undefined || share <= atMost + error(atMost, count));
  if (!isMet) missed++;
  const wanted = [
    ...(atLeast === undefined ? [] : [`at least ${percent(atLeast)}`]),
    ...(atMost === undefined ? [] : [`at most ${percent(atMost)}`]),
  ].join(', ');
  console.log(`| ${what} | ${(100 * share).toFixed(1)} % | ${wanted} | ${isMet ? 'met' : 'MISSED'} |`);
}

function bars() {
  console.log('| what | share | must be | |\n|---|---|---|---|');
  const arms = [
    ['spreads equal', { sd: [0.05, 0.05] }],
    ['one spread 3 times the other', { sd: [0.15, 0.05] }],
    ['one spread 5 times the other', { sd: [0.25, 0.05] }],
    ['half of the variance shared by a round, 5 times', { sd: [0.25, 0.05], shared: 0.5 }],
    [
      'values on a grid of one standard deviation',
      { sd: [0.05, 0.05], grid: 0.05, metric: metricOf(undefined, 0.05, { grid: 0.05 }) },
    ],
    [
      'spread on record, 5 times that in one arm',
      { sd: [5 * onRecord.get('START-002'), onRecord.get('START-002')], isRecorded: true },
    ],
  ];
  for (const members of [12, 66])
    for (const rounds of [2, 3, 5, 10])
      for (const [what, change] of arms) {
        const count = members === 66 ? Math.ceil(FAMILIES / 2) : FAMILIES;
        const id = change.isRecorded ? 'START-002' : undefined;
        const found = families(times(members, plain(0.05, rounds, { metric: metricOf(id), ...change })), count);
        bar(`no effect, ${members} effects, ${rounds} rounds, ${what}: families with any difference`, found.withFalse, {
          atMost: 0.05,
          count,
        });
      }
  const some = Math.ceil(FAMILIES / 4);
  const mixed = (effect, sd) => [
    ...times(10, plain(sd, 5, { effect: Math.log1p(effect) })),
    ...times(56, plain(sd, 5)),
  ];
  for (const [effect, sd, atLeast] of [
    [0.1, 0.02, 0.95],
    [0.2, 0.05, 0.85],
  ]) {
    const { found, falseShare } = families(mixed(effect, sd), some);
    const what = `5 rounds, 66 effects, 10 real, +${percent(effect)} at ${percent(sd)}`;
    bar(`${what}: found`, found, { atLeast, count: 10 * some });
    bar(`${what}: false among published`, falseShare, { atMost: 0.05, count: some });
  }
  const small = [...times(50, plain(0.003, 5, { effect: Math.log1p(0.015) })), ...times(16, plain(0.1, 5))];
  bar(
    '5 rounds, 50 real effects of 1.5 % at 0.3 % beside 16 noisy nulls: false among published',
    families(small, some).falseShare,
    { atMost: 0.05, count: some },
  );
  const three = { metric: metricOf('START-002'), sd: [0.03, 0.03], effect: Math.log(3), rounds: 2 };
  bar(
    '2 rounds, × 3 at 3 %, spread on record, alone among 12: found',
    families([three, ...times(11, plain(0.03, 2))]).found,
    { atLeast: 0.8 },
  );
  for (const [shared, atLeast] of [
    [0.3, 0.95],
    [0, 0.92],
  ])
    bar(
      `5 rounds, no effect at 2 %, correlation ${shared}: same`,
      families(times(12, plain(0.02, 5, { shared })), some).same,
      { atLeast, count: 12 * some },
    );
  bar(
    '5 rounds, an effect of δ at 2 %, correlation 0: same',
    families(times(12, plain(0.02, 5, { shared: 0, effect: Math.log1p(0.05) })), some).same,
    { atMost: 0.05, count: 12 * some },
  );
  detections();
}

/** --detect 5% of a metric of this spread, as the only real one of twelve. */
function detections() {
  const count = Math.ceil(FAMILIES / 4);
  const metric = metricOf('X-1', 0.02);
  const others = Array.from({ length: 11 }, (_, i) => ({ ...metricOf(`Y-${i}`, 0.02) }));
  const family = (effect, rounds) =>
    effectsOf(
      [
        { metric, sd: [0.03, 0.03], effect, rounds },
        ...others.map((each) => ({ metric: each, sd: [0.01, 0.01], rounds })),
      ].map(measured),
      'layer',
      'native',
    );
  let [found, resolved, open] = [0, 0, 0];
  for (let run = 0; run < count; run++) {
    const pilot = family(0, 5).map((effect) => ({ ...effect }));
    const plan = detectionOf(pilot, [metric], { effect: 0.05, mostRounds: 50 });
    if (family(Math.log1p(0.05), plannedRounds(plan))[0].verdict === 'slower') found++;
    const [first] = family(Math.log1p(0.05), 5);
    if (first.verdict !== 'inconclusive' || first.roundsNeeded === null) continue;
    open++;
    if (family(Math.log1p(0.05), first.roundsNeeded)[0].verdict !== 'inconclusive') resolved++;
  }
  bar('--detect 5%, 3 % between rounds, only real effect of 12: slower', found / count, {
    atLeast: 0.75,
    atMost: 0.9,
    count,
  });
  bar('rounds needed of an inconclusive effect of 5 %: resolve it', resolved / open, { atLeast: 0.6, count: open });
}

const TIERS = [2, 5, 10];
const EFFECTS = [0.05, 0.1, 0.2];

/** As the only real effect of a family of twelve, with the metric's recorded spreads. */
function byMetric() {
  const columns = TIERS.flatMap((rounds) => [
    `${rounds} rounds: ${EFFECTS.map((effect) => `+${percent(effect)}`).join(', ')}`,
    'same',
  ]);
  console.log(`| metric | between rounds, native and layer | ${columns.join(' | ')} |`);
  console.log(`|---|---|${columns.map(() => '---').join('|')}|`);
  const count = Math.ceil(FAMILIES / 8);
  for (const [id, { scale, sd, sdLayer, correlation }] of Object.entries(recordedVariances).sort(([a], [b]) =>
    a.localeCompare(b),
  )) {
    if (scale !== 'log') continue;
    const effect = (size, rounds) => ({
      metric: metricOf(id),
      sd: [sdLayer, sd],
      shared: Math.max(0, correlation),
      effect: Math.log1p(size),
      rounds,
    });
    const alone = (size, rounds) => families([effect(size, rounds), ...times(11, plain(0.05, rounds))], count);
    const sameOf = (rounds) => families([effect(0, rounds)], count).same;
    const cells = TIERS.flatMap((rounds) => [
      EFFECTS.map((size) => percent(alone(size, rounds).found)).join(', '),
      percent(sameOf(rounds)),
    ]);
    console.log(`| ${id} | ${(100 * sd).toFixed(1)} %, ${(100 * sdLayer).toFixed(1)} % | ${cells.join(' | ')} |`);
  }
}

if (given.only !== 'metrics') bars();
if (given.only === '') console.log('');
if (given.only !== 'bars') byMetric();
if (missed > 0) {
  console.error(`${missed} bars are missed.`);
  process.exitCode = 1;
}
