/** Checks that the programs of workloads can be started, before anything is measured. */
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { inPath } from '../../systems/input/in-path.js';
import type { System } from '../../systems/system.js';
import { isScene, programsIn } from '../scene/scene-type.js';
import type { Workload } from '../workload-type.js';

/**
 * Whether the program is started on this machine. A prefix may start it elsewhere, as in a container, where its file
 * cannot be checked from here.
 */
const startsHere = ({ startsElsewhere, source }: System): boolean =>
  !startsElsewhere && source?.settings.prefix === undefined;

/** Checks that each program and its directory exist. Throws UsageError. */
export function checkPrograms(
  workloads: readonly Workload[],
  systems: readonly System[],
  caller: NodeJS.ProcessEnv,
): void {
  const startsAny = systems.some(startsHere);
  for (const workload of workloads) {
    for (const program of programsIn(workload)) {
      const name = isScene(workload) ? `${workload.name}/${program.name}` : workload.name;
      checkFolder(name, program);
      if (startsAny) checkProgram(program.argv[0] ?? '', { ...program, name }, caller);
    }
    checkFolder(workload.name, workload);
    for (const key of ['setup', 'teardown'] as const)
      for (const [program = ''] of workload[key])
        checkProgram(program, { ...workload, name: `${key} of ${workload.name}` }, caller);
  }
}

function checkFolder(name: string, { cwd }: Workload): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new UsageError(
    `Expected folder of ${name} to be a directory but received ${quoted(cwd)}: make it, or correct it.`,
  );
}

function checkProgram(program: string, { name, cwd, env }: Workload, caller: NodeJS.ProcessEnv): void {
  const refuse = (why: string) =>
    new UsageError(`Expected ${name} to be a program that can be started but received ${quoted(program)}: ${why}.`);
  if (!program.includes('/')) {
    if (inPath(program, env.PATH ?? caller.PATH ?? '') !== null) return;
    throw refuse('it is in no folder of PATH; install it, or give its path');
  }
  const path = resolve(cwd, program);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw refuse('there is no such file');
  if (!found.isFile()) throw refuse('it is not a regular file');
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw refuse('it is not executable; chmod +x makes it so, or start it with its interpreter');
  }
}
