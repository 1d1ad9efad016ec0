/** The call profiles in this package: recorded on an H200 by `bench/profiled.py`, of which each says what ran. */
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import type { CallProfile } from './call-profile.js';
import { readProfile } from './read-profile.js';

export const shippedProfiles = ['eager', 'graphs', 'training', 'jax'] as const;
export type ShippedProfile = (typeof shippedProfiles)[number];

/** Whose calls OH-005 weighs: the most calls a step, and the shortest step, of those that launch kernel by kernel. */
export const DEFAULT_PROFILE: ShippedProfile = 'eager';

const isShipped = (name: string): name is ShippedProfile => (shippedProfiles as readonly string[]).includes(name);

export const readShippedProfile = (name: ShippedProfile): Promise<CallProfile> =>
  readProfile(join(packageRoot, 'profiles', `${name}.json`));

/** `eager` is the shipped one, `./eager` a file. Throws UsageError as `readProfile` does. */
export const namedProfile = (nameOrFile: string): Promise<CallProfile> =>
  isShipped(nameOrFile) ? readShippedProfile(nameOrFile) : readProfile(nameOrFile);
