/** A stored baseline is much smaller than the document and yields the same judgement. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { gate } from '../../../lib/gate/gate.js';
import { defaultThresholds } from '../../../lib/gate/thresholds.js';
import { metrics } from '../../../lib/metrics/registry.js';
import { comparisonDocumentSchema } from '../../../lib/results/document.js';
import { upgraded } from '../../../lib/results/upgraded.js';
import { gatePart } from '../../../lib/saved/gate-part.js';

const recorded = (path: string) => {
  const text = readFileSync(new URL(`../../../bench/results/h200/${path}`, import.meta.url), 'utf8');
  return v.parse(comparisonDocumentSchema, upgraded(JSON.parse(text)));
};

/** All overhead and start-up metrics of three systems, five rounds, on two H200s. */
const now = recorded('2026-11-22-87ebbe2/compared-layers.json');
const then = recorded('2026-11-21-6475d8d/compared-layers.json');
const part = gatePart(then);

describe('what a baseline keeps', () => {
  it('yields the same judgement as the whole document', () => {
    const judged = (document: typeof then) => {
      const thresholds = { ...defaultThresholds(metrics), systems: null };
      return gate(now, thresholds, { name: 'main', document }, metrics);
    };
    const whole = judged(then);
    expect(whole.cases.filter(({ outcome }) => outcome !== 'not measured').length).toBeGreaterThan(30);
    expect(judged(part as typeof then)).toEqual(whole);
  });

  it('matches the schema of documents', () => expect(v.is(comparisonDocumentSchema, part)).toBe(true));

  it('is smaller than a quarter of the document', () =>
    expect(JSON.stringify(part).length).toBeLessThan(JSON.stringify(then).length / 4));
});
