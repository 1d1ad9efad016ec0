/**
 * A cgroup of a tenant, whose memory limits MPS of driver R615 obeys: all device memory of its processes counts against one hard
 * limit, and above a soft one it may lose memory on a full card. Source: the MPS documentation for R620.
 */
import { appendFileSync, mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Launcher } from '../../../workers/launcher.js';
import { local } from '../../../workers/local.js';
import { NotActive } from '../../proof/not-active.js';
import type { Finding } from '../../proof/proof-finding.js';
import { removeGroup } from './remove-group.js';

/** Names the group of a process to the launcher. */
export const GROUP_VARIABLE = 'GVB_MPS_CGROUP';
/** Lists the processes of a group, and takes those that join it. */
const MEMBERS = 'cgroup.procs';
/** CGROUP2_SUPER_MAGIC of the kernel. */
const CGROUP_FILE_SYSTEM = 0x63677270;

/** Advice of proofs. */
export const LEAVE_ALONE =
  'Something moved the process or changed the group: leave gvb-… groups alone while they are measured.';

/** Limits of all processes of a group together, in bytes. */
export interface MemoryLimits {
  hard: number;
  /** What the group keeps on a full card. Default: nothing. */
  soft?: number;
}

/** Sets the limits of a group's memory on one GPU. */
export interface LimitSetter {
  set: (folder: string, limits: MemoryLimits) => Promise<void>;
  /** Whether the group has these limits. */
  findings: (folder: string, limits: MemoryLimits) => Promise<Finding[]>;
  /** Takes back a soft limit, which can outlive its group in those above. Returns why it could not be; null: it was. */
  clear: (folder: string) => Promise<string | null>;
}

export interface Group {
  folder: string;
  limits: MemoryLimits;
  setter: LimitSetter;
}

/** Null: the file cannot be read. */
export const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

function fileSystemOf(folder: string): number {
  try {
    return statfsSync(folder).type;
  } catch (error) {
    throw new NotActive(`the cgroup ${folder} cannot be read: ${messageOf(error)}`);
  }
}

/** Files that only look like a cgroup limit nothing; the simulated driver reads such files. */
export function expectCgroup(folder: string, isSimulated: boolean): void {
  if (isSimulated || fileSystemOf(folder) === CGROUP_FILE_SYSTEM) return;
  throw new NotActive(`${folder} is no cgroup: it is not in a file system of type cgroup2, so nothing obeys its files`);
}

/** Makes a group with limits. */
export async function makeGroup(root: string, name: string, limits: MemoryLimits, setter: LimitSetter): Promise<Group> {
  const folder = join(root, name);
  try {
    mkdirSync(folder);
  } catch (error) {
    throw new NotActive(`no group can be made in ${root} (as root): ${messageOf(error)}`);
  }
  await setter.set(folder, limits);
  return { folder, limits, setter };
}

/** Returns what was left. */
export async function dropGroup({ folder, limits, setter }: Group): Promise<string[]> {
  const failure = limits.soft === undefined ? null : await setter.clear(folder);
  return [...(failure === null ? [] : [failure]), ...removeGroup(folder)];
}

/** Moves a process into its group as soon as it is started; a proof reads where it is. */
export const inGroups: Launcher = {
  ...local,
  start(command, options) {
    const { [GROUP_VARIABLE]: folder, ...environment } = options.environment;
    const started = local.start(command, { ...options, environment });
    if (folder === undefined || started.pid === null) return started;
    try {
      appendFileSync(join(folder, MEMBERS), `${started.pid}\n`);
    } catch (error) {
      void started.kill();
      throw new BenchError('SYSTEM', `A process could not be moved into ${folder}: ${messageOf(error)}.`);
    }
    return started;
  },
};

/** Whether the group lists the process and has its limits. */
export const inGroup = async (pid: number, group: Group): Promise<Finding[]> => [
  isMember(pid, group),
  ...(await group.setter.findings(group.folder, group.limits)),
];

function isMember(pid: number, { folder }: Group): Finding {
  const members = textOf(join(folder, MEMBERS));
  return {
    proof: 'the process is in the cgroup of its tenant',
    passed: members === null ? null : members.split('\n').includes(`${pid}`),
    detail:
      members === null
        ? `${join(folder, MEMBERS)} cannot be read`
        : `PID ${members.trim().split('\n').join(', ')} in ${folder}, PID ${pid} is looked for`,
    advice: LEAVE_ALONE,
  };
}
