/** The look of charts. Colours are custom properties of the page, so they follow its theme without a script. */
export const TEXT = 'var(--text)';
export const MUTED = 'var(--muted)';
export const AXIS = 'var(--axis)';
const GRID = 'var(--grid)';
export const SURFACE = 'var(--page)';
/** Background for marks of every colour. */
export const BAND = 'var(--heat-0)';

/** A placeholder, which ECharts requires and the page overrides. */
export const font = { fontFamily: 'f', fontSize: 12 } as const;

const SYSTEM_COLOURS = 8;
/** Path data in a box of `SYMBOL_SIDE`. A series is identified by shape and dashes as well as by colour. */
const SYMBOLS = ['M0 4a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', 'M.5 .5h7v7h-7z', 'M4 0l4 8h-8z', 'M4-1l5 5-5 5-5-5z'] as const;
export const SYMBOL_SIDE = 8;
const DASHES: ('solid' | number[])[] = ['solid', [6, 3], [8, 3, 2, 3], [2, 2]];

/** The colour of reference values, e.g. a limit. */
export const LEVEL_DASH = [5, 3];

/** Width of lines through points, in pixels. */
export const LINE_WIDTH = 1.75;

export interface Look {
  colour: string;
  symbol: string;
  dash: 'solid' | number[];
}

export const colourOf = (system: number): string => `var(--system-${system % SYSTEM_COLOURS})`;

export function lookOf(series: number): Look {
  // After the last shape the dashes shift, so that sixteen series differ even without colour.
  return {
    colour: colourOf(series),
    symbol: SYMBOLS[series % SYMBOLS.length] as string,
    dash: DASHES[(series + Math.floor(series / SYMBOLS.length)) % DASHES.length] as Look['dash'],
  };
}

/** Options of every grid: ECharts makes room for the labels inside its edges. */
export const contained = { outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' } as const;

export const still = { silent: true, clip: false } as const;

/** Options of every series except custom ones: a page has no hover states that ECharts would have to prepare. */
export const stateless = { ...still, emphasis: { disabled: true } } as const;

/** Options of every axis: ECharts' own colours suit only one theme. */
export const axisLook = {
  axisLine: { show: true, lineStyle: { color: AXIS } },
  axisTick: { show: false },
  axisLabel: { ...font, color: MUTED },
  nameTextStyle: { ...font, color: MUTED },
  splitLine: { show: true, lineStyle: { color: GRID } },
} as const;
