// Checks the C++ sources with clang-tidy (.clang-tidy), two or more files at a time.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { libraries, sourcesOf } from './native-sources.js';
import { nodeHeaders } from './build-environment.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const napi = createRequire(import.meta.url)('node-addon-api').include_dir;
const flags = ['-std=c++17', '-Inative', `-I${nodeHeaders}`, '-isystem', napi];
const defines = ['-DNAPI_VERSION=8', '-DNAPI_CPP_EXCEPTIONS', '-DNODE_ADDON_API_DISABLE_DEPRECATED'];
const files = Object.keys(libraries)
  .flatMap(sourcesOf)
  .map((file) => `native/${file}`);

function check(file) {
  return new Promise((resolve) => {
    const child = spawn('clang-tidy', ['--quiet', file, '--', ...flags, ...defines], { cwd: root });
    let output = '';
    child.stdout.on('data', (text) => (output += text));
    child.on('error', (error) => {
      console.error(`clang-tidy: ${error.message}; on Debian: apt-get install clang-tidy.`);
      process.exit(1);
    });
    child.on('close', (code) => {
      if (code !== 0) console.error(output || `clang-tidy ended with ${code} on ${file}`);
      resolve(code === 0);
    });
  });
}

let passed = true;
async function checkNext() {
  for (let file = files.pop(); file !== undefined; file = files.pop()) passed = (await check(file)) && passed;
}
await Promise.all(Array.from({ length: availableParallelism() }, checkNext));
process.exitCode = passed ? 0 : 1;
