// Checks the C++ sources with clang-tidy (.clang-tidy), as many at a time as there are processors.
//   node scripts/clang-tidy.js            all of them, each by itself
//   node scripts/clang-tidy.js --changed  those that the last two days of commits touched, and one for each header they touched
// Most of its time goes into the headers. So changed files are checked in groups, whose headers are read once; each is then
// read by itself, with one quick check, so that none relies on the includes of another.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraries, sourcesOf } from './native-sources.js';
import { groupsOf } from './native-units.js';
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

/** Folder of the nearest settings, which hold for the files below it. */
function settingsOf(file) {
  let folder = dirname(file);
  while (folder !== '.' && !existsSync(join(root, folder, '.clang-tidy'))) folder = dirname(folder);
  return folder;
}

/** Only a group includes sources. */
const ONLY_ITSELF = 'bugprone-suspicious-include';

/** Files of a library that node-gyp compiles together, or could: names are unique in each of its groups. */
const units = Object.keys(libraries).flatMap((library) =>
  groupsOf(library).map((members, index) => ({ name: `${library}-${index + 1}`, members })),
);

/** Writes files that include those of `files` that are in one unit and have the same settings. */
function together(files, folder) {
  const groups = new Map();
  for (const file of files) {
    const unit = units.find(({ members }) => members.includes(file.slice('native/'.length)));
    const key = join(settingsOf(file), unit.name);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups].map(([key, members]) => {
    const path = join(folder, `${key}.cpp`);
    mkdirSync(dirname(path), { recursive: true });
    const settings = join(dirname(key), '.clang-tidy');
    if (dirname(key) !== '.') cpSync(join(root, settings), join(folder, settings));
    writeFileSync(path, members.map((file) => `#include "${file.slice('native/'.length)}"\n`).join(''));
    return { file: path, checks: `-${ONLY_ITSELF}` };
  });
}

// In the checkout, so that the settings above it hold.
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/tidy-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const isPart = process.argv.includes('--changed');
const files = isPart ? affected(changedFiles()) : sources;
const alone = (file) => ({ file, checks: isPart ? `-*,${ONLY_ITSELF}` : '' });
const waiting = [...(isPart ? together(files, folder) : []), ...files.map(alone)];
console.log(`clang-tidy: ${files.length} of ${sources.length} files.`);

function check({ file, checks }) {
  return new Promise((resolve) => {
    const child = spawn('clang-tidy', ['--quiet', `--checks=${checks}`, file, '--', ...flags, ...defines], {
      cwd: root,
    });
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
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) passed = (await check(next)) && passed;
}
await Promise.all(Array.from({ length: availableParallelism() }, checkNext));
process.exitCode = passed ? 0 : 1;
