/** Whether what a step needs is there. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { listed } from '../errors/listed.js';
import { inPath } from '../systems/input/in-path.js';
import { runCommand } from '../systems/process/command.js';
import type { PlannedStep, Study } from './study-settings.js';
import type { StepOutcome } from './study-record.js';

/** Much of what a list of packages is. */
const MOST_CHARACTERS = 65_536;

interface Needs {
  found: StepOutcome['found'];
  /** Why the step cannot run here, or null. */
  missing: string | null;
}

/** No shell reads the commands. */
export async function needsOf(
  { needs, lacks }: PlannedStep,
  { folder, parameters }: Pick<Study, 'folder' | 'parameters'>,
  environment: NodeJS.ProcessEnv,
): Promise<Needs> {
  const given = lacks.map((name) => `--set ${name}=… (${parameters?.get(name)?.what ?? name})`);
  if (given.length > 0) return { found: [], missing: `it needs ${listed(given)}` };
  const found: Needs['found'] = [];
  const missing: string[] = [];
  for (const need of needs) {
    const { printed, why } = await look(need, folder, environment);
    if (printed !== undefined) found.push({ what: need.what, printed });
    else missing.push(`${need.what} (${why})`);
  }
  return { found, missing: missing.length === 0 ? null : `missing here: ${missing.join('; ')}` };
}

type Looked = { printed: string; why?: undefined } | { printed?: undefined; why: string };

async function look(
  { program, file, try: argv }: PlannedStep['needs'][number],
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<Looked> {
  if (argv === undefined) {
    const path = program?.includes('/') === false ? inPath(program, environment.PATH ?? '') : resolve(folder, program ?? file ?? ''); // prettier-ignore
    const isThere = path !== null && (await stat(path).catch(() => null)) !== null;
    return isThere ? { printed: path } : { why: `there is no ${program ?? file}${path === null ? ' in PATH' : ''}` };
  }
  const options = { environment, cwd: folder, stdoutLimit: MOST_CHARACTERS };
  const { exit, how, output, stdout } = await runCommand(argv, options);
  return exit === 0 ? { printed: stdout.trim() } : { why: `${argv[0]} ${how}${lastLine(output)}` };
}

function lastLine(output: string): string {
  const last = output.trim().split('\n').at(-1) ?? '';
  return last === '' ? '' : `: ${last.slice(0, 200)}`;
}
