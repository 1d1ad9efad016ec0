/** The tag that a victim leaves in memory, and the masked form of it that the attacker gets. */
import { randomBytes } from 'node:crypto';

/** Each word of a mark is the tag's times this number (native/kernels/residue.cu). */
const MARK = 2654435761;

export interface Tag {
  /** 32 hexadecimal digits. */
  tag: string;
  mark: string;
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** Drawn at random, not from the seed, so that no process can know it beforehand. */
export function drawTag(): Tag {
  const bytes = randomBytes(16);
  const words = [0, 4, 8, 12].map((at) => bytes.readUInt32BE(at));
  return { tag: words.map(hex).join(''), mark: words.map((word) => hex(Math.imul(word, MARK))).join('') };
}
