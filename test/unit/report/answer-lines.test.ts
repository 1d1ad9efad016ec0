/** Figures of an answer as lines of text. */
import { expect, it } from 'vitest';
import type { Card, Figure } from '../../../lib/results/answer-schema.js';
import { cardLines } from '../../../lib/report/text/answer-lines.js';

const figure = (more: Partial<Figure> & Pick<Figure, 'word'>): Figure => ({
  metric: 'OH-002',
  what: 'allocation of 2 MiB',
  value: null,
  ci95: null,
  unit: '',
  shown: null,
  shownCi95: null,
  cause: null,
  note: null,
  ...more,
});
const lineOf = (one: Figure) =>
  cardLines({ system: 'mps', lines: [{ question: 'calls', title: 'Calls', figures: [one] }] } as unknown as Card);

it.each([
  [
    { word: 'slower', shown: '+1.0 us', shownCi95: '+0.9 … +1.1', note: '× 1.1' },
    'allocation of 2 MiB +1.0 us (+0.9 … +1.1): slower; × 1.1',
  ],
  [{ word: 'same', note: 'not intercepted' }, 'allocation of 2 MiB not intercepted: same'],
  [
    { word: 'invalid', note: 'layer not active: nothing intercepts' },
    'allocation of 2 MiB: invalid: layer not active: nothing intercepts',
  ],
  [{ word: 'invalid' }, 'allocation of 2 MiB: invalid'],
] as const)('%j', (more, line) => expect(lineOf(figure(more))).toEqual([`Calls: ${line}`]));
