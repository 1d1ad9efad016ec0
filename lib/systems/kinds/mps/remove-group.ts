/** Removes cgroups with memory limits; their guardian imports it, and should load little. */
import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../errors/message-of.js';

/** A stand-in for a cgroup, such as the simulated driver's, has no such file. */
export const CONTROLLERS = 'cgroup.controllers';

/** Returns what was left. */
export function removeGroup(folder: string): string[] {
  try {
    // The files of a cgroup go with it; those of a stand-in keep its folder.
    if (existsSync(join(folder, CONTROLLERS))) rmdirSync(folder);
    else rmSync(folder, { recursive: true, force: true });
    return [];
  } catch (error) {
    return [`${folder} was left in place: ${messageOf(error)}`];
  }
}
