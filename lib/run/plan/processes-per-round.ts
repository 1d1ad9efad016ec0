/**
 * How many processes a round of a comparison gives each metric, planned from recorded variances before anything is
 * measured.
 */
import type { Tier } from '../../results/document.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { recordedVariances } from '../../metrics/recorded-variances.js';
import type { Plan } from './plan.js';

/** The standard deviation of a round's value that is aimed at, if processes are independent. */
const TARGET_SD = 0.05;
const MOST_PROCESSES = 16;
/** Seconds that further processes may add to a round, over all systems. */
const BUDGET_SECONDS = 60;
/** Seconds to start and prove a worker on an H200; a metric's own time is in addition. */
const SECONDS_PER_WORKER = 1;
/** Tiers with further processes; `quick` is for a first look and has none. */
const TIERS: readonly Tier[] = ['standard', 'thorough'];

interface Candidate {
  id: string;
  /** Number of processes without a plan. */
  base: number;
  seconds: number;
  /** Number of processes that brings a round's value to the target. */
  wanted: number;
  /** Weight by Neyman's rule: for a given time, the variance is least with processes in proportion to it. */
  weight: number;
  /** Whether the metric starts its processes itself instead of being measured by further workers. */
  startsItself: boolean;
}

/**
 * Adds the processes of each metric to a plan for this number of systems, and their time to its estimate. If the budget
 * does not suffice for all that are wanted, they share it by Neyman's rule.
 */
export function withProcesses(plan: Plan, systems: number): Plan {
  if (!TIERS.includes(plan.tier)) return plan;
  const candidates = plan.metrics.flatMap((metric) => candidateOf(metric, plan.tier) ?? []);
  const budget = BUDGET_SECONDS / systems;
  for (let most = MOST_PROCESSES; most > 1; most--) {
    const planned = share(candidates, most);
    const seconds = secondsOf(planned);
    if (seconds > budget) continue;
    const processes = Object.fromEntries(
      planned.filter(({ count, base }) => count > base).map(({ id, count }) => [id, count]),
    );
    return { ...plan, processes, estimatedSeconds: plan.estimatedSeconds + seconds };
  }
  return plan;
}

/** Processes behind each recorded value; values are recorded at tier standard. */
export const recordedProcesses = ({ furtherProcesses }: MetricDefinition): number =>
  furtherProcesses?.startedItself?.standard ?? 1;

/** What a metric needs; null if further processes cannot measure it, or no variance of it is recorded. */
function candidateOf(metric: MetricDefinition, tier: Tier): Candidate | null {
  const { id, furtherProcesses } = metric;
  const recorded = recordedVariances[id];
  if (!furtherProcesses || recorded?.scale !== 'log') return null;
  const { seconds, startedItself } = furtherProcesses;
  const ofOne = Math.max(recorded.sd, recorded.sdLayer) * Math.sqrt(recordedProcesses(metric));
  const wanted = Math.min(MOST_PROCESSES, Math.ceil((ofOne / TARGET_SD) ** 2));
  const weight = ofOne / Math.sqrt(seconds);
  return { id, base: startedItself?.[tier] ?? 1, seconds, wanted, weight, startsItself: startedItself !== undefined };
}

/** Shares processes out by weight, of which the largest gets `most`. */
function share(candidates: readonly Candidate[], most: number) {
  const heaviest = Math.max(...candidates.map(({ weight }) => weight));
  return candidates.map((candidate) => {
    const { base, wanted, weight } = candidate;
    return { ...candidate, count: Math.max(base, Math.min(wanted, Math.round((most * weight) / heaviest))) };
  });
}

function secondsOf(planned: readonly (Candidate & { count: number })[]): number {
  const own = planned.reduce((sum, { count, base, seconds }) => sum + (count - base) * seconds, 0);
  const workers = Math.max(1, ...planned.filter(({ startsItself }) => !startsItself).map(({ count }) => count)) - 1;
  return own + workers * SECONDS_PER_WORKER;
}

/** Formats the processes of each metric: `OH-002 16, OH-003 10`; null if no metric has further processes. */
export function processesText(processes: NonNullable<Plan['processes']> = {}): string | null {
  const ids = Object.keys(processes).sort();
  return ids.length === 0 ? null : ids.map((id) => `${id} ${processes[id]}`).join(', ');
}
