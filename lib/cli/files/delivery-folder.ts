/** A delivery in a fleet's folder: it appears as a whole, and a later attempt replaces an earlier one as a whole. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unwritable } from '../../errors/unwritable.js';
import { quoted } from '../../errors/usage-error.js';
import { DELIVERIES, DELIVERY, DOCUMENT, type FleetDelivery } from '../../fleet/delivery.js';
import { readDelivery } from '../../fleet/deliveries.js';
import { isLink } from './output.js';

/** The attempt that a delivery of this task would be: earlier ones count, also damaged ones. */
export async function nextAttempt(fleet: string, index: number): Promise<number> {
  const earlier = await readDelivery(fleet, index);
  if (earlier === null) return 1;
  return typeof earlier === 'string' ? 2 : earlier.attempt + 1;
}

/** Rejects with an error that names the folder and the reason. `document` is the compressed one. */
export async function writeDelivery(fleet: string, delivery: FleetDelivery, document: Buffer | null): Promise<void> {
  const all = join(fleet, DELIVERIES);
  const folder = join(all, String(delivery.index));
  try {
    await mkdir(all).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    // Nodes write here with the rights of their users.
    for (const path of [all, folder])
      if (await isLink(path)) throw new Error('it is a symbolic link, which could point anywhere');
    await replaceFolder(folder, async (fresh) => {
      if (document !== null) await writeNew(join(fresh, DOCUMENT), document);
      await writeNew(join(fresh, DELIVERY), `${JSON.stringify(delivery, null, 2)}\n`);
    });
  } catch (error) {
    throw unwritable(`the delivery into ${quoted(folder)}`, error);
  }
}

/** Readers look at folders that are named by an index, so they never see those aside. */
async function replaceFolder(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const mark = `.${randomBytes(8).toString('hex')}.tmp`;
  const [fresh, old] = [`${folder}${mark}`, `${folder}.old${mark}`];
  try {
    await mkdir(fresh);
    await fill(fresh);
    const hadOne = await renamed(folder, old);
    await rename(fresh, folder).catch(async (error: unknown) => {
      if (hadOne) await rename(old, folder).catch(() => {});
      throw error;
    });
  } finally {
    for (const path of [fresh, old]) await rm(path, { recursive: true, force: true });
  }
}

const renamed = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

async function writeNew(path: string, content: Buffer | string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
