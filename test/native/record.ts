/**
 * Reads the records of the simulated driver and the interposer: native/record/call_log.h, one file per process and
 * library.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../lib/stats/median.js';
import { serialMedian } from '../../lib/stats/serial.js';
import type { Truth } from './recovered.js';

/** Times in ns of CLOCK_MONOTONIC_RAW, which all processes of a machine share. */
export interface RecordedCall {
  name: string;
  entered: number;
  left: number;
  /**
   * Start and end: of a launch, its first and last instruction; of a locked hook, the time in which it held the lock.
   */
  begins: number;
  ends: number;
  bytes: number;
  thread: number;
  /** Name of the kernel, at most 15 characters. */
  kernel: string;
  /** Whether it is the interposer's hook, as opposed to the driver's call that follows. */
  hook: boolean;
}

export interface ProcessRecord {
  pid: number;
  /** Cost of one reading of the clock in that process. */
  readingNs: number;
  /** Calls in the order of their returns. */
  calls: RecordedCall[];
}

export interface Expected {
  samples: number;
  calls?: number;
  moreNs?: number;
  readings?: number;
  /** Unit of the estimate: 1e3 if it is in us. */
  unitNs?: number;
}

const HEADER_BYTES = 48;
const CALL_BYTES = 64;
/**
 * How many readings of the clock an estimate may differ from its record, for every call in it: only the estimate
 * includes the way into the driver and back, which costs more if other programs have evicted it from the caches (seen:
 * 4.2 readings beside two busy loops).
 */
export const CALL_READINGS = 8;
/**
 * The same for long calls: programs that share the processor's caches have evicted everything on the way back, some ten
 * lines of memory (seen: 11 readings after 1 ms).
 */
const LONG_CALL_READINGS = 40;
const LONG_CALL_NS = 50_000;
/** The same for a difference between calls, which both include that way. */
export const LOOP_READINGS = 4;
/**
 * What a recorded call takes to write its record, outside of its recorded time, beside programs that evict its caches
 * (seen: 0.3 us).
 */
export const WRITING_NS = 400;
/** An estimate with a wider relative interval recovers nothing, however disturbed the machine is. */
const WIDEST = 0.03;

/** The fraction of measured calls (at least one) that may be interrupted between call and reading. */
const INTERRUPTED = 0.02;

const interruptedOf = (values: readonly number[]): number => Math.max(1, Math.ceil(INTERRUPTED * values.length));

/** The largest change of the median if that many of the values are arbitrary. */
export function interruptedNs(values: readonly number[], count = interruptedOf(values)): number {
  const sorted = [...values].sort((a, b) => a - b);
  const last = sorted.length - 1;
  const at = (rank: number) => sorted[Math.min(Math.max(rank, 0), last)] as number;
  const middle = (moved: number) => (at(Math.floor(last / 2) + moved) + at(Math.ceil(last / 2) + moved)) / 2;
  return Math.max(middle(count) - middle(0), middle(0) - middle(-count));
}

/** The first bytes of a file; a record has room for many more calls than were made. */
function firstBytes(file: string, length: number): Buffer {
  const open = openSync(file, 'r');
  try {
    const data = Buffer.alloc(length);
    return data.subarray(0, readSync(open, data, 0, length, 0));
  } finally {
    closeSync(open);
  }
}

function read(file: string, pid: number): ProcessRecord {
  const header = firstBytes(file, HEADER_BYTES);
  const end = Number(header.readBigInt64LE(32)) + Number(header.readBigInt64LE(16)) * CALL_BYTES;
  const data = firstBytes(file, end);
  const number = (at: number) => Number(data.readBigInt64LE(at));
  if (data.toString('latin1', 0, 8) !== 'gvbcalls') throw new Error(`${file} holds no record of calls.`);
  const [capacity, added, namesBytes, callsAt] = [8, 16, 24, 32].map(number) as [number, number, number, number];
  if (added > capacity) throw new Error(`${file} has room for ${capacity} calls, but ${added} were made.`);
  const names = data.toString('latin1', HEADER_BYTES, HEADER_BYTES + namesBytes).split('\n');
  const hook = names.includes('poll');
  const calls = Array.from({ length: added }, (_, i) => {
    const at = callsAt + i * CALL_BYTES;
    const kernel = data.toString('latin1', at + 48, at + CALL_BYTES).replace(/\0.*$/s, '');
    const times = { entered: number(at), left: number(at + 8), begins: number(at + 16), ends: number(at + 24) };
    const name = names[data.readUInt32LE(at + 40)] as string;
    return { name, hook, ...times, bytes: number(at + 32), thread: data.readUInt32LE(at + 44), kernel };
  });
  // A killed process may have reserved an entry without filling it.
  return { pid, readingNs: data.readDoubleLE(40), calls: calls.filter(({ left }) => left !== 0) };
}

/** Nothing, or zeros, are in the file of a process that was killed while it made its record: it has made no call. */
const isMade = (file: string): boolean => firstBytes(file, 8).some((byte) => byte !== 0);

