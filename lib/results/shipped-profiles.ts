/**
 * The call profiles in this package, recorded on an H200 by `bench/profiled.py`; each names the program it recorded.
 */
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import type { CallProfile } from './call-profile.js';
import { readProfile } from './read-profile.js';

export const shippedProfiles = ['eager', 'graphs', 'training', 'jax'] as const;
type ShippedProfile = (typeof shippedProfiles)[number];

/**
 * The profile that weighs OH-005's calls: among those that launch kernel by kernel, it has the most calls per step and
 * the shortest step.
 */
export const DEFAULT_PROFILE: ShippedProfile = 'eager';

const isShipped = (name: string): name is ShippedProfile => (shippedProfiles as readonly string[]).includes(name);

export const readShippedProfile = (name: ShippedProfile): Promise<CallProfile> =>
  readProfile(join(packageRoot, 'profiles', `${name}.json`));

/** `eager` names a shipped profile, `./eager` a file. Throws UsageError like `readProfile`. */
export const namedProfile = (nameOrFile: string): Promise<CallProfile> =>
  isShipped(nameOrFile) ? readShippedProfile(nameOrFile) : readProfile(nameOrFile);
