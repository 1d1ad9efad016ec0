/** What a planned number of rounds will not resolve. No other file says how small an effect rounds can show. */
import { recordedVariances } from '../../metrics/recorded-variances.js';
import { counted } from '../../results/text/quantity.js';
import { detectable } from '../../stats/rule/rounds-needed.js';
import { type Directed, isDirected, modelOf } from '../effects/family.js';
import type { Plan } from './plan.js';
import { recordedProcesses } from './processes-per-round.js';

/** Size of an effect that should be found: 0.1 is 10 %. */
const WANTED = 0.1;
/** Probability with which such an effect is found. */
const POWER = 0.8;
/** Part of a recorded variance that all processes of a round share, so that more of them do not reduce it. */
const SHARED = 0.3;
const MOST_NAMED = 8;

interface Shown {
  id: string;
  /** The smallest effect that is found with probability `POWER`: 0.1 is 10 %. */
  from: number;
}

/** The smallest effect of a metric that is found; null if its ratio has no recorded variance. */
function shownOf(metric: Directed, { processes = {} }: Pick<Plan, 'processes'>, rounds: number, tested: number) {
  const { id, delta } = metric;
  const record = recordedVariances[id];
  if (record?.scale !== 'log' || !('relative' in delta)) return null;
  const recordedAt = recordedProcesses(metric);
  const part = SHARED + ((1 - SHARED) * recordedAt) / Math.max(recordedAt, processes[id] ?? 1);
  const variances = [part * record.sdLayer ** 2, part * record.sd ** 2] as const;
  const distance = detectable(variances, rounds, { tested, established: 0 }, POWER, modelOf(metric).sd);
  return { id, from: Math.max(delta.relative, Math.expm1(distance)) };
}

const percent = (part: number): string => `${Math.ceil(100 * part)} %`;

function named(texts: readonly string[]): string {
  const more = texts.length - MOST_NAMED;
  return `${texts.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Formats a metric and its smallest effect. `× 3` reads better than `200 %`. */
const fromText = ({ id, from }: Shown): string =>
  `${id} (from ${from < 1 ? percent(from) : `× ${(1 + from).toFixed(1)}`})`;

/**
 * Says which metrics of a plan show a change of 10 % with a probability of 80 %, which show only larger ones, and how
 * many have no record.
 */
export function unresolvedText(plan: Pick<Plan, 'metrics' | 'tier' | 'processes'>, rounds: number): string {
  const directed = plan.metrics.filter(isDirected);
  const shown = directed.flatMap((metric) => shownOf(metric, plan, rounds, directed.length) ?? []);
  const finds = shown.filter(({ from }) => from <= WANTED).map(({ id }) => id);
  const misses = shown.filter(({ from }) => from > WANTED).sort((a, b) => a.from - b.from);
  const unknown = directed.length - shown.length;
  const planned = `${counted(rounds, 'round')} at tier ${plan.tier}`;
  const sentences = [
    ...(finds.length > 0
      ? [`By recorded variances ${planned} find a change of ${percent(WANTED)} in ${named(finds)}.`]
      : []),
    ...(misses.length > 0
      ? [`Only changes larger than ${percent(WANTED)} are found in ${named(misses.map(fromText))}.`]
      : []),
    ...(unknown > 0
      ? [
          `Of ${counted(unknown, 'metric')} no variance is on record: --detect 10% plans the rounds for them from a pilot.`,
        ]
      : []),
  ];
  return sentences.join(' ');
}
