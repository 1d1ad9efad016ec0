/** A program that was started for a run, with who checkpoints and ends it: under a keeper, or in a container that stays. */
import type { ProgramEnding } from '../../checkpoint/guarded-program.js';
import type { RotatingProgram } from '../../checkpoint/rotating-program.js';
import { keeperOrThrow } from '../../native/load.js';
import { GRACE_MS, KeptProgram, type RunningProgram, STRAGGLER_MS } from '../../workers/kept-program.js';
import type { RemoteCommand } from '../../workers/launcher.js';
import { BoxedCheckpoints } from '../checkpoint/boxed-checkpoints.js';
import type { Checkpointing, Surroundings } from '../checkpoint/checkpointing.js';
import type { ProgramCheckpoints } from '../checkpoint/program-checkpoints.js';

export interface StartedProgram {
  program: RunningProgram;
  /** What of it is elsewhere; null: nothing. */
  remote: Pick<RemoteCommand, 'where' | 'isParent' | 'remove'> | null;
  /** Who ends it; null: its keeper. */
  ending: Pick<ProgramEnding, 'left' | 'kills'> | null;
  end: () => void;
  endStragglers: () => Promise<void>;
  /** Does nothing where it is not to be checkpointed. */
  checkpoint: (surroundings: Omit<Surroundings<never>, 'program'>) => Promise<void>;
}

interface Start {
  command: readonly string[];
  cwd: string;
  /** Environment of the program, also of one in a container that stays. */
  environment: NodeJS.ProcessEnv;
  remote: RemoteCommand | null;
  checkpoints: ProgramCheckpoints | BoxedCheckpoints | undefined;
  turns: RotatingProgram | undefined;
}

/** How long a container runtime may take to clean up after the program has ended, on a busy machine. */
const REMOVAL_MS = 20_000;

export function startProgram({ command, cwd, environment, remote, checkpoints, turns }: Start): StartedProgram {
  if (checkpoints instanceof BoxedCheckpoints) {
    const boxed = checkpoints.start(command, { environment, cwd });
    return { ...ended(boxed, checkpoints), ...checkpointed(boxed, checkpoints), remote: boxed };
  }
  const program = new KeptProgram(remote?.argv ?? command, {
    keeper: keeperOrThrow(),
    environment: remote?.environment ?? environment,
    cwd: remote ? '/' : cwd,
    stragglerMs: remote ? REMOVAL_MS : STRAGGLER_MS,
    // The runtime ends it before: a client that is killed leaves its container behind.
    graceMs: remote ? GRACE_MS + REMOVAL_MS : GRACE_MS,
    isGuardable: (checkpoints ?? turns) !== undefined,
    waits: turns !== undefined,
  });
  // Whoever reads its output does so before it can begin.
  queueMicrotask(() => turns?.enter(program));
  return { ...ended(program, checkpoints ?? turns), ...checkpointed(program, checkpoints), remote };
}

const ended = <Program extends RunningProgram & { stop: () => void }>(
  program: Program,
  ending: ProgramEnding<Program> | undefined,
): Pick<StartedProgram, 'program' | 'ending' | 'end' | 'endStragglers'> => ({
  program,
  ending: ending ?? null,
  end: () => (ending ? void ending.end(program) : program.stop()),
  endStragglers: async () => ending?.endStragglers(program),
});

const checkpointed = <Program extends RunningProgram>(
  program: Program,
  checkpoints: Checkpointing<Program> | undefined,
): Pick<StartedProgram, 'checkpoint'> => ({
  checkpoint: async (surroundings) => checkpoints?.run({ ...surroundings, program }),
});
