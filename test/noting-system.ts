/** A system that notes what a metric asks of it for its tenants, on a simulated card of its own. */
import { environmentSystem } from '../lib/systems/process/environment.js';
import type { Attestation, System } from '../lib/systems/system.js';
import type { MeasureContext, MetricDefinition } from '../lib/metrics/core/metric.js';
import { simulatedFolder } from './native/child.js';
import { ownRegion, temporaryFolder } from './temporary.js';

interface Noting {
  /** What its workers attest. */
  attested?: Partial<Attestation>;
  changes?: Partial<System>;
  iterations: number;
}

/** Measures at tier quick under it; `measured` is the error where the metric throws one. */
export async function measureNoting<Details>(
  { measure }: Pick<MetricDefinition<Details>, 'measure'>,
  { attested, changes, iterations }: Noting,
) {
  const settings = `region=${ownRegion('noting')},init_ms=1,context_ms=1`;
  const plain = environmentSystem({ PATH: process.env.PATH, HOME: temporaryFolder('home'), GVB_SIM: settings });
  const asked: string[] = [];
  const note = (what: string) => Promise.resolve(void asked.push(what));
  const system: System = {
    ...plain,
    capabilities: { ...plain.capabilities, computeLimit: 'softDutyCycle' },
    prepareTenant: ({ id, limits }) => note(`prepare ${id}${limits ? ` at ${limits.smPercent}` : ''}`),
    betweenLimits: () => note('between'),
    reap: ({ id }) => note(`reap ${id}`),
    attest: () =>
      Promise.resolve({
        layer: null,
        proofs: [],
        groundTruth: 'nvml',
        warnings: [],
        ...attested,
      } satisfies Attestation),
    ...changes,
  };
  const context = {
    options: { device: null, path: 'runtime', tier: 'quick', seed: 0, iterations, warmup: 0 },
    signal: new AbortController().signal,
    system,
    simulatedDriver: simulatedFolder,
    prove: () => Promise.resolve(),
    progress: () => {},
  } as unknown as MeasureContext;
  return { asked, measured: await measure(context).catch((error: Error) => error) };
}
