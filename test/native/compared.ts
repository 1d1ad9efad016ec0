/** A comparison in this process, of systems of a test's own. */
import type { RunDocument } from '../../lib/document.js';
import type * as compare from '../../lib/run/compare.js';
import type * as plan from '../../lib/run/plan.js';
import type { System } from '../../lib/systems/system.js';
import { ownRegion } from '../temporary.js';
import { built, metricNamed } from './built.js';
import { emptyFolder, simulatedFolder } from './child.js';

const { compareSystems } = await built<typeof compare>('run/compare.js');
const { makePlan } = await built<typeof plan>('run/plan.js');

export const environment = {
  PATH: process.env.PATH,
  HOME: emptyFolder(),
  GVB_SIM: `region=${ownRegion('compared')},init_ms=8,context_ms=8`,
};

export interface Compared {
  /** By system and round. */
  documents: RunDocument[][];
  /** How each document came to be, by system and round. */
  origins: compare.RoundOrigin[][];
  givenUp: string[];
}

/** One metric of each system. */
export async function compared(
  systems: readonly System[],
  rounds: number,
  { metric = 'OH-002', finished = [], ...more }: Partial<compare.CompareRequest> & { metric?: string } = {},
): Promise<Compared> {
  const givenUp: string[] = [];
  const origins: compare.RoundOrigin[][] = systems.map(() => []);
  const nothing = () => {};
  const request: compare.CompareRequest = {
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
  const hooks: compare.CompareHooks = {
    onStart: nothing,
    onPrepared: nothing,
    onComputeLimit: nothing,
    onRound: nothing,
    onMetric: nothing,
    onProgress: nothing,
    onResult: nothing,
    onGivenUp: ({ name }) => void givenUp.push(name),
    onDocument: (round, index, _document, origin) => {
      (origins[index] as compare.RoundOrigin[])[round] = origin;
      return Promise.resolve();
    },
  };
  const { systems: documents } = await compareSystems(request, hooks);
  return { documents, origins, givenUp };
}
