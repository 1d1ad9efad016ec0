/** A CUDA version for people: 13.0 for 13000, as cuDriverGetVersion encodes it, and 12.4 for 12040. */
export const cudaVersion = (encoded: number | null): string =>
  encoded === null ? 'unknown' : `${Math.floor(encoded / 1_000)}.${Math.floor((encoded % 1_000) / 10)}`;
