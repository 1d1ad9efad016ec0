/** The page's own style sheet and script, and what a browser checks them by. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Asset {
  text: string;
  /** As a Content-Security-Policy names it. */
  hash: string;
}

const read = (name: string): Asset => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8').replaceAll('\r\n', '\n');
  return { text, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
};

let assets: { style: Asset; script: Asset } | undefined;

export function pageAssets() {
  assets ??= { style: read('./page.css'), script: read('./page.js') };
  return assets;
}
