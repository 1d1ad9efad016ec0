/** The plan of `exec` in words, as lines. */
import type { Execution } from '../../api/exec.js';
import type { PlannedRounds } from '../../api/rounds.js';
import { percentOf } from '../../report/tables/detection.js';
import { plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { FEWEST_ROUNDS, PILOT_ROUNDS } from '../../run/effects/detect.js';
import { execTimeText } from '../../workloads/metrics/exec-time.js';

export function execPlanText({ workloads, systems, rounds, plan: { seed } }: Execution): string[] {
  const names = systems.map(({ name }) => plain(name)).join(', ');
  const runs = workloads.map(
    ({ name, warmup, iterations, timeoutSeconds, tenants = [] }) =>
      `${plain(name)} (${tenants.length > 0 ? `${tenants.map((tenant) => tenant.name).join(', ')}: ` : ''}${counted(warmup, 'warm-up')} and ${counted(iterations, 'run')}, each of at most ${timeoutSeconds} s)`,
  );
  const { text, ...count } = roundsText(rounds);
  return [
    `Plan: ${counted(systems.length, 'system')} (${names}) × ${text} × ${runs.join(', ')}, seed ${seed}`,
    execTimeText(workloads, systems.length, count),
  ];
}

function roundsText(rounds: PlannedRounds): { text: string; fewest: number; most: number } {
  if (typeof rounds === 'number') return { text: counted(rounds, 'round'), fewest: rounds, most: rounds };
  const { effect, mostRounds } = rounds;
  return {
    text: `${PILOT_ROUNDS} rounds of a pilot, then ${FEWEST_ROUNDS} to ${mostRounds} rounds that detect ${percentOf(effect)}`,
    fewest: PILOT_ROUNDS + FEWEST_ROUNDS,
    most: PILOT_ROUNDS + mostRounds,
  };
}
