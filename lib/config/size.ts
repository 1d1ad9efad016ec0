/** Memory sizes: parsed once with their unit, written in the form that each layer reads correctly. */
import { UsageError } from '../errors/usage-error.js';
import { Refused } from './refused.js';

const MIB = 2 ** 20;

const units: Record<string, number> = {
  b: 1,
  kib: 2 ** 10,
  mib: MIB,
  gib: 2 ** 30,
  tib: 2 ** 40,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
};

/** A size before the card is known. */
export type Size = { bytes: number } | { percent: number };

/** `mayBePercent`: a percentage of the card, e.g. `50%`, is allowed. */
export function readSize(text: string, mayBePercent: boolean): Size | Refused {
  const refused = (hint = '') => {
    const examples = `10GiB, 4096MiB, 10GB (1e9) or 1048576B${mayBePercent ? ', or 50% of the card' : ''}`;
    return new Refused(`a size above 0 such as ${examples}`, hint);
  };
  const [, digits, unit] = /^(\d+(?:\.\d+)?) ?([a-zA-Z]*|%)$/.exec(text.trim()) ?? [];
  if (digits === undefined || unit === undefined) return refused();
  if (unit === '%') {
    const percent = Number(digits);
    return mayBePercent && percent > 0 && percent <= 100 ? { percent } : refused();
  }
  const scale = units[unit.toLowerCase()];
  if (scale === undefined) return refused(unitHint(digits, unit));
  const bytes = Math.floor(Number(digits) * scale);
  const isWhole = scale > 1 || !digits.includes('.');
  return isWhole && bytes >= 1 && Number.isSafeInteger(bytes) ? { bytes } : refused();
}

/** The size in bytes, once the card is known. */
export function resolveSize(size: Size, cardBytes: number, what: string): number {
  const bytes = 'bytes' in size ? size.bytes : Math.floor((cardBytes * size.percent) / 100);
  if (bytes <= cardBytes) return bytes;
  throw new UsageError(
    `Expected ${what} to be at most the card's ${inWords(cardBytes)} but received ${inWords(bytes)}.`,
  );
}

/**
 * HAMi-core reads an integer and at most one letter, and takes `4GB` for 4 bytes; only `<n>m` and plain bytes are safe.
 */
export const forHami = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB}m` : `${bytes}`);

/** vgpu-manager reads a number and one letter, and takes `4GB` for 4 GiB. */
export const forVgpuManager = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB}Mi` : `${bytes}`);

export const inWords = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes (${(bytes / MIB).toFixed(1)} MiB)`;

/** A bare number means bytes here and MiB to HAMi; `10G` is 2^30 to some layers and 10^9 to others. */
function unitHint(digits: string, unit: string): string {
  if (unit === '') return Number(digits) > 0 ? `it has no unit; write ${digits}MiB or ${digits}B.` : '';
  const letter = unit.toUpperCase();
  return /^[KMGT]$/.test(letter) ? `write ${digits}${letter}iB (binary) or ${digits}${letter}B (decimal).` : '';
}
