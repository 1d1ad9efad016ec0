/** What the connections between GPUs carry, as NVML reports them, and whether a rate is beyond that. */
import { quantity, rows } from '../core/details.js';
import * as v from 'valibot';
import type { GpuLink } from '../../native/addon-types.js';
import type { Check, MetricResult } from '../../results/document.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import { ceilingGbs, SLACK } from '../pcie/link.js';
import type { GpuWorkers } from './gpu-workers.js';

const TASK_MS = 60_000;

const ceilingSchema = v.object({ ceilingGbs: v.nullable(v.number()) });

/** GB/s in one direction; null where NVML does not report the speed, or there is none. */
const nvlinksGbs = ({ nvlinkMbs }: GpuLink, count: number): number | null =>
  nvlinkMbs === null || count === 0 ? null : (count * nvlinkMbs) / 1e3;

const pcieGbs = ({ pcieGeneration, pcieWidth }: GpuLink): number | null =>
  ceilingGbs({ generation: pcieGeneration, width: pcieWidth });

/** Null if one of them is not known. */
const least = (all: readonly (number | null)[]): number | null =>
  all.includes(null) ? null : Math.min(...(all as number[]));

/** GB/s that a GPU can send or receive, whoever the others are. */
export const ownCeiling = (link: GpuLink): number | null =>
  link.nvlinks > 0 ? nvlinksGbs(link, link.nvlinks) : pcieGbs(link);

/** GB/s from one GPU to another in one direction, by what both report about each other. */
export function pairCeiling(there: GpuLink, back: GpuLink): number | null {
  if (there.connection === null) return null;
  const both = [there, back];
  return there.connection === 'NVLink'
    ? least(both.map((link) => nvlinksGbs(link, link.peerNvlinks)))
    : least(both.map(pcieGbs));
}

export const linkBetween = (worker: WorkerTenant, peer: string): Promise<GpuLink> =>
  askSession(worker, { name: 'gpuLink', request: { peer }, deadlineMs: TASK_MS });

/** Links of the ranks of a communicator: how each is connected with the next one, and what the slowest one's links carry. */
export async function linksOf({ workers, gpus }: Pick<GpuWorkers, 'workers' | 'gpus'>) {
  const links = await Promise.all(
    workers.map((worker, rank) => linkBetween(worker, gpus[(rank + 1) % gpus.length]?.uuid ?? '')),
  );
  return {
    connections: [...new Set(links.map(({ connection }) => connection ?? 'unknown'))].sort(),
    ceilingGbs: least(links.map(ownCeiling)),
  };
}

/** Schema of `linksOf`. */
export const linksFields = {
  connections: rows(v.string(), 'How neighbouring ranks are connected'),
  ceilingGbs: v.nullable(
    quantity('GB/s', 'What the slowest of their links carries in one direction; null if that is not known'),
  ),
};

export interface Rate {
  name: string;
  /** In one direction. */
  gbs: number;
  /** Null: not known. */
  ceilingGbs: number | null;
}

/** What was not done looks fast. */
export function noFasterThanLinks(rates: readonly Rate[]): Check {
  const name = 'no faster than the links';
  const known = rates.filter((rate): rate is Rate & { ceilingGbs: number } => rate.ceilingGbs !== null);
  if (known.length === 0)
    return { name, passed: 'not checked', detail: 'NVML does not report what the links between the GPUs carry' };
  const beyond = known.find(({ gbs, ceilingGbs: most }) => gbs > SLACK * most);
  const most = Math.max(...known.map((rate) => rate.ceilingGbs));
  return {
    name,
    passed: beyond === undefined,
    detail: beyond
      ? `${beyond.name}: ${beyond.gbs.toFixed(1)} GB/s, but the links carry ${beyond.ceilingGbs.toFixed(1)} GB/s`
      : `${known.length} of ${rates.length} rates, links of up to ${most.toFixed(1)} GB/s`,
  };
}

/** Why a stored rate cannot be what it says; null where it can, or where nothing says what the links carry. */
export function beyondLinks({ value, details }: Pick<MetricResult, 'value' | 'details'>): string | null {
  const parsed = v.safeParse(ceilingSchema, details);
  const most = parsed.success ? parsed.output.ceilingGbs : null;
  if (value === null || most === null || value <= SLACK * most) return null;
  return `${value.toFixed(1)} GB/s, and the links carry no more than ${most.toFixed(1)}`;
}
