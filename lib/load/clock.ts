/** The clock of a load: CLOCK_MONOTONIC, which is one timebase for all processes of the machine. */

/** The time in milliseconds, with the resolution of nanoseconds. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
