/** A round that was measured before --resume does not show whether the layer is active now. */
import { expect, it } from 'vitest';
import { disowned } from '../../lib/run/effects/results.js';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import { compared, environment } from './compared.js';

it('measures the rounds after a reused one in which the layer was not active', async () => {
  const systems = [environmentSystem(environment)];
  const [first] = (await compared(systems, 1)).documents[0] ?? [];
  if (!first) throw new Error('No round was measured.');
  const earlier = { ...first, metrics: first.metrics.map((metric) => disowned(metric, 'layer not active: x')) };
  const { documents, origins, givenUp } = await compared(systems, 2, { finished: [[earlier]] });
  expect(documents[0]?.map(({ reused, metrics }) => [reused, metrics[0]?.status])).toEqual([
    [true, 'invalid'],
    [undefined, 'ok'],
  ]);
  expect({ origins, givenUp }).toEqual({ origins: [['reused', 'measured']], givenUp: [] });
});
