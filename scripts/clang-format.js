// Formats the C++ sources, or checks them with --check. Fails if clang-format is missing; .ci/run installs it.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(`${root}/native`, { recursive: true })
  .map((file) => `native/${file}`)
  .filter((file) => /\.(cpp|h)$/.test(file));
const mode = process.argv.includes('--check') ? ['--dry-run', '--Werror'] : ['-i'];
const { status, error } = spawnSync('clang-format', [...mode, ...files], { cwd: root, stdio: 'inherit' });
if (error) console.error('clang-format is needed (14 or newer); on Debian: apt-get install clang-format.');
process.exit(status ?? 1);
