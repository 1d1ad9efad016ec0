/**
 * Memory limits of the kernel's cgroup controller `dmem`, which MPS of driver R615 obeys on kernels from 6.14 on: all
 * device memory of a tenant's processes counts against one hard limit (`dmem.max`), and above a soft one (`dmem.min`) a
 * tenant may be evicted on a full card. Source: the MPS documentation for R620.
 */
import { appendFileSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Launcher } from '../../../workers/launcher.js';
import { local } from '../../../workers/local.js';
import type { Finding } from '../../proof/proof-finding.js';
import { NotActive } from '../../proof/not-active.js';
import { CONTROLLERS } from './remove-group.js';

/** Names the group of a process to the launcher. */
export const GROUP_VARIABLE = 'GVB_MPS_CGROUP';
/** Lists the processes of a group, and takes those that join it. */
const MEMBERS = 'cgroup.procs';
/** CGROUP2_SUPER_MAGIC of the kernel. */
const CGROUP_FILE_SYSTEM = 0x63677270;

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/** The regions of the controller: only the root cgroup has them, of which `folder` is or is in. */
function capacityOver(folder: string): string | null {
  const capacity = read(join(folder, 'dmem.capacity'));
  const above = dirname(folder);
  return capacity === null && above !== folder ? capacityOver(above) : capacity;
}

/** Why there are no such limits in that cgroup; null where the driver offers its memory to the controller. */
export function whyNoDmem(folder: string): string | null {
  const capacity = capacityOver(folder);
  if (capacity === null)
    return `no cgroup from ${folder} up has dmem.capacity: limits by cgroup need a kernel from 6.14 on with the controller dmem, and cgroup v2 mounted`;
  if (!/^nvidia\//m.test(capacity))
    return `dmem.capacity lists no memory of the NVIDIA driver: limits by cgroup need driver R615 or newer`;
  return /\bdmem\b/.test(read(join(folder, CONTROLLERS)) ?? 'dmem')
    ? null
    : `${folder} has no controller dmem: as root, write +dmem to cgroup.subtree_control of the cgroup above it`;
}

/** Files that only look like a cgroup limit nothing; the simulated driver reads such files. */
export function expectCgroup(folder: string, isSimulated: boolean): void {
  if (isSimulated || statfsSync(folder).type === CGROUP_FILE_SYSTEM) return;
  throw new NotActive(`${folder} is no cgroup: it is not in a file system of type cgroup2, so nothing obeys its files`);
}

/** `nvidia/0000:3b:00.0/vidmem`: NVML writes eight digits of the domain. */
function regionOf(root: string, pciBusId: string | null): string {
  const place = pciBusId?.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, '') ?? 'unknown';
  const regions = (capacityOver(root) ?? '').split('\n').map((line) => line.split(' ')[0] ?? '');
  const region = regions.find((name) => name.startsWith('nvidia/') && name.toLowerCase().includes(place));
  if (region === undefined) throw new NotActive(`dmem.capacity has no region of the GPU at ${place}`);
  return region;
}

/** Bytes by file: `dmem.max` refuses what exceeds it; what is within `dmem.min` stays on a full card. */
export interface GroupLimits {
  'dmem.max': number;
  'dmem.min'?: number;
}

export interface Group {
  folder: string;
  region: string;
  limits: GroupLimits;
}

/** Makes a group with limits. */
export function makeGroup(root: string, name: string, pciBusId: string | null, limits: GroupLimits): Group {
  const region = regionOf(root, pciBusId);
  const folder = join(root, name);
  try {
    mkdirSync(folder);
    for (const [file, bytes] of Object.entries(limits)) writeFileSync(join(folder, file), `${region} ${bytes}\n`);
  } catch (error) {
    throw new NotActive(
      `no group with a limit can be made in ${root} (as root, with +dmem in its cgroup.subtree_control): ${messageOf(error)}`,
    );
  }
  return { folder, region, limits };
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

const lineOf = (file: string, region: string): string | undefined =>
  read(file)
    ?.split('\n')
    .find((line) => line.startsWith(`${region} `))
    ?.slice(region.length + 1);

/** Whether the group lists the process, and the limits that it has. */
export function inGroup(pid: number, { folder, region, limits }: Group): Finding[] {
  const members = read(join(folder, MEMBERS));
  const advice = 'Something moved the process or changed the group: leave gvb-… groups alone while they are measured.';
  return [
    {
      proof: 'the process is in the cgroup of its tenant',
      passed: members === null ? null : members.split('\n').includes(`${pid}`),
      detail:
        members === null
          ? `${join(folder, MEMBERS)} cannot be read`
          : `PID ${members.trim().split('\n').join(', ')} in ${folder}, PID ${pid} is looked for`,
      advice,
    },
    ...Object.entries(limits).map(([file, bytes]): Finding => {
      const limit = lineOf(join(folder, file), region);
      return {
        proof: `${file} of the cgroup`,
        passed: limit === `${bytes}`,
        detail: `${limit ?? 'none'}, ${bytes} was set`,
        advice,
      };
    }),
  ];
}
