import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { besideNvml } from '../../../lib/metrics/isolation/shared/nvml-utilization.js';
import type { GpuUtilization } from '../../../lib/native/addon-types.js';
import { truthBy } from '../../../lib/native/ground-truth.js';
import { gpuState } from '../run/fixtures.js';

const PID = 10;

/** Returns the answers in turn; the last one repeatedly. */
function truthOf(answers: readonly (GpuUtilization | null)[]) {
  const asked: number[] = [];
  const truth = truthBy({
    state: () => Promise.resolve(gpuState({})),
    xids: () => Promise.resolve({ events: [] }),
    utilization: (sinceMs) => Promise.resolve(answers[Math.min(asked.push(sinceMs), answers.length) - 1] ?? null),
  });
  return { truth, asked };
}

/** Resolves after that many answers. */
async function after(count: number, asked: readonly number[]): Promise<string> {
  while (asked.length < count) await sleep(5);
  return 'done';
}

const process = (atUs: number, smPercent: number, pid = PID) => ({ pid, atUs, smPercent });

it("is the mean of NVML's readings of the card, and of its distinct samples of the process", async () => {
  const { truth, asked } = truthOf([
    { gpuPercent: 100, processes: [process(1, 40), process(1, 90, 11)] },
    { gpuPercent: 100, processes: [process(1, 40)] },
    { gpuPercent: 70, processes: [process(2, 50)] },
  ]);
  const before = Date.now();
  const [result, nvml] = await besideNvml({ truth, pid: PID, dropMs: 0 }, () => after(3, asked));
  expect(result).toBe('done');
  expect(nvml).toEqual({ gpuPercent: 90, processPercent: 45, readings: 3 });
  expect(new Set(asked).size).toBe(1);
  expect(asked[0]).toBeGreaterThanOrEqual(before);
});

it.each([
  [[{ gpuPercent: 100, processes: [process(1, 90, 11)] }], 100, 'NVML listed no utilisation of the process'],
  [[{ gpuPercent: 100, processes: null }], 100, 'NVML does not report the utilisation of processes'],
  [[null], null, 'NVML does not report the utilisation of the card; NVML does not report the utilisation of processes'],
])('is null with a reason if NVML does not report it: %j', async (answers, gpuPercent, reason) => {
  const { truth, asked } = truthOf(answers);
  const [, nvml] = await besideNvml({ truth, pid: PID, dropMs: 0 }, () => after(1, asked));
  expect(nvml).toEqual({ gpuPercent, processPercent: null, readings: 1, reason });
});

it('is null with a reason if the coordinator has no NVML', async () => {
  const [, nvml] = await besideNvml({ truth: null, pid: PID, dropMs: 0 }, () => Promise.resolve());
  expect(nvml).toEqual({
    ...{ gpuPercent: null, processPercent: null, readings: 0 },
    reason: 'the coordinator sees the GPU through the layer',
  });
});

it("is NVML's reading at the end of a load that is shorter than the delay", async () => {
  const { truth, asked } = truthOf([{ gpuPercent: 98, processes: [process(1, 31)] }]);
  const [, nvml] = await besideNvml({ truth, pid: PID, dropMs: 60_000 }, () => Promise.resolve());
  expect(nvml).toEqual({ gpuPercent: 98, processPercent: 31, readings: 1 });
  expect(asked).toHaveLength(1);
});

it('reports that NVML cannot be read, and keeps the load', async () => {
  const { truth } = truthOf([]);
  const utilization = () => Promise.reject(new Error('the driver is gone'));
  const watched = { truth: { ...truth, utilization }, pid: PID, dropMs: 60_000 };
  const [result, nvml] = await besideNvml(watched, () => Promise.resolve('done'));
  expect([result, nvml.gpuPercent, nvml.processPercent]).toEqual(['done', null, null]);
  expect(nvml.reason).toMatch(/^NVML could not be read: the driver is gone; /);
});

it('stops reading if the load fails, and rejects with its error', async () => {
  const { truth, asked } = truthOf([{ gpuPercent: 100, processes: [] }]);
  const failing = async () => {
    await after(1, asked);
    throw new Error('the load failed');
  };
  await expect(besideNvml({ truth, pid: PID, dropMs: 0 }, failing)).rejects.toThrow('the load failed');
});
