/** Finds GPUs by the names that users give them. */
import { isInstance } from '../results/cards.js';

export interface NamedGpu {
  /** NVML's index. */
  index: number;
  uuid: string;
}

/** `1g.18gb` of an instance's name; null of a whole card's. */
export const profileOf = (name: string): string | null => / MIG (\S+)$/.exec(name)?.[1] ?? null;

interface Sliced {
  uuid: string;
  name: string;
  multiprocessors: number;
  migMode: string;
}

/** Tells a whole card from a slice, and slices of different profiles from one another. */
export const sliceText = ({ uuid, name, multiprocessors, migMode }: Sliced): string =>
  isInstance(uuid) ? `MIG instance ${profileOf(name) ?? `of ${multiprocessors} multiprocessors`}` : `MIG ${migMode}`;

/** The name, with the slice where the name does not say it. */
export const nameWithSlice = (gpu: Sliced): string =>
  isInstance(gpu.uuid) && profileOf(gpu.name) === null ? `${gpu.name}, ${sliceText(gpu)}` : gpu.name;

/** A process sees a MIG instance, other than the card's first one, only by this variable. */
export const instanceVariables = (uuid: string): Record<string, string> =>
  isInstance(uuid) ? { CUDA_VISIBLE_DEVICES: uuid } : {};

/** The entries of --device or CUDA_VISIBLE_DEVICES. */
export const entriesOf = (list: string): string[] => list.split(',').map((entry) => entry.trim());

/** The entry of the measured GPU. */
export const firstEntry = (list: string | undefined): string | undefined =>
  list === undefined ? undefined : entriesOf(list)[0];

/** The GPUs whose UUID begins so; like the driver, a UUID is known by any beginning that only it has. */
export const beginning = <Gpu extends NamedGpu>(gpus: readonly Gpu[], name: string): Gpu[] =>
  name.length > 'GPU-'.length ? gpus.filter(({ uuid }) => uuid.toLowerCase().startsWith(name.toLowerCase())) : [];

/** Undefined if none has that name. */
export function findGpu<Gpu extends NamedGpu>(gpus: readonly Gpu[], name: string): Gpu | undefined {
  if (/^\d+$/.test(name)) return gpus.find(({ index }) => index === Number(name));
  const matches = beginning(gpus, name);
  return matches.length === 1 ? matches[0] : undefined;
}

/** The list of GPUs for an error message. */
export function describeGpus(gpus: readonly NamedGpu[]): string {
  const indexes = gpus.map(({ index }) => index);
  const last = Math.max(...indexes);
  const list = gpus.length === 1 ? `${last}` : `an index from ${Math.min(...indexes)} to ${last}`;
  return gpus.length === 0
    ? 'a GPU of this machine (the driver lists none)'
    : `${list} or a UUID of this machine's GPUs`;
}
