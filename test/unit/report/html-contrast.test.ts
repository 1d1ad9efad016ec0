/** Reads colours from the shipped style sheet; contrast by WCAG 2.2. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const sheet = readFileSync(new URL('../../../lib/report/html/page.css', import.meta.url), 'utf8');
const declared = [...sheet.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
const themes = {
  light: Object.fromEntries(declared.map(([, name, light]) => [name, light])) as Record<string, string>,
  dark: Object.fromEntries(declared.map(([, name, , dark]) => [name, dark])) as Record<string, string>,
};

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const verdicts = ['slower', 'faster', 'same', 'inconclusive', 'invalid'];
const systems = Array.from({ length: 8 }, (_, i) => `system-${i}`);
const texts: [string, string][] = [
  ...['text', 'muted', 'link', ...verdicts].flatMap((name): [string, string][] => [
    [name, 'page'],
    [name, 'raised'],
  ]),
  ['notice-text', 'notice'],
  ['tip-text', 'tip'],
  // Numbers in the cells of a map, by level.
  ...['text', 'text', 'text', 'heat-ink', 'page', 'page'].map((ink, i): [string, string] => [ink, `heat-${i}`]),
];
const marks: [string, string][] = [
  ...[...systems, ...verdicts, 'axis', 'control', 'focus', 'notice-edge'].map((name): [string, string] => [
    name,
    'page',
  ]),
  // Lines cross the phases' backgrounds.
  ...[...systems, 'axis'].map((name): [string, string] => [name, 'heat-0']),
];

describe.each(Object.entries(themes))('the %s theme', (_, colours) => {
  const of = (name: string): string => {
    const colour = colours[name];
    if (!colour) throw new Error(`Expected page.css to declare --${name} as light-dark(#…, #…).`);
    return colour;
  };

  it.each(texts)('is readable: %s on %s', (text, ground) =>
    expect(contrast(of(text), of(ground))).toBeGreaterThanOrEqual(4.5),
  );

  it.each(marks)('is visible: %s on %s', (mark, ground) =>
    expect(contrast(of(mark), of(ground))).toBeGreaterThanOrEqual(3),
  );

  it('gets stronger with every heat level', () => {
    const steps = [0, 1, 2, 3, 4, 5].map((level) => contrast(of(`heat-${level}`), of('page')));
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(steps.at(-1)).toBeGreaterThanOrEqual(4.5);
    for (const [i, step] of steps.slice(1).entries()) expect(step / (steps[i] as number)).toBeGreaterThan(1.15);
  });
});

it('declares every colour that is used', () => {
  const charts = ['theme', 'verdict-marks', 'heat'].map((name) =>
    readFileSync(new URL(`../../../lib/report/charts/${name}.ts`, import.meta.url), 'utf8'),
  );
  const used = [sheet, ...charts].flatMap((text) =>
    [...text.matchAll(/var\(--([a-z0-9-]+)\)/g)].map(([, name]) => name),
  );
  expect([...new Set(used)].filter((name) => !((name as string) in themes.light))).toEqual([]);
});

it('matches the examples of the standard', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
});
