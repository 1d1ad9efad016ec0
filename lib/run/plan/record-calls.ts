/** Runs a program with its driver calls counted, in all processes that it starts. */
import { rm } from 'node:fs/promises';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { type CallCounts, readCallCounts } from '../../native/call-counts.js';
import type { Phase } from '../../results/call-profile.js';
import { exportedSymbols } from '../../systems/proof/elf.js';
import { parseVariable } from '../../systems/proof/ld-preload.js';
import { loaderPath } from '../../systems/process/loader-path.js';
import { makeRunDirectory, removeAbandonedDirectories } from '../../systems/process/run-directory.js';
import { type ForegroundEnding, ForegroundProgram } from '../../workers/foreground.js';
import { LineSplitter } from '../../workers/lines.js';
import { MARKS, markIn, Phases, type Snapshot } from './phases.js';

/** A phase defined by the clock. */
export interface Window {
  name: string;
  /** Seconds from the program's start. */
  from: number;
  /** Duration in seconds; null: until the program ends. */
  for: number | null;
  steps: number | null;
}

interface RecordRequest {
  command: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Path of libgvb-count.so. */
  library: string;
  /** Path of gvb-keeper. */
  keeper: string;
  /** The phase by the clock; null: the program's output marks the phases. */
  window: Window | null;
  onStart: (program: ForegroundProgram) => void;
  onPhase: (what: string) => void;
  onWarning: (what: string) => void;
}

export interface Recording {
  phases: Phase[];
  counts: CallCounts;
  ending: ForegroundEnding;
}

/** Counts the calls of a program. Throws UsageError if it cannot be started, or could not be counted. */
export async function recordCalls(request: RecordRequest): Promise<Recording> {
  const preload = await preloads(request);
  await removeAbandonedDirectories();
  const folder = await makeRunDirectory('calls');
  try {
    const environment = { ...request.environment, LD_PRELOAD: preload, GVB_COUNT_FOLDER: folder };
    const { command, keeper, window } = request;
    const program = new ForegroundProgram({ command, environment, keeper, isRead: window === null });
    if ((await program.begun) === null)
      throw new UsageError(`Could not start ${quoted(command[0] ?? '')}: ${(await program.done).refused}.`);
    request.onStart(program);
    return await watched(request, program, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Puts the counting library first, so that it sees the calls of other preloaded libraries, e.g. an allocator. */
async function preloads({ environment, library }: RecordRequest): Promise<string> {
  const others = parseVariable(environment.LD_PRELOAD ?? '');
  for (const entry of others) {
    const exported = await exportedSymbols(entry);
    if (exported?.has('cuInit') || exported?.has('dlsym'))
      throw new UsageError(
        `Expected LD_PRELOAD to name no GPU layer but received ${quoted(entry)}: a call profile is of the program alone. Record it without the layer, then price it with compare --profile.`,
      );
  }
  return [await loaderPath(library), ...others].join(':');
}

async function watched(request: RecordRequest, program: ForegroundProgram, folder: string): Promise<Recording> {
  const phases = new Phases();
  const snapshot = (): Snapshot => {
    const before = performance.now();
    const { calls } = readCallCounts(folder);
    return { atMs: (before + performance.now()) / 2, calls };
  };
  const stop = request.window
    ? byClock(phases, request.window, request, snapshot)
    : byMarks(phases, program, request, snapshot);
  program.forward();
  const ending = await program.ended();
  stop();
  const counts = readCallCounts(folder);
  if (phases.open !== null) {
    if (!request.window || request.window.for !== null)
      request.onWarning(`phase ${phases.open} was still open when the program ended: it ends there`);
    phases.end(
      { steps: request.window?.steps ?? null, seconds: null },
      { atMs: performance.now(), calls: counts.calls },
    );
  }
  return { phases: phases.all, counts, ending };
}

/** Begins and ends a phase by the clock. Returns a function that stops it. */
function byClock(phases: Phases, window: Window, { onPhase }: RecordRequest, snapshot: () => Snapshot): () => void {
  const timers: NodeJS.Timeout[] = [];
  const begin = () => {
    // No calls were made before the first process created its file.
    phases.begin(window.name, window.from > 0 ? snapshot() : { atMs: performance.now(), calls: new Map() });
    if (window.from > 0) onPhase(`phase ${window.name} begins`);
    if (window.for !== null) timers.push(setTimeout(end, window.for * 1_000));
  };
  const end = () => {
    phases.end({ steps: window.steps, seconds: null }, snapshot());
    onPhase(`phase ${window.name} ends; the program goes on uncounted`);
  };
  if (window.from > 0) timers.push(setTimeout(begin, window.from * 1_000));
  else begin();
  return () => timers.forEach(clearTimeout);
}

function byMarks(
  phases: Phases,
  { stdout }: ForegroundProgram,
  { onPhase, onWarning }: RecordRequest,
  snapshot: () => Snapshot,
): () => void {
  const lines = new LineSplitter((line) => {
    const mark = markIn(line);
    if (mark === null) return;
    if ('wrong' in mark) return onWarning(`expected ${MARKS} but received ${quoted(mark.wrong)}`);
    if ('begins' in mark) {
      phases.begin(mark.begins, snapshot());
      return onPhase(`phase ${mark.begins} begins`);
    }
    if (phases.open === null) return onWarning('received gvb:end without a phase that has begun');
    const name = phases.open;
    phases.end(mark.ends, snapshot());
    onPhase(`phase ${name} ends`);
  });
  stdout?.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end());
  return () => {};
}
