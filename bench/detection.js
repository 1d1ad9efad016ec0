// How often a comparison detects a delay of known size on this GPU: the calibration interposer slows the calls that a
// metric times by 0, 2, 5 and 10 % of what they take here. Random sets of rounds from one long comparison stand for
// comparisons of fewer rounds. Usage: node bench/detection.js TOOL INTERPOSER OUT [ROUNDS]   (default 25 rounds, about
// 25 s each on an H200). Ctrl-C ends the comparison, and the complete rounds so far count.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mean, median, sample, sampleStandardDeviation } from 'simple-statistics';
import { stringify } from 'yaml';
import { listMetrics } from '../dist/index.js';
import { detected, percent, TIERS } from './detecting.js';

const [tool, interposer, out] = process.argv.slice(2).map((path) => resolve(path));
const ROUNDS = Number(process.argv[5] ?? 25);
const EFFECTS = [0, 0.02, 0.05, 0.1];
const PILOT_ROUNDS = 3;
const SETS = 5_000;
/** The metrics, and the call whose delay lengthens each. */
const DELAYED = {
  'OH-001': 'cuLaunchKernel',
  'OH-003': 'cuMemFree_v2',
  'START-002': 'cuInit',
};
const NS_PER = { us: 1e3, ms: 1e6 };

// The comparison receives it too, writes what it has and ends.
process.on('SIGINT', () => {});
mkdirSync(out, { recursive: true });
const ids = Object.keys(DELAYED);

/** A layer that intercepts the calls and delays each by a number of nanoseconds. */
const layer = (name, delays) => ({
  name,
  kind: 'custom',
  env: {
    LD_PRELOAD: interposer,
    GVB_INTERPOSE: ids.map((id) => `${DELAYED[id]}=+${Math.round(delays[id] ?? 0)}ns`).join(','),
  },
  verify: [{ symbolOwner: { symbol: 'cuLaunchKernel', matches: 'libgvb-interpose\\.so$' } }],
});

function compared(name, systems, rounds) {
  const config = join(out, `${name}.yaml`);
  const json = join(out, `${name}.json`);
  writeFileSync(config, stringify({ systems }));
  const args = ['compare', ...ids, '--tier', 'quick', '--rounds', String(rounds), '--config', config];
  const { status } = spawnSync(tool, [...args, '--output', join(out, name), '--json', json], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // 1: a result is missing, and its round is left out. 130: interrupted, and the rounds so far count.
  if (![0, 1, 130].includes(status))
    throw new Error(`Expected compare to end with 0, 1 or 130 but received ${status}.`);
  const measured = JSON.parse(readFileSync(json, 'utf8')).systems.map((its) =>
    its.filter(({ completed }) => completed),
  );
  const complete = Math.min(...measured.map((its) => its.length));
  return measured.map((its) => its.slice(0, complete));
}

const resultOf = (round, id) => round.metrics.find((one) => one.id === id);
/** Null if it was not measured. */
const nsIn = (round, id) => {
  const { value, unit } = resultOf(round, id);
  return value === null ? null : value * NS_PER[unit];
};
const isMeasured = (value) => value !== null;

const [pilot] = compared('pilot', [layer('reference', {}), layer('again', {})], PILOT_ROUNDS);
const nsOf = Object.fromEntries(
  ids.map((id) => [id, median(pilot.map((round) => nsIn(round, id)).filter(isMeasured))]),
);
const delaysOf = (effect) => Object.fromEntries(ids.map((id) => [id, effect * nsOf[id]]));
const [reference, ...slower] = compared(
  'detection',
  [layer('reference', {}), ...EFFECTS.map((effect) => layer(`plus${100 * effect}`, delaysOf(effect)))],
  ROUNDS,
);

const columns = ['metric', 'delay', 'ratio seen', 'between rounds', ...TIERS.map(({ rounds }) => `${rounds} rounds`)];
console.log(`${reference.length} rounds\n`);
console.log(`| ${columns.join(' | ')} |\n|${columns.map(() => '---|').join('')}`);
for (const id of ids)
  for (const [i, effect] of EFFECTS.entries()) {
    const pairs = slower[i]
      .map((round, at) => [nsIn(round, id), nsIn(reference[at], id)])
      .filter((pair) => pair.every(isMeasured));
    const logs = pairs.map(([slow, plain]) => Math.log(slow / plain));
    const metric = listMetrics().find((one) => one.id === id);
    const cells = [
      id,
      percent(effect),
      `× ${Math.exp(mean(logs)).toFixed(3)}`,
      `${(100 * sampleStandardDeviation(logs)).toFixed(1)} %`,
      ...TIERS.map((tier) => {
        const draw = (random) => {
          const drawn = sample(pairs, tier.rounds, random);
          return { system: drawn.map(([slow]) => slow), baseline: drawn.map(([, plain]) => plain) };
        };
        return tier.rounds > pairs.length ? '–' : percent(detected(metric, draw, SETS));
      }),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
