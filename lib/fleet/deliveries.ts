/** Finds and reads the deliveries in a fleet's folder, one at a time. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { quoted, UsageError } from '../errors/usage-error.js';
import { MAX_MIB } from '../saved/read.js';
import {
  DELIVERIES,
  DELIVERY,
  DELIVERY_VERSION,
  deliverySchema,
  DOCUMENT,
  type FleetDelivery,
  sealOf,
} from './delivery.js';
import { bytesOf, UnreadableError } from '../saved/regular-file.js';
import { jsonIn } from './json-file.js';

const KIND = { kind: 'fleet-delivery', version: DELIVERY_VERSION, schema: deliverySchema };
const MOST_BYTES = 2 ** 20;
const MOST_DOCUMENT_BYTES = MAX_MIB * 2 ** 20;
/** Documents shrink to a tenth; more than a hundredth is no document. */
const MOST_SHRINKING = 100;
const SMALL_BYTES = 2 ** 20;

/** The delivery of a task: null if it has not delivered, and a text if it did and why that cannot be read. */
export async function readDelivery(fleet: string, index: number): Promise<FleetDelivery | string | null> {
  const folder = join(fleet, DELIVERIES, String(index));
  const found = await lstat(folder).catch(() => null);
  if (found === null) return null;
  if (found.isSymbolicLink()) return 'its folder is a symbolic link, which could lead anywhere';
  const file = join(folder, DELIVERY);
  const read = await jsonIn(file, { ...KIND, mostBytes: MOST_BYTES });
  // It is not written yet, or just being replaced.
  if (read === null) return null;
  if (typeof read === 'string') return `${DELIVERY}: ${read}`;
  return read.value.index === index ? read.value : `it says that it is of task ${read.value.index}`;
}

const inflate = promisify(gunzip);

/** The text of the document of a delivery that has one, or why it cannot be read. */
export async function unpacked(fleet: string, delivery: FleetDelivery): Promise<{ text: string } | string> {
  const { index, document: seal } = delivery;
  try {
    const packed = await bytesOf(join(fleet, DELIVERIES, String(index), DOCUMENT), MOST_DOCUMENT_BYTES);
    if (sealOf(packed).sha256 !== seal?.sha256)
      return `${DOCUMENT} is damaged: it has another checksum than ${DELIVERY} says`;
    const most = Math.min(MOST_DOCUMENT_BYTES, Math.max(SMALL_BYTES, MOST_SHRINKING * packed.length));
    const text = await inflate(packed, { maxOutputLength: most }).catch((error: NodeJS.ErrnoException) => {
      throw new UnreadableError(
        error.code === 'ERR_BUFFER_TOO_LARGE'
          ? `unpacked it has more than ${Math.round(most / 2 ** 20)} MiB`
          : 'it is not complete gzip; it may have been cut off',
      );
    });
    return { text: text.toString('utf8') };
  } catch (error) {
    if (error instanceof UnreadableError) return `${DOCUMENT}: ${error.why}`;
    throw error;
  }
}

/** Throws UsageError if the folder of deliveries is a link: nodes write into the fleet's folder. */
export async function checkDeliveries(fleet: string): Promise<void> {
  const folder = join(fleet, DELIVERIES);
  const found = await lstat(folder).catch(() => null);
  if (found?.isSymbolicLink())
    throw new UsageError(
      `Expected a folder of deliveries but received ${quoted(folder)}: it is a symbolic link, which could lead anywhere.`,
    );
}

/** Indices of folders that no task of the plan has, and names that are none, as `deliveries` has them. */
export async function foreignFolders(fleet: string, planned: ReadonlySet<number>): Promise<string[]> {
  const names = await readdir(join(fleet, DELIVERIES)).catch(() => []);
  // Folders aside are of deliveries that are being written, or were when their node died.
  return names.filter(
    (name) => !name.endsWith('.tmp') && !planned.has(/^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1),
  );
}
