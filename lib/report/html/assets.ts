/** The page's style sheet and script, with the hashes by which a browser checks them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.js';

interface Asset {
  text: string;
  /** The hash in the form that a Content-Security-Policy uses. */
  hash: string;
}

const read = (name: string): Asset => {
  const text = readFileSync(join(packageRoot, 'dist/report/html', name), 'utf8').replaceAll('\r\n', '\n');
  return { text, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
};

let assets: { style: Asset; script: Asset } | undefined;

export function pageAssets() {
  assets ??= { style: read('page.css'), script: read('page.js') };
  return assets;
}
