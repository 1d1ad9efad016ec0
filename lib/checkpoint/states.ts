/** States of a process for checkpoints, as the driver numbers them (CUprocessState). */
export const CHECKPOINTED = 2;

const NAMES = ['running', 'locked', 'checkpointed', 'failed'];

export const stateName = (state: number): string => NAMES[state] ?? `in the unknown state ${state}`;
