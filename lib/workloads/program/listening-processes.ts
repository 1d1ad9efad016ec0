/**
 * The processes of a server that already runs on this machine: those that listen at its port, or the one that the caller
 * names where the port leads to a proxy or into a container, and what they started.
 */
import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { mappedFiles } from '../../systems/proof/ld-preload.js';
import { mpsPipeDirectory } from '../../native/start-remedy.js';
import { mapsOf, nameOf, openFilesOf, processesBelow, variableOf } from '../../environment/process-tree.js';
import { PIPES } from '../proof/mps-clients.js';
import type { SeenProcess } from '../proof/seen-process.js';
import { mountsOf } from './watch.js';

/** Number of the state TCP_LISTEN in /proc/net/tcp. */
const LISTEN = '0A';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Finds the processes that serve a URL, those of `named` if it is a PID; null where the URL leads to another machine. */
export async function processesServing(url: URL, named: number | null): Promise<SeenProcess[] | null> {
  if (!(await isHere(url.hostname.replace(/^\[|\]$/g, '')))) return null;
  const first = named === null ? listeningAt(Number(url.port || DEFAULT_PORTS[url.protocol])) : [named];
  const pids = new Set(first.flatMap((pid) => [pid, ...processesBelow(pid)]));
  return [...pids].flatMap((pid) => {
    const files = mappedFiles(mapsOf(pid) ?? '');
    const variable = variableOf(pid, PIPES);
    const variables = variable === undefined ? {} : { [PIPES]: mpsPipeDirectory({ [PIPES]: variable ?? undefined }) };
    return files.length === 0 ? [] : [{ pid, name: nameOf(pid), files, ...mountsOf(pid), variables }];
  });
}

/** Whether one of these processes listens at a TCP port, in its own network. */
export const isListening = (pids: readonly number[]): boolean =>
  pids.some((pid) => {
    const open = new Set(openFilesOf(pid));
    return ['tcp', 'tcp6'].some((table) =>
      listeningSockets(`/proc/${pid}/net/${table}`).some((each) => open.has(each)),
    );
  });

async function isHere(host: string): Promise<boolean> {
  const found = isIP(host) ? [host] : await lookup(host, { all: true }).then((all) => all.map(({ address }) => address), () => []); // prettier-ignore
  const own = new Set(Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []));
  return found.some((address) => address.startsWith('127.') || address === '::1' || own.has(address));
}

function listeningAt(port: number): number[] {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeningSockets(`/proc/self/net/${table}`, port)));
  if (sockets.size === 0) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => openFilesOf(pid).some((socket) => sockets.has(socket)));
}

/** Lists sockets that listen at a port or, if none is given, at any, in the same form. */
function listeningSockets(table: string, port?: number): string[] {
  let text: string;
  try {
    text = readFileSync(table, 'latin1');
  } catch {
    // Not Linux, or no IPv6.
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const isMeant = port === undefined || parseInt(local.split(':')[1] ?? '', 16) === port;
    return state === LISTEN && isMeant ? [`socket:[${inode}]`] : [];
  });
}
