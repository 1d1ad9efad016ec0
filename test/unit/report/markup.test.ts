import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escape, html, short, trusted } from '../../../lib/report/text/markup.js';

const decode = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name as 'lt'],
  );

describe('markup', () => {
  it('escapes interpolated values and nothing else', () =>
    expect(String(html`<p title="${'"\'<>&'}">${'<b>'}${html`<i>${1}</i>`}</p>`)).toBe(
      '<p title="&quot;&#39;&lt;&gt;&amp;">&lt;b&gt;<i>1</i></p>',
    ));

  it('joins arrays, and leaves out missing values', () =>
    expect(String(html`${['a', html`<br>`, ['b']]}${null}${undefined}${false}${0}${''}`)).toBe('a<br>b0'));

  it('shows a dash for NaN and Infinity', () => expect(String(html`${Number.NaN} ${Infinity}`)).toBe('– –'));

  it('escapes the text of a nested template once', () => expect(String(html`${html`${html`${'&'}`}`}`)).toBe('&amp;'));

  it('does not escape trusted text', () => expect(String(html`${trusted('<hr>')}`)).toBe('<hr>'));

  it.each([
    ['control characters', 'a\u0000b\u001bc\u007fd\u0085e', 'abcde'],
    ['what XML does not know', 'a\ufffeb\uffffc', 'abc'],
    ['half a pair', 'a\ud800b\udc00c', 'abc'],
    ['what turns text around', 'a\u202eb\u2066c\u200fd\u061ce', 'abcde'],
  ])('drops %s', (_, text, left) => expect(escape(text)).toBe(left));

  it('keeps line breaks, tabs and whole surrogate pairs', () => expect(escape('a\n\t\r😀é')).toBe('a\n\t\r😀é'));

  it('can be read back, and never opens an element', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const escaped = escape(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
        expect(escape(decode(escaped))).toBe(escaped);
      }),
    ));

  it('shortens by whole characters, not by surrogate halves', () => {
    expect(short('abc', 3)).toBe('abc');
    expect(short('abcd', 3)).toBe('ab…');
    expect(short('😀😀😀😀', 3)).toBe('😀😀…');
    expect(short('x'.repeat(1e6), 10)).toHaveLength(10);
  });
});
