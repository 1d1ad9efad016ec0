/** The axes of line charts: linear, logarithmic, or logarithmic in bytes. */
import type { AxisScales } from '../../metrics/metric.js';
import { formatBytes } from '../../metrics/units.js';
import { number } from '../../results/plain.js';
import { isDrawable, linear, logarithmic, type Scale } from './scale.js';

export type Point = [x: number, y: number];

type Kind = AxisScales['x'];

export const hasPlace = (value: number, kind: Kind): boolean => isDrawable(value) && (kind === undefined || value > 0);

export const isPlaced = ([x, y]: Point, scales: AxisScales = {}): boolean =>
  hasPlace(x, scales.x) && hasPlace(y, scales.y);

export const axisOf = (values: readonly number[], kind: Kind, options: { ticks?: number; zero: boolean }): Scale =>
  kind === undefined ? linear(values, options) : logarithmic(values, { ...options, bytes: kind === 'bytes' });

/** A value of the x axis. */
export const xText = (kind: Kind, x: number): string => (kind === 'bytes' ? formatBytes(x) : number(x));
