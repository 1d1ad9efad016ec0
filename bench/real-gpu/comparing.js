// Part 2: comparisons of native with itself, with a known delay, with HAMi-core with and without an SM limit, and with
// a build that exports only dlsym.
import { resolve } from 'node:path';
import { compare, functionsOf, median, metric, values, verdict } from './evidence.js';

const FIVE = 'OH-00[1-5]';
const REPEATS = 5;
const DELAY_US = 1;

const delayed = () => {
  const slow = `custom:name=delayed,env.LD_PRELOAD=${resolve(values.interposer)},env.GVB_INTERPOSE=cuLaunchKernel=+${DELAY_US}us`;
  const seen = Array.from({ length: REPEATS }, (_, i) => {
    const result = compare(`compared-delayed-${i + 1}`, ['native', slow], ['OH-001', '--rounds', '5']);
    const { difference, differenceCi95, verdict: judged } = result.document().effects[0];
    const halfWidth = (differenceCi95[1] - differenceCi95[0]) / 2;
    return { difference, halfWidth, judged, seconds: result.seconds };
  });
  const good = seen.filter(
    ({ difference, halfWidth }) =>
      halfWidth <= 0.3 && Math.abs(difference - DELAY_US) <= Math.max(0.1, 1.68 * halfWidth),
  );
  verdict(
    'rounds recover 1 000 ns with a half-width of at most 300 ns, in at least 4 of 5 repeats',
    good.length >= 4,
    seen.map((s) => `${s.difference.toFixed(3)} ± ${s.halfWidth.toFixed(3)} us ${s.judged}`).join(', '),
  );
};

function budget() {
  const result = compare('compared-native-twice', ['native:name=a', 'native:name=b'], [FIVE, '--rounds', '5']);
  const { effects, systems } = result.document();
  verdict(
    'compare of two systems, OH-001…005, 5 rounds, under 60 s',
    result.seconds < 60,
    `${result.seconds.toFixed(0)} s`,
  );
  verdict(
    'a system against itself raises no alarm',
    effects.length === 5 && effects.every((effect) => effect.verdict === 'same' || effect.verdict === 'inconclusive'),
    effects.map((effect) => `${effect.metric} ${effect.verdict}`).join(', '),
  );
  const shares = systems.flat().map(({ coordinatorCpuPercent }) => coordinatorCpuPercent);
  const mean = shares.reduce((sum, share) => sum + share) / shares.length;
  verdict(
    'coordinator below 5 % of a core while workers measure',
    mean < 5,
    `${mean.toFixed(2)} % over the rounds, at most ${Math.max(...shares).toFixed(2)} in one`,
  );
}

function layered() {
  const library = `library=${resolve(values.hami)},memory=10GiB`;
  const systems = ['native', `hami-core:${library}`, `hami-core:name=hami-50,${library},sm=50`];
  const result = compare('compared-hami', systems, [FIVE, '--rounds', '3']);
  verdict(
    'compare native, HAMi-core without and with an SM limit attests',
    result.status === 0,
    `exit ${result.status}`,
  );
  const { systems: documents, computeLimits } = result.document();
  const steps = (document) => metric(document, 'OH-004').details.steps;
  const init = (index) => median(documents[index].map((d) => steps(d).find(({ step }) => step === 'init').valueUs));
  const ratio = init(1) / init(0);
  verdict('cuInit under HAMi-core is 2 to 4 times native', ratio >= 2 && ratio <= 4, `ratio ${ratio.toFixed(2)}`);
  for (const name of ['cuLaunchKernel', 'cuMemGetInfo_v2']) {
    const rows = documents.slice(1).flatMap((rounds) => rounds.map((d) => functionsOf(d).get(name)));
    verdict(
      `${name} costs more under HAMi-core, in every round`,
      rows.every(({ ci95 }) => ci95[0] > 0),
      rows.map(({ overheadNs }) => overheadNs.toFixed(0)).join(' '),
    );
  }
  verdict(
    'the compute limit is labelled',
    computeLimits.length === 1 && computeLimits[0].label !== 'not checked',
    JSON.stringify(computeLimits.map(({ label, achievedPercent, detail }) => ({ label, achievedPercent, detail }))),
  );
}

function crippledCompared() {
  const system = `hami-core:library=${resolve(values.crippled)},memory=10GiB`;
  const { status } = compare('compared-hami-crippled', ['native', system], ['OH-005', '--rounds', '1']);
  verdict('compare refuses the layer that exports only dlsym with exit 5', status === 5, `exit ${status}`);
}

export const comparing = [
  [true, budget],
  [values.interposer, delayed],
  [values.hami, layered],
  [values.crippled, crippledCompared],
];
