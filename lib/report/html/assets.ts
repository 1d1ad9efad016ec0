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

const textOf = (name: string): string =>
  readFileSync(join(packageRoot, 'dist/report/html', name), 'utf8').replaceAll('\r\n', '\n');

const assetOf = (text: string): Asset => ({
  text,
  hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
});

/** The style sheet of every page, followed by those that this one needs as well. */
export function pageAssets(more: readonly string[] = []) {
  return { style: assetOf(['page.css', ...more].map(textOf).join('')), script: assetOf(textOf('page.js')) };
}
