/**
 * Reads the counts of libgvb-count.so: one file per process that uses the driver, which that process maps. The layout is
 * that of native/count/slots.h.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const HEADER_BYTES = 4_096;
const SLOT_BYTES = 128;
const COUNT_BYTES = 8;
const MAGIC = 'gvbcount';
const AT = { slots: 8, refused: 12, simulated: 16, driver: 24 } as const;
const DRIVER_BYTES = 1_024;

export interface CallCounts {
  /** Calls by exported name of the function. */
  calls: Map<string, number>;
  /** Processes that used the driver: they looked one of its functions up, or called one. */
  processes: number;
  /** Processes that called the driver. */
  calling: number;
  /** Functions that were looked up after all counters were in use. */
  refused: number;
  /** Why a process that used the driver could write no file, for every such process. */
  uncounted: string[];
  /** The driver of a process that resolved one of its functions; null if none did. */
  driver: { libcuda: string; simulated: boolean } | null;
}

/** Covers all processes so far, including ended ones. May be called at any time. */
export function readCallCounts(folder: string): CallCounts {
  const counts: CallCounts = { calls: new Map(), processes: 0, calling: 0, refused: 0, uncounted: [], driver: null };
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.counts')) add(counts, readFileSync(join(folder, file)));
    if (file.endsWith('.uncounted')) counts.uncounted.push(readlinkSync(join(folder, file)));
  }
  return counts;
}

function add(counts: CallCounts, file: Buffer): void {
  // A process that is still creating its file is read the next time.
  if (file.length < HEADER_BYTES || file.toString('latin1', 0, MAGIC.length) !== MAGIC) return;
  counts.processes++;
  counts.refused += file.readUInt32LE(AT.refused);
  const libcuda = textAt(file, AT.driver, DRIVER_BYTES);
  if (libcuda !== '') counts.driver ??= { libcuda, simulated: file.readUInt32LE(AT.simulated) !== 0 };
  const slots = Math.min(file.readUInt32LE(AT.slots), Math.floor((file.length - HEADER_BYTES) / SLOT_BYTES));
  let called = false;
  for (let slot = 0; slot < slots; slot++) {
    const at = HEADER_BYTES + slot * SLOT_BYTES;
    const calls = Number(file.readBigUInt64LE(at));
    const name = textAt(file, at + COUNT_BYTES, SLOT_BYTES - COUNT_BYTES);
    if (calls === 0 || name === '') continue;
    called = true;
    counts.calls.set(name, (counts.calls.get(name) ?? 0) + calls);
  }
  if (called) counts.calling++;
}

function textAt(file: Buffer, at: number, most: number): string {
  const end = file.indexOf(0, at);
  return file.toString('utf8', at, end < 0 ? at + most : Math.min(end, at + most));
}
