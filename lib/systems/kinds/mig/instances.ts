/** MIG instances that an administrator has created, as NVML lists them; nothing here creates or destroys one. */
import { profileOf } from '../../../environment/named-gpu.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import type { MigInstance, Target } from '../../../native/addon-types.js';
import { fromNative } from '../../../native/errors.js';
import { loadAddon } from '../../../native/load.js';

export interface Wanted {
  name: string;
  /** `1g.18gb`. */
  profile?: string | undefined;
  /** A UUID, its beginning, or `MIG-GPU-<UUID of the card>/<GPU instance>/<compute instance>`. */
  instance?: string | undefined;
  /** Index or UUID of the card. */
  card?: string | undefined;
}

export async function listInstances({ simulatedDriver }: Target): Promise<MigInstance[]> {
  try {
    return await loadAddon().migInstances({ simulatedDriver });
  } catch (error) {
    throw fromNative(error);
  }
}

/** The name that drivers before R470 give it. */
const olderName = ({ parent, gpuInstance, computeInstance }: MigInstance): string =>
  `MIG-${parent}/${gpuInstance}/${computeInstance}`;

export const placeOf = (found: MigInstance): string =>
  `GPU instance ${found.gpuInstance ?? 'unknown'}, compute instance ${found.computeInstance ?? 'unknown'} of GPU ${found.parentIndex}, ${found.parent}`;

/** The wanted instances, all of one card: the first one that has most of them. */
export function chooseInstances(listed: readonly MigInstance[], wanted: Wanted): MigInstance[] {
  const { name, profile, instance, card } = wanted;
  if (listed.length === 0)
    throw new UsageError(
      `Expected MIG instances for ${name} but received none: no GPU of this machine has one. An administrator creates them, e.g. sudo nvidia-smi -i 0 -mig 1, then sudo nvidia-smi mig -i 0 -cgi ${profile ?? 'PROFILE'} -C (see nvidia-smi mig -lgip).`,
    );
  const onCard = card === undefined ? listed : listed.filter((one) => isOf(one, card));
  if (onCard.length === 0)
    throw new UsageError(
      `Expected card of ${name} to have MIG instances but received ${quoted(card ?? '')}: ${all(listed)}.`,
    );
  const named = instance === undefined ? onCard : withName(onCard, instance, wanted);
  const found = profile === undefined ? named : named.filter((one) => profileOf(one.name) === profile);
  if (found.length > 0) return mostOfOneCard(found);
  if (instance !== undefined)
    throw new UsageError(
      `Expected instance of ${name} to have profile ${profile} but received ${quoted(instance)}, ${shown(named[0] as MigInstance)}.`,
    );
  throw new UsageError(
    `Expected profile of ${name} to be that of an instance but received ${quoted(profile ?? '')}: ${all(onCard)}. An administrator creates others, e.g. sudo nvidia-smi mig -i ${(onCard[0] as MigInstance).parentIndex} -cgi ${profile} -C.`,
  );
}

function withName(listed: readonly MigInstance[], instance: string, { name }: Wanted): MigInstance[] {
  const text = instance.toLowerCase();
  const exact = listed.filter((one) => [one.uuid, olderName(one)].some((other) => other.toLowerCase() === text));
  const begun = text.length > 'MIG-'.length ? listed.filter(({ uuid }) => uuid.toLowerCase().startsWith(text)) : [];
  const found = exact.length > 0 ? exact : begun;
  if (found.length === 1) return found;
  const why = found.length > 1 ? 'several UUIDs begin so' : all(listed);
  throw new UsageError(
    `Expected instance of ${name} to name one MIG instance but received ${quoted(instance)}: ${why}.`,
  );
}

const isOf = ({ parent, parentIndex }: MigInstance, card: string): boolean =>
  /^\d+$/.test(card) ? parentIndex === Number(card) : parent.toLowerCase().startsWith(card.toLowerCase());

function mostOfOneCard(found: readonly MigInstance[]): MigInstance[] {
  const byCard = new Map<string, MigInstance[]>();
  for (const one of found) byCard.set(one.parent, [...(byCard.get(one.parent) ?? []), one]);
  return [...byCard.values()].reduce((best, next) => (next.length > best.length ? next : best));
}

const shown = (one: MigInstance): string => `${profileOf(one.name) ?? 'unknown profile'}, ${placeOf(one)}`;

const all = (listed: readonly MigInstance[]): string =>
  `there are ${listed.map((one) => `${one.uuid} (${shown(one)})`).join('; ')}`;
