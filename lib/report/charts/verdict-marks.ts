/**
 * Verdicts are distinguished by shape, not only by colour: `slower` points in the worse direction, `faster` in the
 * better one.
 */
import type { Verdict } from '../../results/effect-text.js';
import type { Place } from './marks.js';
import { SURFACE } from './theme.js';

interface Shape {
  /** Path data in a box of `SIDE`. */
  d: string;
  isHollow?: true;
}

const SIDE = 10;

/** Shared by drawings and the text beside them. */
export const verdictShapes: Record<Verdict, Shape> = {
  slower: { d: 'M0 0l10 5-10 5z' },
  faster: { d: 'M10 0L0 5l10 5z' },
  same: { d: 'M.5 5a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z' },
  inconclusive: { d: 'M1 5a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', isHollow: true },
  invalid: { d: 'M1 1l8 8M9 1L1 9', isHollow: true },
};

export const verdictColour = (verdict: Verdict): string => `var(--${verdict})`;

export function verdictMark(verdict: Verdict, [x, y]: Place) {
  const { d, isHollow } = verdictShapes[verdict];
  const colour = verdictColour(verdict);
  return {
    type: 'path' as const,
    x: x - SIDE / 2,
    y: y - SIDE / 2,
    shape: { pathData: d },
    // Filled with the background, so that it hides the line below it.
    style: isHollow ? { fill: SURFACE, stroke: colour, lineWidth: 1.75 } : { fill: colour },
  };
}
