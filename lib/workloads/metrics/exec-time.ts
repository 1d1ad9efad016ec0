/** How long the runs of programs will take, as far as that is known before the first one. */
import { duration } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { mostRepeats } from '../round/round-of-runs.js';
import type { Workload } from '../workload-type.js';

/** Length of a run in the example that helps to plan where no setting declares the length. */
const EXAMPLE_SECONDS = 10;

interface PlannedRounds {
  fewest: number;
  most: number;
}

/** Says what is declared, what the time depends on, and the upper limit. */
export function execTimeText(workloads: readonly Workload[], systems: number, { fewest, most }: PlannedRounds): string {
  const sum = (of: (workload: Workload) => number) => workloads.reduce((total, each) => total + of(each), 0);
  const runs = systems * fewest * sum(({ warmup, iterations }) => warmup + iterations);
  const mostRuns = systems * most * sum(mostRunsOf);
  const longest = systems * most * sum((each) => mostRunsOf(each) * longestSeconds(each));
  const declared = workloads.map(declaredSeconds);
  const isDeclared = declared.every((seconds) => seconds !== null);
  const limit = `At most about ${duration(longest)}: ${counted(mostRuns, 'run')} where they vary, each with its time limit and the longest wait for the GPU to cool.`;
  const scene = workloads.some(({ tenants = [] }) => tenants.length > 0)
    ? ' Victims of a scene are also measured alone, which takes as long again.'
    : '';
  if (isDeclared) {
    const least = systems * fewest * sum((each) => (each.warmup + each.iterations) * (declaredSeconds(each) ?? 0));
    return `Time: at least about ${duration(least)}, as declared, and the start of the program in each of ${counted(runs, 'run')}. ${limit}${scene}`;
  }
  const example = duration(runs * EXAMPLE_SECONDS);
  return `Time: not known before the first run, because it depends on how long the program runs: ${counted(runs, 'run')} of ${EXAMPLE_SECONDS} s would take about ${example}. ${limit}${scene}`;
}

/** The number of runs of a round in which runs vary and are repeated. */
const mostRunsOf = ({ warmup, iterations }: Workload): number => warmup + iterations * (1 + mostRepeats(iterations));

const longestSeconds = ({ timeoutSeconds, coolDown }: Workload): number =>
  timeoutSeconds + coolDown.pauseSeconds + coolDown.mostSeconds;

/** The length of a run that its settings fix, without the time until it is ready; null if the program decides. */
function declaredSeconds({ stopAfterSeconds, load }: Workload): number | null {
  if (load === null || load.arrivals.loop === 'closed') return stopAfterSeconds;
  return (load.requests + load.warmup) / load.arrivals.ratePerSecond;
}
