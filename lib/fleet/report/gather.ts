/** Reads all deliveries of a fleet one after the other; of each only a row, or why there is none, stays in memory. */
import { documentIn } from '../../saved/read.js';
import { checkDeliveries, foreignFolders, readDelivery, unpacked } from '../deliveries.js';
import { type FleetDelivery, hasResults } from '../delivery.js';
import type { FleetPlan } from '../plan.js';
import { type CardRow, rowOf } from './card-row.js';
import { Catalogue } from './series.js';
import { UsageError } from '../../errors/usage-error.js';

type TaskState = 'delivered' | 'refused' | 'silent';

export interface Task {
  index: number;
  state: TaskState;
  /** The node that delivered, else the one that was planned; null if neither is known. */
  node: string | null;
  /** Null without a readable delivery. */
  attempt: number | null;
  exitCode: number | null;
  /** Why it is refused or silent. */
  reason: string | null;
  /** The node that was planned, where another one delivered; else null. */
  plannedFor: string | null;
  row: CardRow | null;
}

export interface Gathered {
  tasks: Task[];
  catalogue: Catalogue;
  /** Folders of deliveries that no task of the plan has. */
  foreign: string[];
  simulated: boolean;
}

/** How many deliveries are read while one is judged. */
const AHEAD = 8;
/** A larger one is read alone. */
const SMALL_BYTES = 2 ** 20;

interface Read {
  delivery: FleetDelivery | string | null;
  /** Why it is no result; null if its document says. */
  why: string | null;
  text: () => Promise<{ text: string } | string>;
}

export async function gather(fleet: string, plan: FleetPlan): Promise<Gathered> {
  await checkDeliveries(fleet);
  const planned = [...plan.tasks].sort((a, b) => a.index - b.index);
  const catalogue = new Catalogue();
  const seen = new Map<string, CardRow>();
  const tasks: Task[] = [];
  await inOrder(
    planned,
    ({ index }) => read(fleet, plan, index),
    async ({ index, node = null }, found) => {
      const settled = await unlessReplaced(fleet, plan, index, found);
      tasks.push(await taskOf({ index, node }, settled, { plan, catalogue, seen }));
    },
  );
  const foreign = await foreignFolders(fleet, new Set(planned.map(({ index }) => index)));
  return { ...withoutSimulated(tasks), catalogue, foreign: foreign.sort() };
}

/** Reads a few ahead and takes them in order, so that the same folder always gives the same report. */
async function inOrder<Item, Found>(
  items: readonly Item[],
  start: (item: Item) => Promise<Found>,
  take: (item: Item, found: Found) => Promise<void>,
): Promise<void> {
  const running: Promise<Found>[] = [];
  for (const [i, item] of items.entries()) {
    for (let next = i + running.length; running.length < AHEAD && next < items.length; next++)
      running.push(start(items[next] as Item));
    await take(item, await (running.shift() as Promise<Found>));
  }
}

async function read(fleet: string, plan: FleetPlan, index: number): Promise<Read> {
  const delivery = await readDelivery(fleet, index);
  const none = { delivery, text: () => Promise.resolve('it has no document') };
  if (delivery === null || typeof delivery === 'string') return { ...none, why: null };
  const why = whyRefused(delivery, plan);
  if (why !== null) return { ...none, why };
  let unpacking: ReturnType<typeof unpacked> | undefined;
  const text = () => (unpacking ??= unpacked(fleet, delivery));
  // An error is thrown where the text is needed.
  if ((delivery.document?.bytes ?? 0) <= SMALL_BYTES) text().catch(() => {});
  return { delivery, why, text };
}

