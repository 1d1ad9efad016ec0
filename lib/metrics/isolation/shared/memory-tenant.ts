/** A worker that takes device memory and holds it, while the coordinator observes the card from outside. */
import { BenchError } from '../../../errors/bench-error.js';
import type {
  ExportedMemory,
  MemoryFill,
  MemoryFillRequest,
  MemoryPath,
  MemoryReleased,
  Refusals,
  RefusalsRequest,
  ReportedMemory,
} from '../../../native/addon-types.js';
import { CudaError } from '../../../native/errors.js';
import type { GroundTruth } from '../../../native/ground-truth.js';
import type { Limits, Tenant } from '../../../systems/system.js';
import { type Ask, askSession } from '../../../workers/session-task.js';
import type { MeasureContext } from '../../core/metric.js';
import { startsDiffer, underOtherLimits } from '../../core/other-limits.js';
import { FIRST_ID, inScene, type MetricScene } from '../../tenants/scene.js';
import { MIB } from '../../core/units.js';
import { spareOf } from './leftovers.js';

const DEADLINE_MS = 60_000;
/** How far a fill goes beyond the limit: enough to see that nothing stops it. */
const BEYOND = 1.1;
/** Sizes of device memory are multiples of it. */
export const GRANULARITY = 2 * MIB;
const MANAGED: MemoryPath = 'cuMemAllocManaged';

interface TenantFacts {
  pid: number;
  truth: GroundTruth | null;
  limitBytes: number;
  ownsMemory?: boolean;
}

export class MemoryTenant {
  readonly #ask: Ask;
  readonly #truth: GroundTruth | null;
  readonly pid: number;
  readonly limitBytes: number;
  /** Whether the limit is the end of the tenant's own memory, as on a MIG instance, and not a part of a card's. */
  readonly ownsMemory: boolean;

  constructor(ask: Ask, { pid, truth, limitBytes, ownsMemory = false }: TenantFacts) {
    this.#ask = ask;
    this.pid = pid;
    this.#truth = truth;
    this.limitBytes = limitBytes;
    this.ownsMemory = ownsMemory;
  }

  /** What the process holds by the coordinator's NVML, including its context; null if NVML does not report it. */
  async held(): Promise<number | null> {
    return (await this.#truth?.processMemory(this.pid)) ?? null;
  }

  /** Fills until it is refused, or until a tenth beyond the limit. */
  async fill(path: MemoryPath, bounds: Partial<MemoryFillRequest> = {}): Promise<MemoryFill> {
    const free = (await this.#truth?.cardMemory())?.freeBytes ?? this.limitBytes;
    const request: MemoryFillRequest = {
      path,
      mostBytes: Math.ceil(this.limitBytes * BEYOND),
      firstBytes: firstBlock(this.limitBytes),
      smallestBytes: path === 'cuMemAlloc_v2' ? 64 * 1024 : GRANULARITY,
      mostBlocks: 4096,
      // Managed memory is not refused where memory ends, and more of it than there is can hang a GPU.
      spareBytes: this.ownsMemory && path !== MANAGED ? 0 : Math.floor(spareOf(free)),
      ...bounds,
    };
    return this.#ask('fillMemory', request, DEADLINE_MS);
  }

  release(): Promise<MemoryReleased> {
    return this.#ask('releaseMemory', undefined, DEADLINE_MS);
  }

  refusals(request: RefusalsRequest): Promise<Refusals> {
    return this.#ask('timeRefusals', request, DEADLINE_MS);
  }

  exported(): Promise<ExportedMemory> {
    return this.#ask('exportMemory', undefined, DEADLINE_MS);
  }

  open(handles: string): Promise<MemoryFill> {
    return this.#ask('importMemory', { handles }, DEADLINE_MS);
  }

  reported(): Promise<ReportedMemory> {
    return this.#ask('reportedMemory', undefined, DEADLINE_MS);
  }
}

/** What ended a tenant or its context, in words; other errors are rethrown. */
export function lossOf(error: unknown): string {
  if (error instanceof CudaError || (error instanceof BenchError && error.code === 'WORKER')) return error.message;
  throw error;
}

/** Large blocks first, so that a fill takes few calls. */
export const firstBlock = (limitBytes: number): number => 2 ** Math.max(21, Math.floor(Math.log2(limitBytes / 4)));

/** A process of that tenant, with its context. */
export async function enterMemoryTenant(
  scene: MetricScene,
  { truth, system }: Pick<MeasureContext, 'truth' | 'system'>,
  limitBytes: number,
  tenant: Tenant = { id: FIRST_ID },
): Promise<MemoryTenant> {
  const worker = await scene.enter(tenant);
  const ownsMemory = system.capabilities.memLimit === 'hardware';
  const ask: Ask = (name, request, deadlineMs) => askSession(worker, { name, request, deadlineMs });
  return new MemoryTenant(ask, { pid: worker.worker.pid, truth, limitBytes, ownsMemory });
}

/** One process of a tenant under the system's own limits. */
export const inMemoryTenant = <T>(
  context: MeasureContext,
  limitBytes: number,
  use: (tenant: MemoryTenant) => Promise<T>,
): Promise<T> => inScene(context, async (scene) => use(await enterMemoryTenant(scene, context, limitBytes)));

/** Shares of the card's memory, at tier thorough. */
const SHARES = [0.25, 0.5, 0.75];
const ENTER_DEADLINE_MS = 120_000;

/**
 * Runs tenants limited to several shares of the card, at tier thorough. Does nothing if the system's tenants cannot
 * have other limits.
 */
export async function underShares(
  context: MeasureContext,
  use: (tenant: MemoryTenant) => Promise<void>,
): Promise<void> {
  const { system, truth, options } = context;
  if (options.tier !== 'thorough') return;
  const total = (await truth?.cardMemory())?.totalBytes;
  if (total === undefined) return;
  const bytes = SHARES.map((share) => Math.floor((share * total) / MIB) * MIB);
  const limits = bytes.map((memoryBytes): Partial<Limits> => ({ memoryBytes }));
  const [first, second] = limits as [Partial<Limits>, Partial<Limits>];
  if (!startsDiffer(system, first, second)) return;
  await underOtherLimits(context, limits, 1, async ({ enter, ask, pid }, place) => {
    await enter(ENTER_DEADLINE_MS);
    await use(new MemoryTenant(ask, { pid, truth, limitBytes: bytes[place] as number }));
  });
}
