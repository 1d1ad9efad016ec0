/** How much of the host's memory checkpoints may take. */
import { freemem } from 'node:os';
import { GIB } from '../core/units.js';

/** What the processes need of the host besides the memory of their targets. */
const RESERVE = 2 * GIB;

/** Free memory, also within the limit of this process's cgroup, less a reserve. `scale`: the part of it to keep. */
export const hostRoom = (scale: number): number => Math.min(freemem(), process.availableMemory()) - RESERVE * scale;
