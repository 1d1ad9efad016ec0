/** States of a process for checkpoints, as the driver numbers them (CUprocessState). */
export const RUNNING = 0;
export const LOCKED = 1;
export const CHECKPOINTED = 2;

const NAMES = ['running', 'locked', 'checkpointed', 'failed'];

export const stateName = (state: number): string => NAMES[state] ?? `in the unknown state ${state}`;
