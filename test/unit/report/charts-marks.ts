/** Drawings as a reader sees them: marks with places in pixels, and values read from the labels of an axis. */
import type { ComparisonDocument, Effect, OkResult } from '../../../lib/results/document.js';
import { type Drawing, svg } from '../../../lib/report/charts/svg.js';
import { type View, viewOf } from '../../../lib/results/view.js';
import { comparisonOf } from './html-fixtures.js';
import { result, without } from '../run/fixtures.js';

export interface Mark {
  name: string;
  attributes: Record<string, string>;
  text: string;
  /** The anchor of a text; the corners of other shapes, without curves between them. */
  points: [x: number, y: number][];
}

const numbersIn = (text: string): number[] => (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);

const pairs = (numbers: readonly number[]): [number, number][] =>
  Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] as number, numbers[2 * i + 1] as number]);

function cornersOf(d: string): [number, number][] {
  const corners: [number, number][] = [];
  for (const [, command = '', rest = ''] of d.matchAll(/([MLlAZz])([^MLlAZz]*)/g)) {
    const [x = 0, y = 0] = corners.at(-1) ?? [];
    const numbers = numbersIn(rest);
    if (command === 'l') corners.push(...pairs(numbers).map(([dx, dy]): [number, number] => [x + dx, y + dy]));
    else if (command === 'A') corners.push(...pairs(numbers.slice(5)));
    else corners.push(...pairs(numbers));
  }
  return corners;
}

function moved(points: [number, number][], transform = ''): [number, number][] {
  const numbers = numbersIn(transform);
  const [a = 1, , , d = 1, x = 0, y = 0] = transform.startsWith('matrix') ? numbers : [1, 0, 0, 1, ...numbers];
  return points.map(([px, py]) => [a * px + x, d * py + y]);
}

export function marksOf(drawing: Drawing): Mark[] {
  const markup = svg(drawing)
    .toString()
    .replace(/^<svg [^>]*>/, '');
  return [...markup.matchAll(/<(path|polyline|text)((?: [\w-]+="[^"]*")*)\/?>([^<]*)/g)].map(
    ([, name = '', raw = '', text = '']) => {
      const attributes = Object.fromEntries(
        [...raw.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
      );
      const { d, points = '', x = '0', y = '0', transform } = attributes;
      const own = d ? cornersOf(d) : name === 'text' ? pairs([Number(x), Number(y)]) : pairs(numbersIn(points));
      return { name, attributes, text, points: moved(own, transform) };
    },
  );
}

export const tipOf = ({ attributes }: Mark): string => attributes['data-tip'] ?? '';
export const textsOf = (marks: readonly Mark[]): Mark[] => marks.filter(({ name }) => name === 'text');
export const xsOf = ({ points }: Mark): number[] => points.map(([x]) => x);
export const ysOf = ({ points }: Mark): number[] => points.map(([, y]) => y);

/** Maps a place in pixels to its value, by the first and the last label of the axis. */
export function reading(labels: readonly Mark[], along: 'x' | 'y'): (place: number) => number {
  const [first, last] = [labels[0], labels.at(-1)].map((label) => ({
    at: label?.points[0]?.[along === 'x' ? 0 : 1] ?? Number.NaN,
    value: Number(label?.text.replace('× ', '')),
  }));
  if (!first || !last) throw new Error('Expected labels.');
  return (place) => first.value + ((place - first.at) * (last.value - first.value)) / (last.at - first.at);
}

/** One metric with the given values, by system and round; null: failed, undefined: no result. */
export function valuesOf(
  values: Record<string, (number | null | undefined)[]>,
  change: (value: number) => Partial<OkResult> = () => ({}),
): View {
  const systems = Object.keys(values);
  const rounds = Math.max(...Object.values(values).map(({ length }) => length));
  const document = comparisonOf({ metrics: 1, systems, rounds });
  document.effects = [];
  document.systems.forEach((runs, system) =>
    runs.forEach((run, round) => {
      const value = values[systems[system] as string]?.[round];
      if (value === undefined) run.metrics = [];
      else if (value === null) run.metrics = [without(result('X-001'), 'failed', 'why')];
      else run.metrics = [result('X-001', { value, ci95: null, ...change(value) })];
    }),
  );
  return viewOf(document);
}

/** A metric and a system for every effect, with defaults for the rest. */
export function effectsOf(
  effects: readonly (Partial<Effect> & { name?: string })[],
  systems: readonly string[] = ['native', 'other'],
): View {
  const document: ComparisonDocument = comparisonOf({ metrics: 1, systems, rounds: 2 });
  const idOf = (i: number) => `X-${String(i + 1).padStart(3, '0')}`;
  for (const run of document.systems.flat())
    run.metrics = effects.map(({ name = 'metric' }, i) => result(idOf(i), { name }));
  const [known] = document.effects;
  document.effects = effects.map(({ name: _, ...change }, i) => ({
    ...(known as Effect),
    metric: idOf(i),
    system: systems.at(-1) as string,
    baseline: systems[0] as string,
    verdict: 'slower',
    ...change,
  }));
  return viewOf(document);
}
