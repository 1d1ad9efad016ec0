/** What each memory path granted: one bar per path, with the limit as a line across them. */
import { bytes, number } from '../../results/text/plain.js';
import type { MemoryPath } from '../isolation/rows.js';
import { stacked } from './panel.js';
import { rowBars } from './row-bars.js';
import type { Drawing } from './svg.js';
import { MUTED } from './theme.js';

const MOST_PATHS = 40;

const colours: Record<MemoryPath['outcome'], string> = {
  enforced: 'var(--same)',
  'limited per process': 'var(--same)',
  leaks: 'var(--slower)',
  'wrong error': 'var(--invalid)',
  unsupported: MUTED,
};

const described = ({ path, outcome, grantedBytes, limitBytes }: MemoryPath): string =>
  `${path}: ${outcome}${grantedBytes === null ? '' : `, granted ${bytes(grantedBytes)} under a limit of ${bytes(limitBytes)}`}`;

/** Draws memory paths; null if none granted anything. */
export function pathBars(all: readonly MemoryPath[], title: string): { drawing: Drawing; leftOut: string[] } | null {
  const paths = all.slice(0, MOST_PATHS);
  const rows = paths.map((path) => {
    const { path: name, outcome, grantedBytes, limitBytes } = path;
    const value = grantedBytes === null || limitBytes === 0 ? null : (100 * grantedBytes) / limitBytes;
    const tip = `${described(path)} (${number(value ?? 0)} %)`;
    const figure = grantedBytes === null ? outcome : bytes(grantedBytes);
    return { name, value, ci95: null, figure, tip, colour: colours[outcome] };
  });
  const panel = rowBars(rows, `In per cent of the limit. ${paths.map(described).join('; ')}.`, 100);
  return panel && { drawing: stacked([panel], title), leftOut: all.slice(MOST_PATHS).map(({ path }) => path) };
}
