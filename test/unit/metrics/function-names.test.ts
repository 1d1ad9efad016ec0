/** The functions of metrics are named like the metrics: a caller who knows one name can guess the other. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { metrics } from '../../../lib/metrics/registry.js';

/** `NVML Polling Overhead` becomes `nvmlpollingoverhead`, `Multi-GPU Scaling Factor` `multigpuscalingfactor`. */
const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

it.each(metrics.map(({ id, name, functionName }) => [id, name, functionName] as const))(
  '%s, %s, is measured by measure and words of its name: %s',
  (_, name, functionName) => {
    expect(functionName).toMatch(/^measure[A-Z]/);
    expect(letters(name)).toContain(letters(functionName.replace(/^measure/, '')));
  },
);

it('gives every metric a function of its own', () =>
  expect(new Set(metrics.map(({ functionName }) => functionName)).size).toBe(metrics.length));

it('names the types of details like the functions, or like what several metrics share', () => {
  const source = readFileSync(fileURLToPath(new URL('../../../lib/metrics/functions.ts', import.meta.url)), 'utf8');
  const types = [...source.matchAll(/^export type \{ (\w+)Details \}/gm)].map(([, name]) => name);
  const shared = ['Collective', 'Common', 'CopyCurve'];
  const own = metrics.map(({ functionName }) => functionName.replace(/^measure/, ''));
  expect(types.length).toBeGreaterThan(50);
  expect(types.filter((name) => ![...own, ...shared].includes(String(name)))).toEqual([]);
});
