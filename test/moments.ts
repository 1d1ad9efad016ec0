/** Whether tests run in their long form, which `.ci/run --long` runs and people run by hand. */
export const isLong = process.env.GVB_LONG === '1';

/** Times in milliseconds after which a test kills something: random, so that each run has others; one, or five in the long form. */
export const moments = (mostMs: number): number[] =>
  Array.from({ length: isLong ? 5 : 1 }, () => Math.round(mostMs * Math.random()));
