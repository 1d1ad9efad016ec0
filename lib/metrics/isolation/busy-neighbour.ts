/** A neighbour that keeps the card busy for as long as something is measured. */
import type { Aggression, AggressorKind } from '../../native/addon-types.js';
import type { AttackRequest } from '../../native/attack-request.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../core/metric.js';

const MOST_S = 600;
const ANSWER_MS = 120_000;

export interface BusyNeighbour {
  aggression: Aggression;
  /** Whether it still worked when the measurement beside it was over. */
  lasted: boolean;
}

/** Measures while the neighbour works: from its first operation until `use` is over. A worker can do it once. */
export async function besideBusy(
  { worker }: WorkerTenant,
  kind: AggressorKind,
  { signal }: MeasureContext,
  use: () => Promise<void>,
): Promise<BusyNeighbour> {
  const params: AttackRequest = { kind, quotaBytes: 0, mostNs: MOST_S * 1e9 };
  let isWorking = () => {};
  const working = new Promise<void>((resolve) => {
    isWorking = resolve;
  });
  const attack = worker.request('attack', params, {
    deadlineMs: 1_000 * MOST_S + ANSWER_MS,
    signal,
    onProgress: () => isWorking(),
  }) as Promise<Aggression>;
  // One that cannot run ends at once.
  await Promise.race([working, attack]);
  let lasted = true;
  const ended = attack.catch(() => {}).then(() => (lasted = false));
  try {
    await use();
    const hasLasted = lasted;
    await worker.request('endAttack', {}, { deadlineMs: ANSWER_MS, signal });
    return { aggression: await attack, lasted: hasLasted };
  } finally {
    if (worker.alive) await worker.request('endAttack', {}, { deadlineMs: ANSWER_MS }).catch(() => {});
    await ended;
  }
}
