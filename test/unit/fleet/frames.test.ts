import { expect, it } from 'vitest';
import { sealOf } from '../../../lib/fleet/delivery.js';
import { framed, FrameReader } from '../../../lib/fleet/frames.js';
import { deliveryOf, packed } from './fixtures.js';

const document = packed({ text: Array.from({ length: 4_000 }, (_, i) => Math.sin(i)) });
const delivery = deliveryOf(3, { document: sealOf(document), node: 'a\u001b[31m\nb' });

const readAll = (lines: readonly string[]) => {
  const reader = new FrameReader();
  const found = lines.map((line) => reader.push(line)).filter((each) => each !== null);
  return { found, unfinished: reader.unfinished };
};

it('reads a delivery among other lines, with names and times before it', () => {
  const lines = framed(delivery, document).flatMap((line, i) => [
    `[pod/a-${i}] 2026-01-01T00:00:00Z ${line}\r`,
    'OH-001: 5 us',
  ]);
  expect(lines.length).toBeGreaterThan(10);
  expect(readAll(lines)).toEqual({ found: [{ delivery, document }], unfinished: 0 });
});

it('reads several deliveries whose lines are mixed, and one without a document', () => {
  const other = deliveryOf(4, { exitCode: 2, message: 'ended with exit code 2' });
  const [first, second] = [framed(delivery, document), framed(other, null)];
  const mixed = first.flatMap((line, i) => [line, ...(second[i] === undefined ? [] : [second[i]])]);
  const { found } = readAll(mixed);
  expect(found).toEqual([
    { delivery: other, document: null },
    { delivery, document },
  ]);
});

it.each([
  ['is missing', (lines: string[]) => lines.filter((_, i) => i !== 2)],
  ['came twice in place of the next', (lines: string[]) => lines.map((line, i) => (i === 3 ? lines[2] : line))],
  ['is changed', (lines: string[]) => lines.map((line, i) => (i === 2 ? line.replace(/[AB](?=\S*$)/, 'C') : line))],
])('refuses a delivery of which a line %s', (_, change) => {
  const lines = change(framed(delivery, document)) as string[];
  expect(() => readAll(lines)).toThrow('a delivery is damaged: lines of it are missing or changed');
});

it('counts a delivery whose end is missing', () =>
  expect(readAll(framed(delivery, document).slice(0, -1))).toEqual({ found: [], unfinished: 1 }));

it('refuses a size that no delivery has', () =>
  expect(() => new FrameReader().push(`gvb-delivery-1 ${'0'.repeat(16)} begin 1e12 ${'0'.repeat(64)}`)).toThrow(
    /1 to \d+ are read/,
  ));
