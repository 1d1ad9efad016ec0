/**
 * Runs the built library in its own process, because GVB_SIM is read once per process, which keeps the driver it
 * loaded. Each process gets its own simulated card, an empty HOME and a deadline.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { MetricResult } from '../../lib/results/document.js';
import type * as functions from '../../lib/metrics/functions.js';
import type { MeasureOptions } from '../../lib/metrics/core/metric.js';
import { emptyFolder } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';
import { ownRegion } from '../temporary.js';
import { recordedByProcess, recordedIn } from './record.js';

export { addonFile, cardIn, emptyFolder, hasDriver, root, shortCalls, simulatedFolder } from '../cli/command.js';

export type Settings = Readonly<Record<string, number | string>>;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  durationMs: number;
}

export interface ChildOptions {
  sim?: Settings;
  environment?: NodeJS.ProcessEnv;
  nodeOptions?: readonly string[];
}

/** Runs a script of fixtures/, or one given by its absolute path. */
export function script(name: string, args: readonly string[], options: ChildOptions = {}): Promise<Ended> {
  const settings = Object.entries({ ...options.sim, region: ownRegion('native') }).map(
    ([key, value]) => `${key}=${value}`,
  );
  const file = resolve(fileURLToPath(new URL('fixtures', import.meta.url)), name);
  const from = performance.now();
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), file, ...args], {
    env: { PATH: process.env.PATH, HOME: emptyFolder(), GVB_SIM: settings.join(','), ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WAIT_MS,
    killSignal: 'SIGKILL',
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk;
  });
  return new Promise((ended, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => ended({ code, signal, ...said, durationMs: performance.now() - from }));
  });
}

/** The JSON output of a script that ends well. */
export async function answerOf<T>(name: string, args: readonly string[], options?: ChildOptions): Promise<T> {
  const { code, signal, stdout, stderr } = await script(name, args, options);
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
  return JSON.parse(stdout) as T;
}

/** Runs one scenario of fixtures/scenarios.mjs. */
export const scenario = <T>(name: string, options?: ChildOptions): Promise<T> =>
  answerOf<T>('scenarios.mjs', [name], options);

export type MeasureFunction = keyof typeof functions;
export type Request = readonly [name: MeasureFunction, options?: Omit<MeasureOptions, 'signal' | 'onProgress'>];

export interface Answer {
  result?: MetricResult;
  /** `step` of every progress callback. */
  steps: string[];
  fractions: number[];
  error?: { name: string; code: unknown; call: unknown; message: string };
}

/** Measures on the simulated GPU, one request after the other in one process. */
export const attempt = (requests: readonly Request[], options?: ChildOptions): Promise<Answer[]> =>
  answerOf<Answer[]>('measure.mjs', [JSON.stringify(requests)], options);

export async function measure(requests: readonly Request[], options?: ChildOptions): Promise<MetricResult[]> {
  return (await attempt(requests, options)).map(({ result, error }) => {
    if (!result) throw new Error(`${error?.name}: ${error?.message}`);
    return result;
  });
}

async function recording(requests: readonly Request[], { sim, environment, ...options }: ChildOptions) {
  const record = emptyFolder();
  const settings = {
    ...options,
    sim: { ...sim, record },
    environment: { ...environment, GVB_INTERPOSE_RECORD: record },
  };
  return { results: await measure(requests, settings), record };
}

/** Returns the results and the records of the simulated driver and the interposer. */
export async function measureRecorded(requests: readonly Request[], options: ChildOptions = {}) {
  const { results, record } = await recording(requests, options);
  return { results, recorded: recordedIn(record) };
}

/** The same for metrics that start processes, with one record per process in the order of their starts. */
export async function measureProcesses(requests: readonly Request[], options: ChildOptions = {}) {
  const { results, record } = await recording(requests, options);
  return { results, processes: recordedByProcess(record) };
}
