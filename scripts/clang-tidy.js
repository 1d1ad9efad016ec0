// Checks the C++ sources with clang-tidy (.clang-tidy), as many at a time as there are processors.
//   node scripts/clang-tidy.js            all of them
//   node scripts/clang-tidy.js --changed  those that the last two days of commits touched, and one for each header they touched
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraries, sourcesOf } from './native-sources.js';
import { nodeHeaders } from './build-environment.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const napi = createRequire(import.meta.url)('node-addon-api').include_dir;
const flags = ['-std=c++17', '-Inative', `-I${nodeHeaders}`, '-isystem', napi];
const defines = ['-DNAPI_VERSION=8', '-DNAPI_CPP_EXCEPTIONS', '-DNODE_ADDON_API_DISABLE_DEPRECATED'];
const sources = [
  ...new Set(
    Object.keys(libraries)
      .flatMap(sourcesOf)
      .map((file) => `native/${file}`),
  ),
];
const DAYS = 2;

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Paths of files that differ from the newest commit that is older than the last one by `DAYS`. */
function changedFiles() {
  const newest = Number(git('log', '-1', '--format=%ct'));
  const before = git('rev-list', '-1', `--before=${newest - DAYS * 86_400}`, 'HEAD');
  return before === '' ? git('ls-files').split('\n') : git('diff', '--name-only', before).split('\n');
}

/** The sources among `changed`, and for each changed header one that includes it by name, which shows the header's faults. */
function affected(changed) {
  const chosen = new Set(sources.filter((file) => changed.includes(file)));
  for (const header of changed.filter((file) => /^native\/.*\.(h|inc)$/.test(file)).map((file) => basename(file))) {
    const includes = (file) => {
      const text = readFileSync(root + file, 'utf8');
      return text.includes(`/${header}"`) || text.includes(`"${header}"`);
    };
    const file = [...chosen].find(includes) ?? sources.find(includes);
    if (file !== undefined) chosen.add(file);
  }
  return [...chosen];
}

const files = process.argv.includes('--changed') ? affected(changedFiles()) : [...sources];
console.log(`clang-tidy: ${files.length} of ${sources.length} files.`);

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
