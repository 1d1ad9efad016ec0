/** The browser of these tests. Without it they are skipped, with a message. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasBrowser = existsSync(executablePath);
if (!hasBrowser) process.stderr.write(`SKIPPED: pages in a browser: there is no ${executablePath} (set CHROMIUM=…).\n`);

const args =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'.split(
    ' ',
  );

export const launched = (): Promise<Browser> => chromium.launch({ executablePath, args });

/**
 * The contrast of every visible text against its background. Cells of a map are drawings, whose colours are tested with
 * the style sheet.
 */
export const contrasts = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('script, style, .watermark, option, .map svg')) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    const [front, back] = [channels(isDrawn ? style.fill : style.color), ground(element)].map(luminance);
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    seen += 1;
    if (ratio < 4.5) low.push([walker.currentNode.data.trim().slice(0, 40), ratio]);
  }
  return { seen, low };
})()`;
