/** A verdict is a shape before it is a colour: worse points to where worse is, better to where better is. */
import type { Effect } from '../../document.js';
import { line, type Place } from './marks.js';
import { SURFACE } from './theme.js';

type Verdict = Effect['verdict'];

const R = 5;

export const verdictColour = (verdict: Verdict): string => `var(--${verdict})`;

export function verdictMark(verdict: Verdict, [x, y]: Place) {
  const colour = verdictColour(verdict);
  const triangle = (way: 1 | -1) => ({
    type: 'polygon' as const,
    shape: {
      points: [
        [x - way * R, y - R],
        [x + way * R, y],
        [x - way * R, y + R],
      ],
    },
    style: { fill: colour },
  });
  const circle = (fill: string, lineWidth: number) => ({
    type: 'circle' as const,
    shape: { cx: x, cy: y, r: 4.5 },
    style: { fill, stroke: colour, lineWidth },
  });
  if (verdict === 'slower') return triangle(1);
  if (verdict === 'faster') return triangle(-1);
  if (verdict === 'same') return circle(colour, 1);
  if (verdict === 'ambiguous') return circle(SURFACE, 1.5);
  const cross: Place[] = [
    [x - R, y - R],
    [x + R, y + R],
    [x, y],
    [x - R, y + R],
    [x + R, y - R],
  ];
  return line(cross, colour, 2);
}
