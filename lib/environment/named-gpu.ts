/** Finds GPUs by the names that users give them. */

export interface NamedGpu {
  /** NVML's index. */
  index: number;
  uuid: string;
}

/** Whether a GPU's name is that of a MIG instance. */
export const isInstance = (name: string): boolean => /^MIG-/i.test(name);

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