/** A second attempt may take the place of the first between the reading of its note and of its document. */
async function unlessReplaced(fleet: string, plan: FleetPlan, index: number, found: Read): Promise<Read> {
  const { delivery } = found;
  if (delivery === null || typeof delivery === 'string' || found.why !== null) return found;
  if (typeof (await found.text()) !== 'string') return found;
  const now = await readDelivery(fleet, index);
  const isReplaced = now === null || (typeof now !== 'string' && now.attempt > delivery.attempt);
  return isReplaced ? unlessReplaced(fleet, plan, index, await read(fleet, plan, index)) : found;
}

const reasons: Readonly<Record<number, string>> = {
  2: 'the command was refused, or nothing could be measured (exit code 2)',
  5: 'a system was not proven active (exit code 5)',
  130: 'it was interrupted (exit code 130)',
};

/** Why a delivery is no result, whatever its document says; null if it may be one. */
export function whyRefused(delivery: FleetDelivery, plan: FleetPlan): string | null {
  if (delivery.plan !== plan.id) return `it is of another plan, ${delivery.plan}`;
  if (hasResults(delivery)) return null;
  const { exitCode, message } = delivery;
  const what =
    exitCode === null
      ? 'a signal ended the command'
      : (reasons[exitCode] ?? `the command wrote no document (exit code ${exitCode})`);
  return message === undefined ? what : `${what}: ${message}`;
}

interface Context {
  plan: FleetPlan;
  catalogue: Catalogue;
  /** Cards so far. */
  seen: Map<string, CardRow>;
}

async function taskOf(
  { index, node }: { index: number; node: string | null },
  { delivery, why, text }: Read,
  context: Context,
): Promise<Task> {
  const none = { index, node, attempt: null, exitCode: null, plannedFor: null, row: null };
  if (delivery === null) return { ...none, state: 'silent', reason: 'it has not delivered' };
  if (typeof delivery === 'string') return { ...none, state: 'refused', reason: delivery };
  const { attempt, exitCode } = delivery;
  const plannedFor = node === delivery.node ? null : node;
  const own = { index, node: delivery.node, attempt, exitCode, plannedFor };
  const found = why ?? (await text());
  const row = typeof found === 'string' ? found : judged(found.text, delivery, context);
  if (typeof row === 'string') return { ...own, state: 'refused', reason: row, row: null };
  return { ...own, state: 'delivered', reason: null, row };
}

const kinds = { run: 'run', compare: 'comparison' } as const;

function judged(text: string, delivery: FleetDelivery, { plan, catalogue, seen }: Context): CardRow | string {
  const saved = documentOf(text);
  if (typeof saved === 'string') return saved;
  const { kind, completed } = saved.document;
  if (kind !== kinds[plan.command]) return `its document is a ${kind}, and the plan asked for ${plan.command}`;
  if (!completed) return 'its document is not complete: it was interrupted or stopped';
  const row = rowOf(saved, delivery, catalogue);
  if (typeof row === 'string') return row;
  // Every simulated card of a kind has the same UUID.
  const key = row.simulated ? JSON.stringify([row.uuid, row.node, row.index]) : row.uuid;
  const other = seen.get(key);
  if (other !== undefined)
    return `its GPU ${row.uuid} was delivered by task ${other.index} on ${other.node} already: a card counts once`;
  seen.set(key, row);
  return row;
}

function documentOf(text: string) {
  try {
    return documentIn('document.json.gz', text);
  } catch (error) {
    if (error instanceof UsageError) return error.message.replace(/\.$/, '');
    throw error;
  }
}

/** Simulated cards beside real ones are refused: their numbers say nothing about any card. */
function withoutSimulated(tasks: readonly Task[]): Pick<Gathered, 'tasks' | 'simulated'> {
  const isReal = tasks.some(({ row }) => row !== null && !row.simulated);
  const simulated = !isReal && tasks.some(({ row }) => row?.simulated);
  if (!isReal) return { tasks: [...tasks], simulated };
  const reason = 'its GPU is simulated, and others of the fleet are real';
  return {
    tasks: tasks.map((task) => (task.row?.simulated ? { ...task, state: 'refused', reason, row: null } : task)),
    simulated,
  };
}
