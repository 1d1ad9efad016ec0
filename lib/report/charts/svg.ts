/** Converts a drawing to page markup with an accessible name and the values of its marks as text. */
import { cleaned, escape, type Markup, trusted } from '../text/markup.js';
import { type ChartOption, draw, measureBy, type Size } from './echarts.js';
import { widthOf } from './text.js';

export interface Drawing {
  option: ChartOption;
  size: Size;
  /** A sentence that says what the drawing is and shows. */
  label: string;
  /** Texts shown on hover, by series and then by data point. */
  tips: readonly (readonly string[])[];
}

measureBy(widthOf);

const META = / ecmeta_series_index="(\d+)"(?: ecmeta_data_index="(\d+)")?[^>]*?ecmeta_ssr_type="chart"/g;

/**
 * Removes attributes of ECharts that a page does not need: styles (so that the page needs no `unsafe-inline`), name
 * spaces, and counters since process start, which would differ between two pages. No pattern can match inside text:
 * they all contain a quote, which ECharts escapes in text.
 */
const tidy = (svg: string): string =>
  svg
    .replace(/<rect width="\d+" height="\d+" x="0" y="0" fill="none"><\/rect>\n/, '')
    .replace(/ style="font-size:(\d+)px;font-family:[^";]*;(font-weight:bold;)?"/g, (_, size, bold) =>
      bold ? ` font-size="${size}" font-weight="bold"` : ` font-size="${size}"`,
    )
    .replace(/ (?:class="zr[^"]*"|xml:space="preserve"|pointer-events="[^"]*"|stroke-miterlimit="10")/g, '')
    .replace(/ ecmeta_[a-z_]+="[^"]*"/g, '')
    .replace(/ (?:transform|x|y)="[^"]*"/g, (attribute) => attribute.replace(/(\.\d)\d+/g, '$1'))
    .replace(/><\/(?:path|rect|circle)>/g, '/>')
    .replaceAll('\n', '')
    .replace(/<g clip-path="[^"]*">(.*?)<\/g>/g, '$1')
    .replace(/<defs ?>.*?<\/defs>/, '')
    .replace(/<style ?><!\[CDATA\[[^<]*\]\]><\/style>/, '');

export function svg({ option, size, label, tips }: Drawing): Markup {
  const { width, height } = size;
  const head = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(label)}">`;
  const drawn = draw(option, size).replace(META, (meta, series, data) => {
    const tip = tips[Number(series)]?.[Number(data)];
    return tip === undefined ? meta : ` data-tip="${escape(tip)}"`;
  });
  return trusted(cleaned(tidy(drawn)).replace(/^<svg [^>]*>/, head));
}
