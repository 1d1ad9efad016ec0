/** What a document says of the programs that it is about, beside their results. */
import { createHash } from 'node:crypto';
import { local } from '../../workers/local.js';
import { resolve } from 'node:path';
import { fileState } from '../../systems/proof/file-hash.js';
import { inPath } from '../../systems/input/in-path.js';
import { runCommand } from '../../systems/process/command.js';
import type { Role } from '../../workers/tenant-handle.js';
import { isScene } from '../scene/scene-type.js';
import { taskName } from './task-names.js';
import type { SceneTenant, TenantLimits } from '../workload-type.js';
import type { Workload } from '../workload-type.js';
import { publicValue } from '../../systems/input/spec.js';
import { loadRecord, publicUrl } from './secrets.js';

interface WorkloadRecord {
  name: string;
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  warmup: number;
  iterations: number;
  timeoutSeconds: number;
  load?: ReturnType<typeof loadRecord>;
  /** The file that is started; null where it is in no PATH of this machine, e.g. only in a container. */
  program: { path: string; state: string } | null;
  /** The commit of the working directory; null if it is in no repository. */
  git: { commit: string; hasChanges: boolean } | null;
  /**
   * A digest of all settings of the workload and of the program's file. Workloads with different digests are not the
   * same.
   */
  sha256: string;
  /** What the commands of its `record` printed, by name; null where one failed. Absent without such commands. */
  recorded?: Readonly<Record<string, string | null>>;
  /** The tenants of a scene; absent for other workloads. */
  tenants?: readonly TenantRecord[];
}

type TenantRecord = { name: string; role: Role; limits: TenantLimits } & (
  { task: string } | Pick<WorkloadRecord, 'argv' | 'cwd' | 'env' | 'program' | 'git' | 'sha256'>
);

function programFile({ argv, cwd, env }: Workload, caller: NodeJS.ProcessEnv): string | null {
  const [program = ''] = argv;
  return program.includes('/') ? resolve(cwd, program) : inPath(program, env.PATH ?? caller.PATH ?? '');
}

export async function recordOf(workload: Workload, caller: NodeJS.ProcessEnv): Promise<WorkloadRecord> {
  const { name, argv, cwd, warmup, iterations, timeoutSeconds, metrics } = workload;
  const path = programFile(workload, caller);
  const state = path === null ? null : await fileState(path).catch(() => null);
  const env = Object.fromEntries(Object.entries(workload.env).map(([key, value]) => [key, publicValue(key, value)]));
  const program = path === null || state === null ? null : { path, state };
  const patterns = metrics.map(({ pick }) => (pick.by === 'regex' ? pick.pattern.source : pick.pointer));
  const load = workload.load && loadRecord(workload.load);
  const shown = { env, load, body: workload.load?.body, ready: publicReadiness(workload.ready), cwd: null };
  const { tenants: _tenants, ...settings } = workload;
  const tenants = isScene(workload) && (await Promise.all(workload.tenants.map((each) => tenantRecord(each, caller))));
  const own = [{ ...settings, ...shown }, patterns, program?.state ?? null];
  const hashed = JSON.stringify(tenants ? [...own, tenants.map((each) => ({ ...each, cwd: null, git: null }))] : own);
  return {
    name,
    argv,
    cwd,
    env,
    warmup,
    iterations,
    timeoutSeconds,
    ...(load && { load }),
    program,
    git: await gitState(cwd),
    sha256: createHash('sha256').update(hashed).digest('hex'),
    ...(workload.record && { recorded: await printedBy(workload.record, cwd, caller) }),
    ...(tenants && { tenants }),
  };
}

const publicReadiness = (ready: Workload['ready']): Workload['ready'] =>
  ready?.by === 'http' ? { ...ready, url: publicUrl(ready.url) } : ready;
async function tenantRecord(tenant: SceneTenant, caller: NodeJS.ProcessEnv): Promise<TenantRecord> {
  const { name, role, limits } = tenant;
  if ('task' in tenant) return { name, role, limits, task: taskName(tenant.task) };
  const { argv, cwd, env, program, git, sha256 } = await recordOf(tenant.program, caller);
  return { name, role, limits, argv, cwd, env, program, git, sha256 };
}

/** Much longer than a list of packages. */
const MOST_CHARACTERS = 65_536;

async function printedBy(
  commands: NonNullable<Workload['record']>,
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<NonNullable<WorkloadRecord['recorded']>> {
  const printed = Object.entries(commands).map(async ([name, argv]) => {
    const { exit, stdout } = await runCommand(argv, { environment, cwd, stdoutLimit: MOST_CHARACTERS });
    return [name, exit === 0 ? stdout.trim() : null] as const;
  });
  return Object.fromEntries(await Promise.all(printed));
}

const GIT_MS = 10_000;

async function gitState(cwd: string): Promise<WorkloadRecord['git']> {
  const commit = await git(cwd, ['rev-parse', 'HEAD']);
  if (commit === null || !/^[0-9a-f]{40,64}$/.test(commit.trim())) return null;
  const changes = await git(cwd, ['status', '--porcelain', '--untracked-files=no']);
  return { commit: commit.trim(), hasChanges: changes !== '' };
}

/** Runs git and returns its standard output; null where there is no git, no repository, or it takes too long. */
async function git(cwd: string, args: readonly string[]): Promise<string | null> {
  const { PATH, HOME } = process.env;
  const started = local.start(['git', ...args], { environment: { PATH, HOME, GIT_OPTIONAL_LOCKS: '0' }, cwd });
  let output = '';
  started.stdout.on('data', (chunk: Buffer) => {
    if (output.length < 65_536) output += chunk.toString();
  });
  started.stderr.resume();
  started.stdin.on('error', () => {}).end();
  const timer = setTimeout(() => void started.kill(), GIT_MS);
  const { exitCode } = await started.ended;
  clearTimeout(timer);
  return exitCode === 0 ? output : null;
}
