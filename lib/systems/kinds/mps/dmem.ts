/**
 * Memory limits by the files of the kernel's cgroup controller `dmem`, which kernels from 6.14 on have: `dmem.max` is the
 * hard limit, `dmem.min` the soft one. Source: the MPS documentation for R620.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../errors/message-of.js';
import type { Finding } from '../../proof/proof-finding.js';
import { NotActive } from '../../proof/not-active.js';
import { CONTROLLERS } from './remove-group.js';
import { LEAVE_ALONE, type LimitSetter, type MemoryLimits, textOf } from './tenant-group.js';

/** The regions of the controller: only the root cgroup has them, of which `folder` is or is in. */
function capacityOver(folder: string): string | null {
  const capacity = textOf(join(folder, 'dmem.capacity'));
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
  return /\bdmem\b/.test(textOf(join(folder, CONTROLLERS)) ?? 'dmem')
    ? null
    : `${folder} has no controller dmem: as root, write +dmem to cgroup.subtree_control of the cgroup above it`;
}

/** `nvidia/0000:3b:00.0/vidmem`: NVML writes eight digits of the domain. */
function regionOf(root: string, pciBusId: string | null): string {
  const place = pciBusId?.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, '') ?? 'unknown';
  const regions = (capacityOver(root) ?? '').split('\n').map((line) => line.split(' ')[0] ?? '');
  const region = regions.find((name) => name.startsWith('nvidia/') && name.toLowerCase().includes(place));
  if (region === undefined) throw new NotActive(`dmem.capacity has no region of the GPU at ${place}`);
  return region;
}

const MAX = 'dmem.max';
const MIN = 'dmem.min';

const files = ({ hard, soft }: MemoryLimits): (readonly [file: string, bytes: number])[] => [
  [MAX, hard],
  ...(soft === undefined ? [] : [[MIN, soft] as const]),
];

function writeLimits(folder: string, region: string, limits: MemoryLimits): void {
  const above = dirname(folder);
  // The kernel keeps no more for a group than each cgroup above it keeps; only the root has no such file.
  if (limits.soft !== undefined && existsSync(join(above, MIN)))
    throw new NotActive(
      `a soft limit in ${above} has to be reserved in the cgroups above it too, as nvidia-smi memory-limits does, which is not in PATH: use cgroup=/sys/fs/cgroup`,
    );
  try {
    for (const [file, bytes] of files(limits)) writeFileSync(join(folder, file), `${region} ${bytes}\n`);
  } catch (error) {
    throw new NotActive(
      `no limit can be set in ${folder} (as root, with +dmem in the cgroup.subtree_control of ${above}): ${messageOf(error)}`,
    );
  }
}

const lineOf = (file: string, region: string): string | undefined =>
  textOf(file)
    ?.split('\n')
    .find((line) => line.startsWith(`${region} `))
    ?.slice(region.length + 1);

export function dmemFiles(root: string, pciBusId: string | null): LimitSetter {
  const region = regionOf(root, pciBusId);
  return {
    set: async (folder, limits) => writeLimits(folder, region, limits),
    findings: async (folder, limits) =>
      files(limits).map(([file, bytes]): Finding => {
        const limit = lineOf(join(folder, file), region);
        return {
          proof: `${file} of the cgroup`,
          passed: limit === `${bytes}`,
          detail: `${limit ?? 'none'}, ${bytes} was set`,
          advice: LEAVE_ALONE,
        };
      }),
    // It goes with the group.
    clear: () => Promise.resolve(null),
  };
}
