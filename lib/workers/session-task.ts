/** Requests to a tenant that holds a session: functions of the addon whose answers are plain data. */
import type { NativeAddon } from '../native/addon-types.js';
import type { Task, WorkerTenant } from './worker-tenant.js';

type Name =
  | 'raiseFault'
  | 'detectFault'
  | 'startDelays'
  | 'contextAlternation'
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
  | 'collectives'
  | 'gpuLink'
  | 'peerAccess'
  | 'peerCopies'
  | 'offerMemory'
  | 'copyToOffered'
  | 'checkOffered'
  | 'prepareShard'
  | 'runSteps'
  | 'sampleBlock'
  | 'streamWindow'
  | 'chase'
  | 'chasePasses';

type RequestOf<N extends Name> = NativeAddon[N] extends (session: number, request: infer R) => unknown ? R : undefined;
type AnswerOf<N extends Name> = Awaited<ReturnType<NativeAddon[N]>>;

/** A request in the form that is sent to the worker. */
export interface SessionTask {
  name: Name;
  request?: unknown;
  /** Start time of a release, by the tenant's clock; it becomes part of the request. */
  startAtNs?: number;
}

export interface SessionRequest<N extends Name> {
  name: N;
  request: RequestOf<N>;
  deadlineMs: number;
}

/** A task for a release of several tenants; the start time is added to the request. */
export function sessionTaskOf<N extends Name>(name: N, request: Omit<RequestOf<N> & object, 'startAtNs'>): Task {
  return { method: 'sessionTask', params: { name, request } satisfies SessionTask };
}

/** Rejects if the function fails, or the tenant dies. */
export function askSession<N extends Name>(tenant: WorkerTenant, { name, request, deadlineMs }: SessionRequest<N>) {
  const task: Task = { method: 'sessionTask', params: { name, request } satisfies SessionTask };
  return tenant.request<AnswerOf<N>>(task, deadlineMs);
}
