/** A document may name a system like a property that every object inherits. */
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { gate } from '../../lib/gate/gate.js';
import { defaultThresholds } from '../../lib/gate/thresholds.js';
import { metrics } from '../../lib/metrics/registry.js';
import { rendering } from '../../lib/rendering.js';
import { type Format, formats } from '../../lib/report/formats.js';
import { gateReport } from '../../lib/report/formats/gate.js';
import { merge } from '../../lib/saved/merge.js';
import { about, comparison } from './gate/fixtures.js';
import { everyKind } from './report/fixtures.js';

const names = Object.getOwnPropertyNames(Object.prototype);

/** The value as if it was read from a file with that name. */
const renamed = <T>(value: T, from: string, to: string): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) => (each === from ? to : each)) as T;

const inherited = (): string[] => {
  const found: string[] = [];
  for (const key in {}) found.push(key);
  return found;
};

const plain = everyKind();
const usual = plain.plan.systems[1] as string;
const text = async (format: Format, name: string) =>
  [await rendering(renamed(plain, usual, name))(format)].flat().join('');

/** Reports by format and length of the name, because several names have the same length. */
const ordinary = new Map<string, Promise<string>>();

function ordinaryText(format: Format, length: number): Promise<string> {
  const key = `${format} ${length}`;
  const known = ordinary.get(key) ?? text(format, 'x'.repeat(length));
  ordinary.set(key, known);
  return known;
}

/** Pages take long to draw, so only some names are tested. */
const drawn = new Set(['__proto__', 'constructor', 'toString']);

describe.each(names)('a system named %s', (name) => {
  it.each(formats.filter((format) => format !== 'html' || drawn.has(name)))(
    'is rendered as %s like any other',
    async (format) => {
      const odd = await text(format, name);
      // Nothing is left out. Escapes make a text longer, and marks of drawings move beside a wider name.
      const said = (page: string) => page.replace(/<svg.*?<\/svg>/gs, '').length;
      const same = await ordinaryText(format, name.length);
      if (format === 'html') expect(odd).toContain(`>${name}</text>`);
      expect(said(odd)).toBeGreaterThan(0.99 * said(same));
      expect(inherited()).toEqual([]);
    },
  );

  it('is judged like any other', () => {
    const usualNames = comparison({ native: { 'OH-001': about(10) }, layer: { 'OH-001': about(13) } });
    const judge = (document: ComparisonDocument) =>
      gate(document, defaultThresholds(metrics), { name: 'before', document }, metrics);
    const odd = judge(renamed(usualNames, 'layer', name));
    expect(renamed(odd, name, 'layer')).toEqual(judge(usualNames));
    expect(gateReport(odd)).toContain(name);
  });

  it('is merged like any other', () => {
    const document = comparison({ native: { 'OH-001': about(10) }, layer: { 'OH-001': about(13) } });
    const both = (one: ComparisonDocument) =>
      merge([
        { file: 'a', document: one },
        { file: 'b', document: renamed(one, '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z') },
      ]);
    expect(renamed(both(renamed(document, 'layer', name)), name, 'layer')).toEqual(both(document));
  });
});
