/** The windows in which processes of the simulated card read memory, from its record. */
import type { MetricResult } from '../../../lib/results/document.js';
import { recordedByProcess } from '../../native/record.js';
import { type Measured, undisturbedRecord } from '../../undisturbed.js';
import { busyIn, type Kernel } from '../isolation/shares.js';

/** Names of kernels in the record: at most 15 characters. */
const READ = 'gvb_bandwidth_r';
const WRITE = 'gvb_bandwidth_w';

export type Window = readonly Kernel[];

/** The kernels of every window in which a process read, by process. A kernel that fills the buffer precedes each window. */
export const streamWindows = (folder: string): Window[][] =>
  recordedByProcess(folder)
    .map(({ calls }) => {
      const windows: Kernel[][] = [];
      for (const call of calls)
        if (call.kernel === WRITE) windows.push([]);
        else if (call.kernel === READ) windows.at(-1)?.push(call);
      return windows.filter((kernels) => kernels.length > 0);
    })
    .filter((windows) => windows.length > 0);

/** When a window began and ended on the card's time. */
export const spanOf = (window: Window): { from: number; to: number } => ({
  from: (window[0] as Kernel).begins,
  to: (window.at(-1) as Kernel).ends,
});

/** The time that all windows have in common. */
export function commonTime(windows: readonly Window[]): { from: number; to: number } {
  const spans = windows.map(spanOf);
  return { from: Math.max(...spans.map(({ from }) => from)), to: Math.min(...spans.map(({ to }) => to)) };
}

/**
 * The least part of a window in which its process had a kernel on the card, where contexts run concurrently. Several are
 * in flight, so it has none only while a busy machine keeps the process from launching.
 */
const LEAST_BUSY = 0.97;

function busyPart(window: Window): number {
  const { from, to } = spanOf(window);
  return busyIn(window, from, to) / (to - from);
}

/** Measures again while the machine kept a process from launching in one of the windows that a test looks at. */
export const undisturbedStreams = (
  run: (record: string) => Promise<MetricResult>,
  windowsIn: (record: string) => readonly Window[],
): Promise<Measured> =>
  undisturbedRecord(run, ({ record }) => {
    const least = Math.min(...windowsIn(record).map(busyPart));
    return least >= LEAST_BUSY ? null : `a process used the card for ${least.toFixed(2)} of its time`;
  });
