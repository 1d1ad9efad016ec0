/** `gpu-virt-bench fleet node` runs a task of a plan on this node and delivers its document. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { checkTemporary } from '../../../environment/temporary.js';
import { toolVersion } from '../../../environment/tool.js';
import { messageOf } from '../../../errors/message-of.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import { codeForScheduler, DELIVERY_VERSION, type FleetDelivery, sealOf } from '../../../fleet/delivery.js';
import { framed } from '../../../fleet/frames.js';
import { type FleetPlan, readPlan } from '../../../fleet/plan.js';
import { nodeName, taskIndex } from '../../../fleet/task.js';
import { plain } from '../../../results/text/plain.js';
import { roundsOf } from '../../../results/kinds.js';
import { readDocument } from '../../../saved/read.js';
import { makeRunDirectory } from '../../../systems/process/run-directory.js';
import { nextAttempt, writeDelivery } from '../../files/delivery-folder.js';
import { writeStdout } from '../../files/output.js';
import { type OwnEnding, ownCommand } from '../../process/own-command.js';
import { say } from '../../terminal/talk.js';

export interface RawNodeOptions {
  plan: string;
  index?: string;
  tasks?: string;
  deliver: string;
}

const PLACES = ['folder', 'stdout'];

export async function node(raw: RawNodeOptions): Promise<number> {
  if (!PLACES.includes(raw.deliver))
    throw new UsageError(`Expected --deliver to be ${PLACES.join(' or ')} but received ${quoted(raw.deliver)}.`);
  const isFramed = raw.deliver === 'stdout';
  const plan = await readPlan(raw.plan);
  const index = taskIndex(plan, raw, process.env);
  checkTemporary();
  const attempt = isFramed ? 1 : await nextAttempt(raw.plan, index);
  const folder = await makeRunDirectory();
  try {
    const { delivery, document } = await measured(plan, { index, attempt }, folder, isFramed);
    if (isFramed) await writeStdout(framed(delivery, document).map((line) => `${line}\n`));
    else await writeDelivery(raw.plan, delivery, document);
    say(plain(deliveredText(delivery)));
    return codeForScheduler(delivery);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Delivered {
  delivery: FleetDelivery;
  /** The compressed document. */
  document: Buffer | null;
}

async function measured(
  plan: FleetPlan,
  task: Pick<FleetDelivery, 'index' | 'attempt'>,
  folder: string,
  isFramed: boolean,
): Promise<Delivered> {
  const started = new Date().toISOString();
  const file = join(folder, 'document.json');
  // `compare` writes a directory of results in any case.
  const places = ['--json', file, ...(plan.command === 'compare' ? ['--output', join(folder, 'results')] : [])];
  const stdout = isFramed ? process.stderr : process.stdout;
  const ending = await ownCommand([plan.command, ...places, ...plan.arguments], { stdout });
  const found = await documentOf(file);
  const message = messageFor(ending, typeof found === 'string' ? found : null);
  const delivery: FleetDelivery = {
    kind: 'fleet-delivery',
    schemaVersion: DELIVERY_VERSION,
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    plan: plan.id,
    ...task,
    node: nodeName(process.env),
    started,
    ended: new Date().toISOString(),
    exitCode: ending.exitCode,
    gpus: typeof found === 'string' ? [] : found.gpus,
    document: typeof found === 'string' ? null : sealOf(found.packed),
    ...(message !== null && { message }),
  };
  return { delivery, document: typeof found === 'string' ? null : found.packed };
}

const compressed = promisify(gzip);

/** The compressed document and the GPUs in it, or why there is none. */
async function documentOf(file: string): Promise<{ packed: Buffer; gpus: string[] } | string> {
  try {
    const { document } = await readDocument(file);
    const uuids = roundsOf(document).flatMap(({ gpu }) => gpu.map(({ uuid }) => uuid));
    return { packed: await compressed(await readFile(file)), gpus: [...new Set(uuids)] };
  } catch (error) {
    return messageOf(error);
  }
}

/** Null if nothing is to be said: a code of results with its document. */
function messageFor({ lastLine, ...ending }: OwnEnding, whyNoDocument: string | null): string | null {
  if (ending.exitCode === 0 && whyNoDocument === null) return null;
  const what = `${ending.how}${whyNoDocument === null ? '' : ' without a document'}`;
  return lastLine === '' ? what : `${what}: ${plain(lastLine)}`;
}

function deliveredText({ index, node, attempt, exitCode, document }: FleetDelivery): string {
  const how = exitCode === null ? 'which a signal ended' : `exit code ${exitCode}`;
  return `Task ${index} on ${node}, attempt ${attempt}: delivered ${document === null ? 'no document' : 'a document'}, ${how}.`;
}
