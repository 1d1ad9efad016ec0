/** Converts units for other programs: Prometheus asks for base units, Bencher for nanoseconds. */

interface BaseUnit {
  /** Suffix of a metric's name, with the base unit. */
  name: string;
  /** Number of base units in one of the metric's own unit. */
  factor: number;
}

const known: Record<string, BaseUnit> = {
  ns: { name: 'seconds', factor: 1e-9 },
  us: { name: 'seconds', factor: 1e-6 },
  ms: { name: 'seconds', factor: 1e-3 },
  s: { name: 'seconds', factor: 1 },
  '%': { name: 'ratio', factor: 0.01 },
  ratio: { name: 'ratio', factor: 1 },
  bytes: { name: 'bytes', factor: 1 },
  MiB: { name: 'bytes', factor: 2 ** 20 },
  'GB/s': { name: 'bytes_per_second', factor: 1e9 },
  TFLOPS: { name: 'flops', factor: 1e12 },
};

/** Converts a unit. An unknown one is kept, reduced to the characters that a name may have. */
export function baseUnit(unit: string): BaseUnit {
  if (Object.hasOwn(known, unit)) return known[unit] as BaseUnit;
  const name = unit
    .toLowerCase()
    .replace('/', '_per_')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return { name: name === '' ? 'unknown' : name, factor: 1 };
}
