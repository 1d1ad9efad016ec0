/** How charts look. Colours are custom properties of the page, so that they follow its theme without a script. */
export const TEXT = 'var(--text)';
export const MUTED = 'var(--muted)';
export const AXIS = 'var(--axis)';
export const GRID = 'var(--grid)';
export const SURFACE = 'var(--page)';

/** Overridden by the page's own; ECharts wants one. */
export const font = { fontFamily: 'f', fontSize: 12 } as const;

const SYSTEM_COLOURS = 8;
/** ECharts' names. A series is known by shape and dashes as well as by colour. */
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'] as const;
const DASHES: ('solid' | number[])[] = ['solid', [6, 3], [8, 3, 2, 3], [2, 2]];

export interface Look {
  colour: string;
  symbol: (typeof SYMBOLS)[number];
  dash: 'solid' | number[];
}

export const colourOf = (system: number): string => `var(--system-${system % SYSTEM_COLOURS})`;

export function lookOf(series: number, isReference = false): Look {
  const symbol = SYMBOLS[series % SYMBOLS.length] as Look['symbol'];
  // Beyond the shapes the dashes shift, so that no two of sixteen look the same without colour.
  const dash = DASHES[(series + Math.floor(series / SYMBOLS.length)) % DASHES.length] as Look['dash'];
  return { colour: colourOf(series), symbol, dash: isReference ? [2, 3] : dash };
}

/** Of every grid: its edges are given, and labels need no measuring. */
export const fixed = { outerBoundsMode: 'none' } as const;

export const still = { silent: true, clip: false } as const;

/** Of every series but custom ones: a page has no states that ECharts would have to prepare. */
export const stateless = { ...still, emphasis: { disabled: true } } as const;

/** Of every axis: ECharts' own colours know one theme only. */
export const axisLook = {
  axisLine: { show: true, lineStyle: { color: AXIS } },
  axisTick: { show: false },
  axisLabel: { ...font, color: MUTED },
  nameTextStyle: { ...font, color: MUTED },
  splitLine: { show: true, lineStyle: { color: GRID } },
} as const;
