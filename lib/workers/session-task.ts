/** What a tenant that holds a session can be asked to do with it: functions of the addon whose answers are plain data. */
import type { NativeAddon } from '../native/addon-types.js';
import type { Task, WorkerTenant } from './worker-tenant.js';

type Name =
  | 'raiseFault'
  | 'startEndless'
  | 'allocationStorm'
  | 'hoard'
  | 'verifiedRounds'
  | 'visitSurface'
  | 'releaseSurfaces'
  | 'tenantMemory'
  | 'layBait'
  | 'attackMemory'
  | 'visibleMemory'
  | 'health'
  | 'pcieLink'
  | 'churnMemory'
  | 'largestBlock'
  | 'fillMemory'
  | 'releaseMemory'
  | 'allocateLarge'
  | 'freeLarge'
  | 'batchScaling'
  | 'dynamicBatching'
  | 'prepareDecoder'
  | 'decodeTokens'
  | 'decodeAttentionRate'
  | 'makeCommunicatorId'
  | 'joinRanks'
  | 'leaveRanks'
  | 'prepareShard'
  | 'runSteps'
  | 'sampleBlock';

type RequestOf<N extends Name> = NativeAddon[N] extends (session: number, request: infer R) => unknown ? R : undefined;
type AnswerOf<N extends Name> = Awaited<ReturnType<NativeAddon[N]>>;

/** As it crosses to the worker. */
export interface SessionTask {
  name: Name;
  request?: unknown;
  /** Of a release, by the tenant's clock: becomes part of the request. */
  startAtNs?: number;
}

export interface SessionRequest<N extends Name> {
  name: N;
  request: RequestOf<N>;
  deadlineMs: number;
}

/** What a release gives several tenants to do; the time to begin at is added to the request. */
export function sessionTaskOf<N extends Name>(name: N, request: Omit<RequestOf<N> & object, 'startAtNs'>): Task {
  return { method: 'sessionTask', params: { name, request } satisfies SessionTask };
}

/** Rejects where the function fails, or the tenant dies. */
export function askSession<N extends Name>(tenant: WorkerTenant, { name, request, deadlineMs }: SessionRequest<N>) {
  const task: Task = { method: 'sessionTask', params: { name, request } satisfies SessionTask };
  return tenant.request<AnswerOf<N>>(task, deadlineMs);
}
