import { readFileSync } from 'node:fs';

/** The version of this package, from the package.json two folders up (lib/ and dist/ alike). */
export function toolVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
