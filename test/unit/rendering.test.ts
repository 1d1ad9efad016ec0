import { describe, expect, it } from 'vitest';
import { answered } from '../../lib/answer/answer.js';
import { type Format, renderReport } from '../../lib/index.js';
import { formats } from '../../lib/report/formats.js';
import { everyKind } from './report/fixtures.js';
import { runDocument } from './run/fixtures.js';

describe('renderReport', () => {
  it('returns the given JSON with its answer', async () => {
    expect(JSON.parse(await renderReport(everyKind(), 'json'))).toEqual(answered(everyKind()));
  });

  it('returns ASCII, so that a reader needs one byte per character', async () => {
    const document = runDocument({ warnings: ['µ – 🙂 "\\u00b5"'] });
    const text = await renderReport(document, 'json');
    // eslint-disable-next-line no-control-regex
    expect(text).toMatch(/^[\u0000-\u007f]*$/);
    expect(JSON.parse(text)).toEqual(document);
  });

  it.each(formats)('renders a run as %s', async (format) => {
    expect((await renderReport(runDocument(), format)).length).toBeGreaterThan(0);
  });

  it('rejects an unknown format', async () => {
    await expect(renderReport(runDocument(), 'pdf' as Format)).rejects.toThrow(
      new RangeError(`Expected format to be one of ${formats.join(', ')} but received pdf.`),
    );
  });

  it.each([null, {}, { ...runDocument(), metrics: null }, { ...runDocument(), durationMs: Number.NaN }])(
    'rejects what is no document: %j',
    async (document) => {
      await expect(renderReport(document as never, 'csv')).rejects.toThrow(TypeError);
    },
  );
});
