/**
 * What a worker process executes. Everything is imported late: the first statement is the moment START metrics
 * call "main", and loading the addon is timed by itself.
 */
const mainNs = process.hrtime.bigint();

import type { MeasureOptions, Progress } from './metrics/metric.js';
import type {
  ComputeShareRequest,
  DeviceTarget,
  DiscoveryRequest,
  PacedLaunchRequest,
  StartUpRequest,
  Target,
  WindowRequest,
  WorkRequest,
} from './native/addon-types.js';
import type { Session } from './native/session.js';
import type { Handler } from './workers/serve.js';
import type { ThreadReading } from './workers/threads.js';

const { loadAddon } = await import('./native/load.js');
const { fromNative } = await import('./native/errors.js');
const { serve } = await import('./workers/serve.js');

/** Null where it cannot be loaded: every request then says why. */
function timeToLoadAddon(): number | null {
  const before = process.hrtime.bigint();
  try {
    const addon = loadAddon();
    const after = process.hrtime.bigint();
    addon.dieWithParent();
    return Number(after - before);
  } catch {
    return null;
  }
}

async function native<T>(task: Promise<T>): Promise<T> {
  try {
    return await task;
  } catch (error) {
    throw fromNative(error);
  }
}

const describe: Handler = async (params) => {
  const target = params as Target;
  const { preloadEntries } = await import('./systems/ld-preload.js');
  const addon = loadAddon();
  const inspection = await native(addon.inspect(target));
  const provenance = await native(addon.provenance(target));
  return { pid: process.pid, inspection, provenance, preload: preloadEntries(), environment: { ...process.env } };
};

const kept = new Map<string, Promise<void>>();

/** Creating a context costs as much as measuring: a worker makes one, which all its sessions share. */
function keepContext({ simulatedDriver, device, path }: DeviceTarget): Promise<void> {
  const key = JSON.stringify([simulatedDriver, device, path]);
  const keeping = kept.get(key) ?? native(loadAddon().keepContext({ simulatedDriver, device, path }));
  kept.set(key, keeping);
  return keeping;
}

async function inSession<T>(target: DeviceTarget, use: (session: Session) => Promise<T>): Promise<T> {
  const { Session } = await import('./native/session.js');
  await keepContext(target);
  const session = await Session.open(target, new AbortController().signal);
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

const probe: Handler = (params) => {
  const { allocations, ...target } = params as DeviceTarget & { allocations: number[] };
  return inSession(target, (session) => session.probeLayer({ allocations }));
};

const computeShare: Handler = (params) => {
  const { simulatedDriver, device, path, ...request } = params as DeviceTarget & ComputeShareRequest;
  return inSession({ simulatedDriver, device, path }, (session) => session.computeShare(request));
};

const pacedLaunches: Handler = (params) => {
  const { simulatedDriver, device, path, ...request } = params as DeviceTarget & PacedLaunchRequest;
  return inSession({ simulatedDriver, device, path }, (session) => session.pacedLaunches(request));
};

let held: Promise<Session> | null = null;
const CONTEXT_FUNCTION = 'cuDevicePrimaryCtxRetain';
let beforeDriver: ThreadReading | null = null;

/** A tenant holds its session from here on: it takes part in what is asked of all tenants together. */
const enter: Handler = async (params) => {
  const { Session } = await import('./native/session.js');
  const { threadsBeforeDriver } = await import('./workers/threads.js');
  const target = params as DeviceTarget;
  const { signal } = new AbortController();
  beforeDriver ??= await threadsBeforeDriver(async () => (await Session.turn(signal)).close());
  held ??= Session.open(target, signal);
  await held;
  const { functions } = await native(loadAddon().provenance(target));
  const created = functions.find(({ name }) => name === CONTEXT_FUNCTION);
  return { pid: process.pid, context: { function: CONTEXT_FUNCTION, owner: created?.owners[target.path] ?? null } };
};

const threads: Handler = async () => {
  const { readThreads } = await import('./workers/threads.js');
  return { beforeDriver, now: readThreads() };
};

function heldSession(): Promise<Session> {
  if (!held) throw new Error('This worker was not asked to enter.');
  return held;
}

const window: Handler = async (params) => {
  const { atNs, tookNs, ...window } = await (await heldSession()).window(params as WindowRequest);
  return { ...window, atNs: Array.from(atNs), tookNs: Array.from(tookNs) };
};

const work: Handler = async (params) => {
  const { unitNs, ...rest } = await (await heldSession()).work(params as WorkRequest);
  return { ...rest, unitNs: Array.from(unitNs) };
};

const startUp: Handler = async (params) => {
  const start = await native(loadAddon().startUp(params as StartUpRequest));
  const peakRssBytes = process.resourceUsage().maxRSS * 1024;
  // Not before: importing is not part of a program's start.
  const { preloadEntries } = await import('./systems/ld-preload.js');
  return { ...start, peakRssBytes, preloaded: preloadEntries().flatMap(({ mapped }) => mapped ?? []) };
};

const discovery: Handler = (params) => native(loadAddon().discovery(params as DiscoveryRequest));

const measure: Handler = async (params, progress) => {
  const { id, options } = params as { id: string; options: MeasureOptions };
  const { findMetric } = await import('./metrics/registry.js');
  const { measureMetric, simulatedDriver } = await import('./metrics/measure.js');
  const { resolveOptions } = await import('./metrics/options.js');
  const definition = findMetric(id);
  if (!definition) throw new Error(`This worker knows no metric named ${id}.`);
  const { device, path, simulate } = resolveOptions(options);
  if (definition.where === 'process') await keepContext({ simulatedDriver: simulatedDriver(simulate), device, path });
  return measureMetric(
    definition,
    { ...options, onProgress: (value: Progress) => progress(value) },
    { inWorker: true },
  );
};

serve(
  { describe, probe, computeShare, pacedLaunches, enter, window, threads, work, startUp, discovery, measure },
  { mainNs, addonLoadNs: timeToLoadAddon() },
);
