/** The latency-sensitive tenant: requests at a fixed rate, whether or not the previous one is done. */
import { mean } from 'simple-statistics';
import type { Check } from '../../results/document.js';
import type { Requests, RequestsRequest } from '../../native/addon-types.js';
import { median, type MedianEstimate } from '../../stats/median.js';
import { serialMedian } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import { NS_PER_MS, scaled } from '../core/units.js';

export const PERIOD_NS = 5_000_000;
/** 200 requests per second, each with 20 kernels of 50 µs, one after the other, and a copy of 64 KiB to the host. */
export const VICTIM: Pick<RequestsRequest, 'periodNs' | 'kernels' | 'kernelNs' | 'bytes'> = {
  periodNs: PERIOD_NS,
  kernels: 20,
  kernelNs: 50_000,
  bytes: 65_536,
};
export const VICTIM_NAME = '200 requests/s of 20 kernels of 50 us and 64 KiB to the host';

/** The requests that arrived in a part of the window. */
export interface Served {
  /** Latency of every request that arrived; for a dropped one, how long it had waited by then. */
  latencyNs: number[];
  deviceNs: number[];
  /** Time of each request from its arrival, or from the end of the previous request, until its end. */
  serviceNs: number[];
  givenUp: number;
  /** The number of requests that were done by the end of the part, of those that could have been. */
  onTime: number;
  due: number;
  smClockMhz: number | null;
}

/** `fromNs` and `toNs` count from the release, like the times in `requests`. */
export function servedIn(requests: Requests, fromNs: number, toNs: number): Served {
  const { arrivedNs, latencyNs, deviceNs, offered, endedNs, smClockMhz } = requests;
  const out: Served = { latencyNs: [], deviceNs: [], serviceNs: [], givenUp: 0, onTime: 0, due: 0, smClockMhz };
  for (let i = 0; i < offered; i++) {
    const arrived = arrivedNs[i] ?? i * PERIOD_NS;
    if (arrived < fromNs || arrived > toNs) continue;
    const served = i < latencyNs.length;
    const latency = served ? (latencyNs[i] as number) : endedNs - arrived;
    out.latencyNs.push(latency);
    if (served) {
      const before = i === 0 ? arrived : (arrivedNs[i - 1] as number) + (latencyNs[i - 1] as number);
      out.deviceNs.push(deviceNs[i] as number);
      out.serviceNs.push(arrived + latency - Math.max(arrived, before));
    } else out.givenUp++;
    if (arrived > toNs - PERIOD_NS) continue;
    out.due++;
    if (served && arrived + latency <= toNs) out.onTime++;
  }
  return out;
}

export function pooled(all: readonly Served[]): Served {
  const sum = (of: (served: Served) => number) => all.reduce((total, served) => total + of(served), 0);
  return {
    latencyNs: all.flatMap(({ latencyNs }) => latencyNs),
    deviceNs: all.flatMap(({ deviceNs }) => deviceNs),
    serviceNs: all.flatMap(({ serviceNs }) => serviceNs),
    givenUp: sum(({ givenUp }) => givenUp),
    onTime: sum(({ onTime }) => onTime),
    due: sum(({ due }) => due),
    smClockMhz: all.map(({ smClockMhz }) => smClockMhz).find((mhz) => mhz !== null) ?? null,
  };
}

/** Largest share of its time in which the victim may be busy; above it, it falls behind. */
const MOST_BUSY_PERCENT = 95;
/** The share of requests that may be dropped when alone: a machine that stops the client for a moment costs a few. */
const MOST_GIVEN_UP = 0.01;

/** Share of the time in which requests kept the victim busy, in per cent. */
const busyPercent = ({ serviceNs }: Served): number =>
  serviceNs.length === 0 ? 0 : (100 * mean(serviceNs)) / PERIOD_NS;

/**
 * Whether requests arrive faster than they are served: their latency then grows for as long as it is measured. So it is
 * where the median is of requests that were given up, of which only a part of the latency is known.
 */
export const isOverloaded = (served: Served): boolean =>
  busyPercent(served) > MOST_BUSY_PERCENT || (served.givenUp > 0 && 2 * served.givenUp >= served.latencyNs.length);

/**
 * Whether the victim, alone, keeps up with its requests: otherwise its latency beside a neighbour says nothing about
 * the neighbour.
 */
export function offeredRateMet(alone: Served): Check {
  const { latencyNs, serviceNs, givenUp } = alone;
  const offered = latencyNs.length;
  const served = serviceNs.length > 0 && givenUp <= MOST_GIVEN_UP * offered;
  return {
    name: 'the offered rate was met alone',
    passed: served && !isOverloaded(alone),
    detail: `requests kept it busy for ${busyPercent(alone).toFixed(1)} % of the time, ${givenUp} of ${offered} were given up`,
  };
}

export const p50Ms = ({ latencyNs }: Served): MedianEstimate => scaled(serialMedian(latencyNs), NS_PER_MS);

/** Null with too few samples for a 99th percentile. */
export function p99Ms({ latencyNs }: Served): number | null {
  const p99 = summarise(latencyNs)?.p99 ?? null;
  return p99 === null ? null : p99 / NS_PER_MS;
}

export const deviceMs = ({ deviceNs }: Served): number | null =>
  deviceNs.length === 0 ? null : median(deviceNs).value / NS_PER_MS;
