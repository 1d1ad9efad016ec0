/** Tenants with equal quotas that stream memory at the same time, for BW-001 and BW-002. */
import type { StreamKind } from '../../native/addon-types.js';
import type { Tier } from '../../results/document.js';
import type { MeasureContext } from '../core/metric.js';
import { isOutOfMemory } from '../core/row-state.js';
import { contextOf } from '../tenants/tenants.js';
import { setsQuotas, withQuotas } from '../isolation/shared/co-tenants.js';
import { BIN_MS, rehearse, stream, type Together, togetherIn } from './streams.js';

/** The number of tenants behind the metrics' values. */
export const HEADLINE = 4;

export interface StreamTimes {
  /** Length of each window of one tenant alone. */
  aloneMs: number;
  togetherMs: number;
}

export const TIMES: Record<Tier, StreamTimes> = {
  quick: { aloneMs: 80, togetherMs: 1_200 },
  standard: { aloneMs: 200, togetherMs: 5_000 },
  thorough: { aloneMs: 400, togetherMs: 10_000 },
};

export type Case = { kind: StreamKind; together: Together } | { kind: StreamKind; reason: string };

export interface EqualTenants {
  tenants: number;
  /** Quota of each tenant in per cent of the card's compute; null: the system sets no quotas. */
  quotaPercent: number | null;
  cases: Case[];
  context: ReturnType<typeof contextOf>;
}

/** Measures once per round; both metrics share the result. */
export function equalTenants(
  context: MeasureContext,
  tenants: number,
  kinds: readonly StreamKind[],
  windowMs: number,
): Promise<EqualTenants> {
  const key = `memory streams of ${tenants} equal tenants: ${kinds.join(', ')}, ${windowMs} ms`;
  return context.once.get(key, () => measure(context, tenants, kinds, windowMs));
}

async function measure(context: MeasureContext, tenants: number, kinds: readonly StreamKind[], windowMs: number) {
  const quotaPercent = setsQuotas(context) ? 100 / tenants : null;
  const found: EqualTenants = { tenants, quotaPercent, cases: [], context: undefined };
  try {
    await withQuotas(context, Array<number | null>(tenants).fill(quotaPercent), async (scene, workers) => {
      found.context = contextOf(scene.scene);
      await rehearse(workers);
      for (const kind of kinds) {
        const all = await stream(
          scene.scene,
          kind,
          workers.map((worker) => ({ worker, windowMs })),
        );
        const together = togetherIn(all, BIN_MS);
        found.cases.push(together ? { kind, together } : { kind, reason: 'the tenants did not run at the same time' });
      }
    });
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    const reason = `${tenants} tenants do not fit: ${error.message}`;
    const missing = kinds.filter((kind) => !found.cases.some((each) => each.kind === kind));
    found.cases.push(...missing.map((kind) => ({ kind, reason })));
  }
  return found;
}