/** Every file of the folder; a process that uses several recorded libraries has several. */
export const recordsIn = (folder: string): ProcessRecord[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.calls'))
    .filter((name) => isMade(join(folder, name)))
    .map((name) => read(join(folder, name), Number(name.split('-')[0])));

export const durationOf = ({ entered, left }: RecordedCall): number => left - entered;

/** The calls of one process, from all its recorded libraries. */
export class Recorded {
  readonly calls: RecordedCall[];
  readonly readingNs: number;
  readonly pid: number;

  constructor(records: readonly ProcessRecord[]) {
    if (records.length === 0) throw new Error('Nothing was recorded.');
    this.calls = records.flatMap(({ calls }) => calls).sort((a, b) => a.entered - b.entered);
    this.pid = records[0]?.pid ?? Number.NaN;
    this.readingNs = Math.max(...records.map(({ readingNs }) => readingNs));
  }

  named(name: string): RecordedCall[] {
    return this.calls.filter((call) => call.name === name && !call.hook);
  }

  hooked(name: string): RecordedCall[] {
    return this.calls.filter((call) => call.name === name && call.hook);
  }

  /**
   * The record with every hook joined with the driver's call that follows, which is the call that the program sees.
   */
  joined(): Recorded {
    const open = new Map<string, RecordedCall>();
    const calls = this.calls.flatMap((call) => {
      const key = `${call.thread} ${call.name}`;
      const hook = open.get(key);
      // A function that the interposer replaces is recorded twice: its hook, and the whole replacement.
      if (call.hook) open.set(key, hook ? { ...hook, left: call.left } : call);
      else open.delete(key);
      return call.hook ? [] : [hook ? { ...call, entered: hook.entered, left: Math.max(call.left, hook.left) } : call];
    });
    return new Recorded([{ pid: this.pid, readingNs: this.readingNs, calls }]);
  }

  /** The calls of that name whose predecessor in the same thread, of any name, satisfies `fits`. */
  following(name: string, fits: (before: RecordedCall, call: RecordedCall) => boolean): RecordedCall[] {
    const last = new Map<number, RecordedCall>();
    return this.calls.filter((call) => {
      const before = last.get(call.thread);
      last.set(call.thread, call);
      return call.name === name && before !== undefined && fits(before, call);
    });
  }

  /**
   * The expected median of `samples` over these calls. Around every call the caller reads the clock once, and so does
   * the record: these readings are expected. `readings` of them are allowed on either side (default: depends on the
   * length of the call). `calls`: recorded calls per sample; `moreNs`: further tolerance, with its own reason.
   */
  truth(valuesNs: readonly number[], { samples, calls = 1, moreNs = 0, readings, unitNs = 1 }: Expected): Truth {
    const { value, ci95: independent } = median(valuesNs);
    const ci95 = serialMedian(valuesNs).ci95 ?? independent;
    const allowed = readings ?? (value / calls < LONG_CALL_NS ? CALL_READINGS : LONG_CALL_READINGS);
    if (!ci95) throw new Error(`A median of ${valuesNs.length} recorded calls has no interval.`);
    const ownNs = 2 * calls * this.readingNs;
    const tolerance = allowed * calls * this.readingNs + moreNs;
    // The estimate's interval is at most as wide as that of as many recorded calls or, since intervals of medians vary
    // themselves, not wide for the value.
    const halfWidth = ((ci95[1] - ci95[0]) / 2) * Math.max(1, Math.sqrt(valuesNs.length / samples));
    return {
      truth: (value + ownNs) / unitNs,
      tolerance: tolerance / unitNs,
      resolution: Math.max(tolerance + 2 * halfWidth, WIDEST * value) / unitNs,
    };
  }

  /**
   * The same for a median of the very same calls: their variation does not excuse an error. A number of them may be
   * interrupted between the call and the reading of the clock, for any time, which changes the rank of each value.
   */
  truthOfSameCalls(
    valuesNs: readonly number[],
    expected: Omit<Expected, 'samples'>,
    interrupted = interruptedOf(valuesNs),
  ): Truth {
    const moreNs = (expected.moreNs ?? 0) + interruptedNs(valuesNs, interrupted);
    const truth = this.truth(valuesNs, { ...expected, moreNs, samples: valuesNs.length });
    // The same applies to the upper end of the interval, which may have any value if no call of that rank is left.
    const sorted = [...valuesNs].sort((a, b) => a - b);
    const [low, high] = median(sorted).ci95 as [number, number];
    const end = sorted[sorted.lastIndexOf(high) + interrupted] ?? Number.POSITIVE_INFINITY;
    const widest = (end - low) / 2 / (expected.unitNs ?? 1) + truth.tolerance;
    return { ...truth, resolution: Math.max(truth.resolution, widest), sameCalls: true };
  }
}

export const recordedIn = (folder: string): Recorded => new Recorded(recordsIn(folder));

/** One record per process, in the order of their first calls. */
export function recordedByProcess(folder: string): Recorded[] {
  const records = recordsIn(folder).filter(({ calls }) => calls.length > 0);
  return [...new Set(records.map(({ pid }) => pid))]
    .map((pid) => new Recorded(records.filter((record) => record.pid === pid)))
    .sort((a, b) => (a.calls[0]?.entered ?? 0) - (b.calls[0]?.entered ?? 0));
}
