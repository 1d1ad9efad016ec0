/** Runs a comparison in this process, with a test's own systems. */
import type { ComparisonDocument, RunDocument } from '../../lib/results/document.js';
import { compareSystems } from '../../lib/run/compare.js';
import type { CompareHooks, CompareRequest } from '../../lib/run/compare-request.js';
import type { RoundOrigin } from '../../lib/run/finished-round.js';
import { makePlan } from '../../lib/run/plan/plan.js';
import type { System } from '../../lib/systems/system.js';
import { ownRegion } from '../temporary.js';
import { metricNamed } from '../metric-named.js';
import { cardIn, emptyFolder, simulatedFolder } from './child.js';

export const environment = {
  PATH: process.env.PATH,
  HOME: emptyFolder(),
  GVB_SIM: cardIn(ownRegion('compared'), 'init_ms=8,context_ms=8'),
};

export interface Compared {
  comparison: ComparisonDocument;
  /** Documents by system and round. */
  documents: RunDocument[][];
  /** The origin of each document, by system and round. */
  origins: RoundOrigin[][];
  givenUp: string[];
}

/** Compares one metric between the systems. */
export async function compared(
  systems: readonly System[],
  rounds: number,
  { metric = 'OH-002', finished = [], ...more }: Partial<CompareRequest> & { metric?: string } = {},
): Promise<Compared> {
  const givenUp: string[] = [];
  const origins: RoundOrigin[][] = systems.map(() => []);
  const nothing = () => {};
  const request: CompareRequest = {
    plan: makePlan([metricNamed(metric)], 'quick', 1),
    target: { simulatedDriver: simulatedFolder, simulate: true, notice: null },
    systems,
    rounds,
    finished,
    environment,
    device: undefined,
    requireGpu: false,
    options: { path: 'runtime', samples: false, iterations: 20 },
    timeoutSeconds: null,
    strict: false,
    signal: new AbortController().signal,
    ...more,
  };
  const hooks: CompareHooks = {
    onStart: nothing,
    onPrepared: nothing,
    onComputeLimit: nothing,
    onRound: nothing,
    onMetric: nothing,
    onProgress: nothing,
    onResult: nothing,
    onGivenUp: ({ name }) => void givenUp.push(name),
    onDocument: (round, index, { origin }) => {
      (origins[index] as RoundOrigin[])[round] = origin;
      return Promise.resolve();
    },
  };
  const comparison = await compareSystems(request, hooks);
  return { comparison, documents: comparison.systems, origins, givenUp };
}
