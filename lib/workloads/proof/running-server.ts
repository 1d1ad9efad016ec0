/**
 * Whether a server that already runs is under what the caller says: by its processes on this machine, looked at before
 * and after a load.
 */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMonitor } from '../../monitor/monitor.js';
import { messageOf } from '../../errors/message-of.js';
import { namespacesOf } from '../../workers/container/container.js';
import { type ListedByNvml, ListedProcesses } from '../program/listed-processes.js';
import { isListening, processesServing } from '../program/listening-processes.js';
import { mpsProof, PIPES } from './mps-clients.js';
import { type Expected, proofOf } from './proof.js';
import { type ProcessProof, worstOf } from './proof-state.js';
import { type SeenProcess, usesGpu, who } from './seen-process.js';

/** What is claimed of a server, and how its processes are found. */
export interface ClaimedServer {
  url: URL;
  /** Name of the system that it is said to run under; `native` is a claim too. */
  system: string;
  /** The library that its processes must have mapped; null if none is named. */
  layer: string | null;
  /** Whether they must be clients of an MPS daemon. */
  mps: boolean;
  /** Whether they must have file systems of their own. */
  container: boolean;
  /** Its first process; null: those that listen at the port of the URL. */
  pid: number | null;
  /** Whether it uses the simulated GPU. */
  simulate: boolean;
}

/** One look at a server's processes. */
interface Look {
  /** Null where the URL leads to another machine. */
  processes: SeenProcess[] | null;
  /** Null where NVML was not asked, or cannot say which processes are clients of MPS. */
  listed: ListedByNvml | null;
  /** Why it could not. */
  unlisted: string | null;
}

/** Time for two samples at the monitor's shortest useful interval. */
const LISTING_MS = 250;
const INTERVAL_MS = 100;

export const NATIVE = 'native';

const unproven = (detail: string): ProcessProof => ({ state: 'unproven', detail });

export async function lookAtServer(claim: ClaimedServer): Promise<Look> {
  const processes = await processesServing(claim.url, claim.pid);
  if (processes === null || !processes.some(usesGpu) || !(claim.mps || claim.system === NATIVE))
    return { processes, listed: null, unlisted: null };
  try {
    return { processes, listed: await listedNow(claim.simulate), unlisted: null };
  } catch (error) {
    return { processes, listed: null, unlisted: messageOf(error) };
  }
}

async function listedNow(simulate: boolean): Promise<ListedByNvml> {
  const listed = new ListedProcesses();
  const monitor = await startMonitor({
    simulate,
    intervalMs: INTERVAL_MS,
    onSample: ({ processes }) => listed.add(processes ?? []),
  });
  await sleep(LISTING_MS);
  await monitor.stop();
  return listed;
}

export async function serverProof(claim: ClaimedServer, looks: readonly [Look, Look]): Promise<ProcessProof> {
  const [before, after] = looks;
  if (before.processes === null || after.processes === null)
    return unproven(`${claim.url.hostname} is not this machine`);
  const seen = [...before.processes, ...after.processes];
  if (!claims(claim))
    return unproven('nothing is named that shows it in its processes (--layer, --mps, --container; native is checked)');
  if (seen.length === 0) return unproven(notFound(claim));
  if (!seen.some(usesGpu))
    return unproven(
      claim.pid === null
        ? 'no process that listens at its port uses the driver, nor one that it started: it may be a proxy, name the server itself with --pid'
        : `neither process ${claim.pid} nor one that it started uses the driver`,
    );
  if (claim.pid !== null && !isListening(seen.map(({ pid }) => pid)))
    return unproven(`neither process ${claim.pid} nor one that it started listens at a port`);
  return worstOf(await Promise.all(proofsOf(claim, seen, looks)));
}

const claims = ({ system, layer, mps, container }: ClaimedServer): boolean =>
  system === NATIVE || layer !== null || mps || container;

const notFound = ({ pid }: ClaimedServer): string =>
  pid === null
    ? 'no process could be looked at that listens at its port: it belongs to another user or container'
    : `process ${pid} could not be looked at: it has ended, or belongs to another user`;

function proofsOf(
  { system, layer, mps, container }: ClaimedServer,
  seen: SeenProcess[],
  looks: readonly Look[],
): Promise<ProcessProof>[] {
  const users = seen.filter(usesGpu);
  const expected = { system, isBare: system === NATIVE, layer };
  const proofs: Promise<ProcessProof>[] = [];
  if (container) proofs.push(containerProof(seen, users, expected));
  else if (layer !== null || system === NATIVE) proofs.push(proofOf(seen, expected));
  if (mps) proofs.push(Promise.resolve(clientProof(seen, users, looks)));
  else if (system === NATIVE && looks.some(({ listed }) => listed !== null))
    proofs.push(Promise.resolve(noMpsClient(users, looks)));
  return proofs;
}

/** Takes a process for one in a container if its root folder is not this machine's. */
async function containerProof(seen: SeenProcess[], users: SeenProcess[], expected: Expected): Promise<ProcessProof> {
  const roots = users.map((user) => ({ user, root: rootOf(user.pid) }));
  const bare = roots.find(({ root }) => root !== null && !root.isOwn);
  if (bare) return { state: 'outside', detail: `${who(bare.user)} has the root folder of this machine` };
  for (const { user, root } of roots)
    if (root === null)
      return unproven(
        `the root folder of ${who(user)} could not be looked at: it has ended, or belongs to another user`,
      );
  const [first] = roots as [{ user: SeenProcess; root: NonNullable<ReturnType<typeof rootOf>> }];
  const container = { id: null, name: `of ${who(first.user)}`, first: { pid: first.user.pid, ...first.root } };
  return proofOf(seen, { ...expected, container });
}

function rootOf(pid: number): { isOwn: boolean; namespaces: ReadonlyMap<string, string> } | null {
  try {
    const [own, root] = [statSync('/'), statSync(`/proc/${pid}/root/`)];
    return { isOwn: own.dev !== root.dev || own.ino !== root.ino, namespaces: namespacesOf(pid) };
  } catch {
    return null;
  }
}

function clientProof(
  seen: readonly SeenProcess[],
  users: readonly SeenProcess[],
  looks: readonly Look[],
): ProcessProof {
  const why = looks.find(({ unlisted }) => unlisted !== null)?.unlisted;
  if (why != null) return unproven(`NVML could not be asked for clients of MPS: ${why}`);
  const pipes = users.map(({ variables }) => variables?.[PIPES]).find((own) => own != null) ?? '';
  const pids = new Set(seen.map(({ pid }) => pid));
  return mpsProof(seen, { pipes, daemon: `the daemon at ${pipes}`, pids, listed: joined(looks) });
}

function noMpsClient(users: readonly SeenProcess[], looks: readonly Look[]): ProcessProof {
  const { clients } = joined(looks);
  const client = users.find(({ pid }) => clients.has(pid));
  return client
    ? { state: 'outside', detail: `NVML lists ${who(client)} as a client of MPS` }
    : { state: 'proven', detail: 'none is a client of MPS by NVML' };
}

function joined(looks: readonly Look[]): ListedByNvml {
  const clients = new Set(looks.flatMap(({ listed }) => [...(listed?.clients ?? [])]));
  const others = new Map<number, number>();
  for (const { listed } of looks)
    for (const [pid, samples] of listed?.others ?? [])
      if (!clients.has(pid)) others.set(pid, (others.get(pid) ?? 0) + samples);
  return { clients, others };
}
