/** A custom system that claims a compute limit, on the calibration interposer, and what its processes really did. */
import { onTestFinished } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { createSystem } from '../../lib/systems/kinds.js';
import type { System } from '../../lib/systems/system.js';
import { ownRegion } from '../temporary.js';
import { runState } from '../unit/systems/fixtures.js';
import { emptyFolder } from './child.js';
import { type RecordedCall, recordedByProcess } from './record.js';

interface Layer {
  /** GVB_INTERPOSE; `{smPercent}` is the tenant's limit. Absent: the layer does nothing. */
  interpose?: string;
  /** Further variables of its processes. */
  env?: Record<string, string>;
  smPercent?: number;
  /** Further settings of the simulated card. */
  sim?: string;
}

export interface LimitedSystem {
  system: System;
  record: string;
  /** Settings of the card, for a coordinator that reads it from outside. */
  settings: string;
}

export async function limitedSystem(layer: Layer): Promise<LimitedSystem> {
  const { interpose, env = {}, smPercent = 30, sim = '' } = layer;
  const [folder, record] = [emptyFolder(), emptyFolder()];
  const settings = `region=${ownRegion('limited')},init_ms=1,context_ms=1,record=${record}${sim && `,${sim}`}`;
  const caller = { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: settings };
  const hooks = interpose === undefined ? {} : { LD_PRELOAD: interposerLibrary() ?? '', GVB_INTERPOSE: interpose };
  const profile = {
    name: 'layer',
    env: { ...hooks, ...env },
    limits: { sm: `${smPercent}` },
    capabilities: { computeLimit: 'softDutyCycle' },
  };
  const system = createSystem('custom', profile, { caller, folder });
  onTestFinished(() => system.teardown());
  await system.prepare(runState(folder));
  return { system, record, settings };
}

/** The kernels of one load, in order. */
export type LoadRecord = RecordedCall[];

/** One block that does one round relates the clocks before every load; no other kernel is as short. */
const PROBE_NS = 2_000;

/** For each process that ran loads, its loads in order. */
export function recordedLoads(record: string): LoadRecord[][] {
  return recordedByProcess(record)
    .map(({ calls }) => {
      const loads: LoadRecord[] = [];
      for (const call of calls.filter(({ kernel }) => kernel === 'gvb_load')) {
        if (call.ends - call.begins < PROBE_NS) loads.push([]);
        else loads.at(-1)?.push(call);
      }
      return loads;
    })
    .filter((loads) => loads.length > 0);
}

/**
 * Calibration kernels before a load, which learn how long a round takes; they come at the end of the previous load.
 */
const CALIBRATIONS = 5;
/** %globaltimer of the simulated card begins at a multiple of every bin. */
const CLOCK_RATE = 1 + 5e-6;

export const deviceTime = (ns: number): number => ns * CLOCK_RATE;
const lengthOf = ({ begins, ends }: RecordedCall): number => deviceTime(ends) - deviceTime(begins);
const spanOf = (load: LoadRecord): [from: number, to: number] => [
  deviceTime(load[0]?.begins ?? Number.NaN),
  deviceTime(load.at(-1)?.ends ?? Number.NaN),
];
const busyOf = (load: LoadRecord): number => load.reduce((total, kernel) => total + lengthOf(kernel), 0);

/** The shares of the time in which a process's loads ran without a limit. */
export function freeShares(loads: readonly LoadRecord[]): number[] {
  return loads.map((load, i) => {
    const kernels = i < loads.length - 1 ? load.slice(0, -CALIBRATIONS) : load;
    const [from, to] = spanOf(kernels);
    return busyOf(kernels) / (to - from);
  });
}

export interface TrueShares {
  /** Work of each bin in per cent of that without a limit, with equally long kernels. */
  percent: number[];
  /** A kernel's work is credited in pieces, the last one when it ends: up to one kernel at either side of a bin. */
  tolerance: number;
}

/** The shares in each bin that is entirely within the load, and in as many bins before as `lead` says. */
export function trueShares(load: LoadRecord, freeShare: number, binMs: number, lead = 0): TrueShares {
  const binNs = binMs * 1e6;
  const [from, to] = spanOf(load);
  const first = Math.ceil(from / binNs) - lead;
  const percent = Array.from({ length: Math.floor(to / binNs) - first }, (_, i) => {
    const [begins, ends] = [(first + i) * binNs, (first + i + 1) * binNs];
    const inside = load.filter((kernel) => deviceTime(kernel.ends) > begins && deviceTime(kernel.begins) < ends);
    const part = (kernel: RecordedCall) =>
      Math.min(deviceTime(kernel.ends), ends) - Math.max(deviceTime(kernel.begins), begins);
    return (100 * inside.reduce((total, kernel) => total + part(kernel), 0)) / binNs / freeShare;
  });
  return { percent, tolerance: (100 * Math.max(...load.map(lengthOf))) / binNs / freeShare };
}

/** A layer that still idles for an earlier kernel holds back the first one of a load for one of its periods at most. */
const MOST_LEAD = 2;

/**
 * The shares in the published bins. They begin with the first launch, which the record does not relate to the device's
 * clock: so with the number of bins before the first kernel that fits best.
 */
export function trueSharesAs(seen: readonly number[], load: LoadRecord, freeShare: number, binMs: number): TrueShares {
  const leads = Array.from({ length: MOST_LEAD + 1 }, (_, lead) => {
    const { percent, tolerance } = trueShares(load, freeShare, binMs, lead);
    const shares = percent.slice(0, seen.length);
    const error = shares.reduce((sum, share, i) => sum + Math.abs(share - (seen[i] ?? 0)), 0);
    return { percent: shares, tolerance, error };
  });
  const fits = leads.filter(({ percent }) => percent.length === seen.length);
  return fits.sort((a, b) => a.error - b.error)[0] ?? trueShares(load, freeShare, binMs);
}
