/** Chooses the GPU that a run measures. */
import { BenchError } from '../../errors/bench-error.js';
import type { NativeDevice } from '../../native/addon-types.js';
import { beginning, describeGpus, entriesOf, findGpu } from '../../environment/named-gpu.js';
import { isInstance } from '../../results/cards.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { CudaError } from '../../native/errors.js';

export interface Choice {
  device: NativeDevice;
  /** The GPUs of a list, `device` first; null without one: metrics of several GPUs take all that are visible. */
  cards: readonly NativeDevice[] | null;
  /** The source of the choice, for the line that reports it. */
  because: string;
}

/**
 * Chooses the GPU. `requested` is --device; without it the first GPU is taken that the driver lists, which
 * CUDA_VISIBLE_DEVICES has already filtered.
 */
export function chooseDevice(
  devices: readonly NativeDevice[],
  requested: string | undefined,
  visible: string | undefined,
): Choice {
  if (requested !== undefined) return among(devices, requested);
  const device = devices[0];
  const because = visible !== undefined ? `CUDA_VISIBLE_DEVICES=${visible}` : 'the first GPU';
  if (device) return { device, cards: null, because };
  if (visible === undefined)
    throw new BenchError('NO_SUCH_DEVICE', 'The driver lists no GPU: gpu-virt-bench doctor says why.');
  throw namesNoGpu(visible);
}

function among(devices: readonly NativeDevice[], requested: string): Choice {
  const entries = entriesOf(requested);
  const cards = entries.map((entry) => {
    const card = findGpu(devices, entry);
    if (card) return card;
    const where = entries.length === 1 ? '' : ` in ${quoted(requested)}`;
    const several = beginning(devices, entry).length > 1 ? ', with which several UUIDs begin' : '';
    throw new UsageError(
      `Expected --device to be ${describeGpus(devices)} but received ${quoted(entry)}${where}${several}.`,
    );
  });
  const [device, ...others] = cards as [NativeDevice, ...NativeDevice[]];
  const twice = cards.find((card, i) => cards.indexOf(card) !== i);
  if (twice)
    throw new UsageError(
      `Expected --device to name each GPU once but received ${quoted(requested)}: two entries are GPU ${twice.index}, ${twice.uuid}.`,
    );
  if (others.length > 0 && cards.some(({ uuid, migMode }) => isInstance(uuid) || migMode === 'enabled'))
    throw new UsageError(
      `Expected --device to name whole GPUs but received ${quoted(requested)}: a process sees only one MIG instance; name one.`,
    );
  return { device, cards: others.length === 0 ? null : cards, because: '--device' };
}

/** The value of --device that names what was chosen. */
export const uuidsOf = ({ device, cards }: Choice): string =>
  cardsOf({ device, cards })
    .map(({ uuid }) => uuid)
    .join(',');

/** The GPUs that the document names. */
export const cardsOf = ({ device, cards }: Pick<Choice, 'cards' | 'device'>): readonly NativeDevice[] =>
  cards ?? [device];

/** `Device 1: NAME, UUID (--device)` */
export function choiceText({ device, cards, because }: Choice): string {
  const one = ({ index, name, uuid }: NativeDevice) => `${index}: ${name}, ${uuid}`;
  if (cards === null) return `Device ${one(device)} (${because})`;
  return `Devices ${cards.map(one).join('; ')} (${because}; metrics of one GPU measure the first)`;
}

const namesNoGpu = (visible: string): UsageError =>
  new UsageError(
    `Expected CUDA_VISIBLE_DEVICES to name a GPU of this machine but received ${quoted(visible)}: name one by index or UUID, or unset it.`,
  );

const NO_DEVICE = 100;

/**
 * Explains an error where CUDA_VISIBLE_DEVICES hides all GPUs: the driver then fails in cuInit, before anything can be
 * listed.
 */
export function hiddenGpusOr(error: unknown, visible: string | undefined): unknown {
  const isHidden = visible !== undefined && error instanceof CudaError && error.code === NO_DEVICE;
  return isHidden ? namesNoGpu(visible) : error;
}
