/** A round that was measured before --resume says nothing of whether the layer is active now. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RunDocument } from '../../lib/document.js';
import type * as registry from '../../lib/metrics/registry.js';
import type * as compare from '../../lib/run/compare.js';
import type * as plan from '../../lib/run/plan.js';
import { environmentSystem } from '../../lib/systems/environment.js';
import { emptyFolder, simulatedFolder } from './child.js';

// The built ones: their workers are started from beside them.
const built = (name: string): Promise<unknown> =>
  import(fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url)));
const { compareSystems } = (await built('run/compare')) as typeof compare;
const { makePlan } = (await built('run/plan')) as typeof plan;
const { findMetric } = (await built('metrics/registry')) as typeof registry;

const environment = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: 'init_ms=8,context_ms=8' };

async function measure(rounds: number, finished: RunDocument[]) {
  const definition = findMetric('OH-002');
  if (!definition) throw new Error('There is no OH-002.');
  const givenUp: string[] = [];
  const nothing = () => {};
  const request: compare.CompareRequest = {
    plan: makePlan([definition], 'quick', 1),
    target: { simulatedDriver: simulatedFolder, simulate: true, notice: null },
    systems: [environmentSystem(environment)],
    rounds,
    finished: [finished],
    environment,
    device: undefined,
    requireGpu: false,
    options: { path: 'runtime', samples: false, iterations: 20 },
    timeoutSeconds: null,
    strict: false,
    signal: new AbortController().signal,
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
    onDocument: () => Promise.resolve(),
  };
  const { systems } = await compareSystems(request, hooks);
  return { documents: systems[0] ?? [], givenUp };
}

it('is no reason to give up the rounds after it', async () => {
  const [first] = (await measure(1, [])).documents;
  if (!first) throw new Error('No round was measured.');
  const inactive = { status: 'invalid', value: null, reason: 'layer not active: x' } as const;
  const earlier = { ...first, metrics: first.metrics.map((metric) => ({ ...metric, ...inactive })) };
  const { documents, givenUp } = await measure(2, [earlier]);
  expect(documents.map(({ reused, metrics }) => [reused, metrics[0]?.status])).toEqual([
    [true, 'invalid'],
    [undefined, 'ok'],
  ]);
  expect(givenUp).toEqual([]);
}, 60_000);
