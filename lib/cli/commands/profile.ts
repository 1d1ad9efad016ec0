/** `gpu-virt-bench profile -- COMMAND…` */
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { isatty } from 'node:tty';
import { readDriverFiles } from '../../environment/driver-files.js';
import { toolVersion } from '../../environment/tool.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { counterLibrary, keeperOrThrow } from '../../native/load.js';
import { profileSummary } from '../../report/formats/call-profile.js';
import { type CallProfile, type Phase, PROFILE_VERSION } from '../../results/call-profile.js';
import { plain } from '../../results/text/plain.js';
import { type Recording, recordCalls, type Window } from '../../run/plan/record-calls.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import type { ForegroundProgram } from '../../workers/foreground.js';
import { leftText } from '../../workers/kept-program.js';
import { exitCodes } from '../options/exit-codes.js';
import { InterruptedError } from '../process/interruption.js';
import { parseNumber } from '../options/options.js';
import { checkTarget, STDOUT, writeWhole } from '../files/output.js';
import { say, warn } from '../terminal/talk.js';

export interface RawProfileOptions {
  output: string;
  from?: string;
  for?: string;
  steps?: string;
  marks?: true;
  name?: string;
  origin?: string;
}

/** The name of the only phase, if none is marked. */
const PHASE = 'all';
const LONGEST_S = 30 * 86_400;
const LONGEST_NAME = 100;

export async function profile(command: string[], raw: RawProfileOptions): Promise<number> {
  const window = raw.marks ? null : parseWindow(raw);
  const name = parseName(raw.name ?? basename(command[0] ?? '').slice(0, LONGEST_NAME));
  await checkOutput(raw.output);
  const library = counterLibrary();
  if (library === null)
    throw new Error(
      'The counting library is missing: run npm run build:native in a checkout, else reinstall the package.',
    );
  const recordedAt = new Date().toISOString();
  const interruptions: NodeJS.Signals[] = [];
  const recording = await recordCalls({
    command,
    environment: callerEnvironment(),
    library,
    keeper: keeperOrThrow(),
    window,
    onStart: (program) => passSignals(program, interruptions),
    onPhase: say,
    onWarning: warn,
  });
  const made: CallProfile = {
    kind: 'call profile',
    schemaVersion: PROFILE_VERSION,
    tool: { name: 'gpu-virt-bench', version: toolVersion() },
    name,
    origin: originOf(recording, { command, recordedAt, note: raw.origin }),
    processes: { calling: recording.counts.calling, of: recording.counts.processes },
    phases: withCalls(recording, interruptions),
  };
  await writeWhole(raw.output, `${JSON.stringify(made, null, 2)}\n`);
  say(profileSummary(made));
  say(`Written to ${plain(raw.output)}; compare overhead --profile ${plain(raw.output)} prices it.`);
  const { code, how, left } = recording.ending;
  if (left !== null) warn(`the program left ${leftText(left)}: the profile is of what was done until then.`);
  if (interruptions.length > 0) return exitCodes.interrupted;
  if (code !== 0) warn(`the program ended with ${how}: the profile is of what it did until then.`);
  return code;
}

function parseWindow({ from, for: length, steps }: RawProfileOptions): Window {
  return {
    name: PHASE,
    from: from === undefined ? 0 : parseSeconds('--from', from),
    for: length === undefined ? null : parseSeconds('--for', length),
    steps: steps === undefined ? null : parseSteps(steps),
  };
}

function parseSeconds(option: string, text: string): number {
  const seconds = parseNumber(option, text);
  if (seconds > 0 && seconds <= LONGEST_S) return seconds;
  throw new UsageError(
    `Expected ${option} to be a number of seconds above 0 and up to ${LONGEST_S} but received ${quoted(text)}.`,
  );
}

function parseSteps(text: string): number {
  const steps = parseNumber('--steps', text);
  if (Number.isSafeInteger(steps) && steps >= 1) return steps;
  throw new UsageError(`Expected --steps to be an integer from 1 but received ${quoted(text)}.`);
}

function parseName(name: string): string {
  if (name !== '' && name.length <= LONGEST_NAME) return name;
  throw new UsageError(
    `Expected --name to be a text of 1 to ${LONGEST_NAME} characters but received ${quoted(name.slice(0, LONGEST_NAME))}.`,
  );
}

async function checkOutput(target: string): Promise<void> {
  if (target === STDOUT)
    throw new UsageError('Expected --output to be a file but received -: standard output is the program’s.');
  await checkTarget(target, '--output');
}

/**
 * A Ctrl-C at a terminal already reaches the program, so it is not forwarded. The second one kills the program; the
 * profile is written anyway.
 */
function passSignals(program: ForegroundProgram, interruptions: NodeJS.Signals[]): void {
  const isAtTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      interruptions.push(name);
      if (interruptions.length > 1) program.kill();
      else if (name !== 'SIGINT' || !isAtTerminal) void program.signal(name);
    });
}

function originOf(
  { counts: { driver }, ending }: Recording,
  { command, recordedAt, note }: { command: string[]; recordedAt: string; note: string | undefined },
): CallProfile['origin'] {
  const simulated = driver?.simulated ?? false;
  const { version, gpus } = simulated ? { version: null, gpus: [] } : readDriverFiles();
  return {
    ...(note !== undefined && { note }),
    command,
    recordedAt,
    ended: ending.how,
    simulated,
    driver: { libcuda: driver?.libcuda ?? null, version },
    gpus,
  };
}

/** Throws if nothing was counted: a profile without calls would price every program as free. */
function withCalls({ phases, counts, ending }: Recording, [interruption]: readonly NodeJS.Signals[]): Phase[] {
  if (counts.refused > 0)
    warn(`${counts.refused} functions that the program looked up have no counter: their calls are not in the profile.`);
  const [why] = counts.uncounted;
  if (why !== undefined)
    warn(
      `the calls of ${counts.uncounted.length === 1 ? 'one process' : `${counts.uncounted.length} processes`} are not in the profile: no file for them could be made in ${tmpdir()}: ${why}. Set TMPDIR to a folder with space, and raise the program's limit of file sizes (ulimit -f).`,
    );
  const kept = phases.filter(({ calls }) => Object.keys(calls).length > 0);
  for (const { name } of phases.filter((phase) => !kept.includes(phase)))
    if (kept.length > 0) warn(`phase ${name} made no driver call and is left out.`);
  if (kept.length > 0) return kept;
  if (interruption !== undefined) throw new InterruptedError(interruption);
  throw new Error(`No driver call was counted: ${whyNothing(counts, phases)} The program ended with ${ending.how}.`);
}

function whyNothing({ processes, calling }: Recording['counts'], phases: readonly Phase[]): string {
  if (processes === 0)
    return 'no process with the counting library used the driver. The program uses no CUDA, starts its CUDA processes elsewhere (a container, a daemon, ssh), is statically linked, set-user-ID or of another architecture, or clears LD_PRELOAD.';
  if (calling === 0)
    return `${processes === 1 ? 'one process' : `${processes} processes`} looked driver functions up and called none.`;
  if (phases.length === 0)
    return 'the driver was called, but no phase began. With --marks the program prints gvb:begin NAME and flushes; with --from it has to run for longer.';
  return 'the driver was called, but not in a phase. Let --from, --for or the marks hold the part of the program that matters.';
}
