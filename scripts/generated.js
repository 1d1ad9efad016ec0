// Writes a committed file that is generated from the code, or with --check compares it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);

/**
 * `path` is relative to the checkout; `source` names the source of the file, `command` the command that generates it.
 * Returns whether the file was different.
 */
export function generated(path, text, { source, command }) {
  const file = fileURLToPath(new URL(path, root));
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return false;
  if (process.argv.includes('--check')) {
    console.error(`error: ${path} differs from ${source}: run ${command}.`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return true;
}
