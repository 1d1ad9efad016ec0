import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Comparing } from '../../../lib/cli/comparing/comparing-task.js';
import { displayed } from '../../../lib/cli/comparing/comparison-hooks.js';
import { type ProgressDisplay, progressDisplay } from '../../../lib/cli/terminal/progress.js';
import type { MetricDefinition } from '../../../lib/metrics/core/metric.js';
import type { System } from '../../../lib/systems/system.js';

describe('progress without a terminal on stderr', () => {
  const lines: string[] = [];
  const isTTY = process.stderr.isTTY;
  beforeEach(() => {
    vi.useFakeTimers();
    process.stderr.isTTY = false;
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    process.stderr.isTTY = isTTY;
    lines.length = 0;
  });

  it('reports what it waits for after ten seconds without a line, then every minute', () => {
    const progress = progressDisplay();
    progress.doing('waiting for the worker process to start');
    vi.advanceTimersByTime(9_000);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual(['Still running (no output for 10 s): waiting for the worker process to start\n']);
    progress.doing('waiting for \u001b[31mthe driver');
    vi.advanceTimersByTime(59_000);
    expect(lines).toHaveLength(1);
    vi.advanceTimersByTime(1_000);
    expect(lines[1]).toBe('Still running (no output for 60 s): waiting for the driver\n');
    progress.stop();
    vi.advanceTimersByTime(600_000);
    expect(lines).toHaveLength(2);
  });

  it('counts from the last line', () => {
    const progress = progressDisplay();
    progress.doing('OH-001');
    vi.advanceTimersByTime(9_000);
    progress.aside(() => {});
    vi.advanceTimersByTime(9_000);
    expect(lines).toEqual([]);
    progress.stop();
  });
});

it('is plain ASCII on a terminal whose locale has no UTF-8', () => {
  vi.useFakeTimers();
  for (const [name, value] of Object.entries({ LC_ALL: 'C', TERM: 'xterm', CI: undefined })) vi.stubEnv(name, value);
  let written = '';
  const write = (text: string) => (written += text) !== '';
  const still = () => true;
  const terminal = { isTTY: true, columns: 80, write, cursorTo: still, moveCursor: still, clearLine: still };
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(terminal as unknown as typeof process.stderr);
  try {
    const progress = progressDisplay();
    progress.doing('2 × 3 …');
    vi.advanceTimersByTime(3_000);
    progress.stop();
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    vi.useRealTimers();
  }
  expect(written).toContain('2 x 3 ... (3 s)');
  expect(written).toMatch(/^[\0-\x7f]+$/);
});

it('a comparison names the program that runs, not the first of its metrics that is asked', () => {
  const said: string[] = [];
  const progress = { doing: (text: string) => said.push(text) } as unknown as ProgressDisplay;
  const system = { name: 'native' } as System;
  const task = { comparison: { systems: [system] }, gating: null } as unknown as Comparing;
  const { onRound, onMetric, onProgress } = displayed(task, progress, 'out', [], 'round');
  onRound(0, system, null);
  for (const id of ['OH-001', 'decode@batch=8/energy']) {
    onMetric({ id } as MetricDefinition);
    onProgress({ id, step: 'run 1 of 2', fraction: 0 });
  }
  expect(said.slice(1)).toEqual([
    'round 1, native: OH-001',
    'round 1, native: OH-001 run 1 of 2',
    'round 1, native: decode@batch=8',
    'round 1, native: decode@batch=8 run 1 of 2',
  ]);
});
