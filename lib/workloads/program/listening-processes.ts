/** The processes of a server that already runs on this machine: those that listen at its port, and what they started. */
import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { mappedFiles } from '../../systems/proof/ld-preload.js';
import { mapsOf, nameOf, processesBelow } from './process-tree.js';
import type { SeenProcess } from '../proof/seen-process.js';
import { mountsOf } from './watch.js';

/** Number of the state TCP_LISTEN in /proc/net/tcp. */
const LISTEN = '0A';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Finds the processes that serve a URL; null where it leads to another machine. */
export async function processesServing(url: URL): Promise<SeenProcess[] | null> {
  if (!(await isHere(url.hostname.replace(/^\[|\]$/g, '')))) return null;
  const listening = listeningAt(Number(url.port || DEFAULT_PORTS[url.protocol]));
  const pids = new Set(listening.flatMap((pid) => [pid, ...processesBelow(pid)]));
  return [...pids].flatMap((pid) => {
    const files = mappedFiles(mapsOf(pid) ?? '');
    return files.length === 0 ? [] : [{ pid, name: nameOf(pid), files, ...mountsOf(pid) }];
  });
}

async function isHere(host: string): Promise<boolean> {
  const found = isIP(host) ? [host] : await lookup(host, { all: true }).then((all) => all.map(({ address }) => address), () => []); // prettier-ignore
  const own = new Set(Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []));
  return found.some((address) => address.startsWith('127.') || address === '::1' || own.has(address));
}

function listeningAt(port: number): number[] {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeningSockets(`/proc/net/${table}`, port)));
  if (sockets.size === 0) return [];
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => sockets.has(targetOf(`/proc/${pid}/fd/${fd}`))))
    .map(Number);
}

/** Lists sockets that listen at a port, in the form of the links in /proc/PID/fd: `socket:[INODE]`. */
function listeningSockets(table: string, port: number): string[] {
  let text: string;
  try {
    text = readFileSync(table, 'latin1');
  } catch {
    // Not Linux, or no IPv6.
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === LISTEN && parseInt(local.split(':')[1] ?? '', 16) === port ? [`socket:[${inode}]`] : [];
  });
}

/** Lists a folder of /proc; empty for a process that has ended or belongs to somebody else. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
