import { describe, expect, it } from 'vitest';
import { granted } from '../../../lib/config/refused.js';
import { forHami, readSize, resolveSize } from '../../../lib/config/size.js';
import { CARD, GIB } from '../systems/fixtures.js';

const what = 'memory of hami-core';
const parse = (text: string, percent = true) => granted(readSize(text, percent), what, text);

describe('sizes', () => {
  it.each([
    ['10GiB', 10 * GIB],
    ['4096MiB', 4 * GIB],
    ['10GB', 1e10],
    ['10 gb', 1e10],
    ['1.5GiB', 1.5 * GIB],
    ['4294967296B', 4 * GIB],
    ['64KiB', 65_536],
    ['512B', 512],
    ['0.3GiB', 322122547],
  ])('reads %s', (text, bytes) => expect(parse(text)).toEqual({ bytes }));

  it('reads a share of the card', () => {
    expect(parse('50%')).toEqual({ percent: 50 });
    expect(resolveSize({ percent: 50 }, CARD, what)).toBe(CARD / 2);
  });

  it.each([
    '0',
    '0GiB',
    '-1GiB',
    '10XB',
    '',
    'GiB',
    '1e9',
    '0x10',
    '1.5',
    '10Gi B',
    '9999999TiB',
    '0.0001',
    'NaN',
    '0%',
    '101%',
  ])('refuses %j', (text) =>
    expect(() => parse(text)).toThrow(/^Expected memory of hami-core to be a size above 0 such as 10GiB/),
  );

  it('refuses a share if the layer supports none', () =>
    expect(() => parse('50%', false)).toThrow(/such as 10GiB, 4096MiB, 10GB \(1e9\) or 1048576B but received '50%'/));

  it('explains what a single letter could mean', () =>
    expect(() => parse('10g')).toThrow(/write 10GiB \(binary\) or 10GB \(decimal\)/));

  it('refuses a number without a unit, which is MiB to users of HAMi', () =>
    expect(() => parse('10240')).toThrow(/received '?10240'?: it has no unit; write 10240MiB or 10240B\.$/));

  it('refuses more than the card has', () =>
    expect(() => resolveSize({ bytes: CARD + 1 }, CARD, what)).toThrow(
      /^Expected memory of hami-core to be at most the card's 143360 MiB but received 150323855361 bytes/,
    ));

  it.each([
    [10 * GIB, '10240m'],
    [1e10, '10000000000'],
  ])('writes %d for HAMi-core as %s', (bytes, text) => expect(forHami(bytes)).toBe(text));
});
