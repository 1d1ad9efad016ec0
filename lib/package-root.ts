import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from './errors/bench-error.js';

const NAME = 'gpu-virt-bench';

function isRoot(folder: string): boolean {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown };
    return name === NAME;
  } catch {
    // Missing or not JSON: not this package.
    return false;
  }
}

/**
 * The folder of this package, which contains lib/ and dist/, however dist/ is bundled. Another program's bundle has none:
 * the addon, worker programs and other files are not in it, so importing it throws.
 */
export const packageRoot = ((): string => {
  // A bundle in the form of CommonJS may have no URL.
  const { url } = import.meta as { url?: string };
  let folder = url === undefined ? '/' : dirname(fileURLToPath(url));
  while (!isRoot(folder)) {
    if (dirname(folder) === folder) throw bundledError();
    folder = dirname(folder);
  }
  return folder;
})();

function bundledError(): BenchError {
  return new BenchError(
    'NO_ADDON',
    `${NAME} was bundled into another program, without its addon and its other files. Install it beside that program and ` +
      `mark it external: --external:${NAME} (esbuild), external: ['${NAME}'] (rolldown, Rollup), ssr.external (Vite).`,
  );
}
