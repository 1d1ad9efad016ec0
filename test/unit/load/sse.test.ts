import { assert, constantFrom, property, array, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONGEST_LINE, type SseEvent, SseParser, type StrayLine } from '../../../lib/load/answer/sse.js';

const bytes = (text: string) => Buffer.from(text);
const itemsOf = (...pieces: (string | Uint8Array)[]): (SseEvent | StrayLine)[] => {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(typeof piece === 'string' ? bytes(piece) : piece));
};
const eventsOf = (...pieces: (string | Uint8Array)[]): SseEvent[] =>
  itemsOf(...pieces).filter((item) => item.kind === 'event');
const dataOf = (...pieces: (string | Uint8Array)[]): string[] => eventsOf(...pieces).map(({ data }) => data);

describe('a stream of events', () => {
  it.each<[string, string, string[]]>([
    ['lines that end with LF', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['lines that end with CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['lines that end with CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['mixed ends', 'data: a\n\rdata: b\r\n\n', ['a', 'b']],
    ['data of several lines', 'data: a\ndata:b\ndata:\ndata: c\n\n', ['a\nb\n\nc']],
    ['no more than one space that is left out', 'data:  a \n\n', [' a ']],
    ['a colon in the data', 'data: {"a":1}\n\n', ['{"a":1}']],
    ['comments', ': keep-alive\n\n:\n: x\ndata: a\n: y\n\n', ['a']],
    ['fields that nobody knows', 'id: 3\nretry: 10\nfoo: bar\ndata: a\ndatax: b\n\n', ['a']],
    ['a field without a colon', 'data\n\n', ['']],
    ['a byte order mark', '\uFEFFdata: a\n\n', ['a']],
    ['several empty lines', '\n\n\ndata: a\n\n\n\n', ['a']],
    ['a named event without data', 'event: ping\n\ndata: a\n\n', ['', 'a']],
    ['a named event whose text is a comment', ': x\n\nevent: error\n: no memory\n\ndata: a\n\n', ['no memory', 'a']],
    ['a comment alone', ': x\n\ndata: a\n\n', ['a']],
    ['an end within an event', 'data: a\n\ndata: b\n', ['a']],
    ['nothing', '', []],
  ])('with %s', (_, text, expected) => expect(dataOf(text)).toEqual(expected));

  it('has a type per event', () =>
    expect(eventsOf('event: error\ndata: a\n\ndata: b\n\n')).toEqual([
      { kind: 'event', type: 'error', data: 'a' },
      { kind: 'event', type: 'message', data: 'b' },
    ]));

  it('hands over lines that are no field', () =>
    expect(itemsOf('id: 3\nretry: 1\n{"error": "x"}\nerror: {}\n: c\n\n')).toEqual([
      { kind: 'stray', line: '{"error": "x"}' },
      { kind: 'stray', line: 'error: {}' },
    ]));

  it('delivers each event with the bytes that end it', () => {
    const parser = new SseParser();
    expect(parser.push(bytes('data: a\n'))).toEqual([]);
    expect(parser.rest).toBe('a');
    expect(parser.push(bytes('\n'))).toHaveLength(1);
    expect(parser.rest).toBeNull();
    expect(parser.push(bytes('dat'))).toEqual([]);
    expect(parser.rest).toBe('dat');
  });

  it('waits for no LF after a CR', () => {
    expect(dataOf('data: a\r\r')).toEqual(['a']);
    // The LF belongs to the CR before it, and ends no line of its own.
    expect(dataOf('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual(['a\nb']);
  });

  it('keeps a character whose bytes are split', () => {
    const whole = bytes('data: 六\n\n');
    for (let at = 0; at <= whole.length; at++)
      expect(dataOf(whole.subarray(0, at), whole.subarray(at))).toEqual(['六']);
  });

  it('replaces bytes that are no UTF-8', () =>
    expect(dataOf(Buffer.from([...bytes('data: a'), 0xff, 0xc3, ...bytes('b\n\n')]))).toEqual(['a\uFFFD\uFFFDb']));

  it('is the same however its bytes are split', () => {
    const parts = [
      'data: a',
      'data:六\u{1F600}',
      ': c',
      'event: x',
      'data',
      '',
      '\n',
      '\r\n',
      '\r',
      '\uFEFF',
      'data: [DONE]',
      '{"error": 1}',
    ];
    const text = array(constantFrom(...parts), { maxLength: 30 });
    assert(
      property(text, array(integer({ min: 0, max: 200 }), { maxLength: 12 }), (pieces, cuts) => {
        const whole = bytes(pieces.join(''));
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const cut = at.slice(1).map((end, index) => whole.subarray(at[index], end));
        expect(itemsOf(...cut)).toEqual(itemsOf(whole));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('is refused with a line or an event that has no end', () => {
    const parser = new SseParser();
    const piece = bytes('x'.repeat(2 ** 16));
    const endless = () => {
      for (let pushed = 0; pushed <= LONGEST_LINE; pushed += piece.length) parser.push(piece);
    };
    expect(endless).toThrow(`a line of the stream has more than ${LONGEST_LINE} characters`);
    const lines = bytes(`data: ${'x'.repeat(1_000)}\n`.repeat(5_000));
    expect(() => new SseParser().push(lines)).toThrow(/an event of the stream has more than 4194304 characters/);
  });
});
