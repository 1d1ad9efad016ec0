/**
 * Shapes of verdicts, which are distinguished by shape, not only by colour: `slower` points in the worse direction,
 * `faster` in the better one.
 */
import type { Verdict } from '../../results/text/effect-text.js';

interface Shape {
  /** Path data in a box of side 10. */
  d: string;
  isHollow?: true;
}

/** Shapes that drawings and the text beside them share. */
export const verdictShapes: Record<Verdict, Shape> = {
  slower: { d: 'M0 0l10 5-10 5z' },
  faster: { d: 'M10 0L0 5l10 5z' },
  same: { d: 'M.5 5a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z' },
  inconclusive: { d: 'M1 5a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', isHollow: true },
  invalid: { d: 'M1 1l8 8M9 1L1 9', isHollow: true },
};

export const verdictColour = (verdict: Verdict): string => `var(--${verdict})`;
