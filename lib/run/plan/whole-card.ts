/** The whole card of a comparison's other systems, where some systems measure MIG instances. */
import { describeGpus, findGpu } from '../../environment/named-gpu.js';
import { isInstance } from '../../results/cards.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { fromNative } from '../../native/errors.js';
import { loadAddon } from '../../native/load.js';
import { isMeasuredNow } from '../../systems/system.js';
import type { CompareRequest } from '../compare-request.js';

/** Null if no system picks an instance, or all do. */
export async function wholeCardBeside({
  systems,
  target: { simulatedDriver },
  device,
}: CompareRequest): Promise<{ uuid: string; warning: string } | null> {
  const measured = systems.filter(isMeasuredNow);
  const [slices, others] = [true, false].map((picks) =>
    measured.filter(({ picksGpu = false }) => picksGpu === picks).map(({ name }) => name),
  ) as [string[], string[]];
  if (slices.length === 0 || others.length === 0) return null;
  const addon = loadAddon();
  const ask = { simulatedDriver };
  const [gpus, instances] = await Promise.all([addon.listGpus(ask), addon.migInstances(ask)]).catch(
    (error: unknown) => {
      throw fromNative(error);
    },
  );
  const cut = new Set(instances.map(({ parent }) => parent));
  const whole = gpus.filter(({ uuid }) => !cut.has(uuid));
  const advice = `name one with --device, or leave ${others.join(', ')} out: slices can be compared with one another, and with native:recorded=FILE, measured before`;
  const who = `a GPU that is not in MIG mode for ${others.join(', ')}, because ${slices.join(', ')} measures an instance,`;
  if (device !== undefined) {
    const named = isInstance(device) ? undefined : findGpu(whole, device);
    if (!named) throw new UsageError(`Expected --device to be ${who} but received ${quoted(device)}: ${advice}.`);
    return told(named.uuid, slices, others);
  }
  const [first] = whole;
  if (!first) throw new UsageError(`Expected ${who} but received ${describeGpus(gpus)}, all in MIG mode: ${advice}.`);
  return told(first.uuid, slices, others);
}

const told = (uuid: string, slices: readonly string[], others: readonly string[]) => ({
  uuid,
  warning: `${others.join(', ')} is measured on the whole card ${uuid}, ${slices.join(', ')} on an instance of another card: effects between them are those of the slice and of the card together.`,
});
