// Groups the C++ sources of one library for node-gyp: up to twenty successive files become one file that includes them.
// The compiler then reads shared headers and instantiates templates once per group, which halves its time. clang-tidy
// compiles every file separately, so no file can rely on the includes or declarations of another.
//   node scripts/native-units.js LIBRARY   writes build/units/LIBRARY-N.cpp and prints the paths in one line
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sourcesOf } from './native-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const MOST_FILES = 20;

/** The files of a library in groups of nearly equal size: the largest determines how long a build with many processors takes. */
export function groupsOf(library) {
  const files = sourcesOf(library);
  const count = Math.ceil(files.length / MOST_FILES);
  const start = (group) => Math.floor((group * files.length) / count);
  return Array.from({ length: count }, (_, group) => files.slice(start(group), start(group + 1)));
}

/** An unchanged file keeps its modification time, so that make does not compile it again. */
function write(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  writeFileSync(path, text);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [library] = process.argv.slice(2);
  mkdirSync(`${root}build/units`, { recursive: true });
  const units = groupsOf(library).map((files, index) => {
    const unit = `build/units/${library}-${index + 1}.cpp`;
    write(root + unit, files.map((file) => `#include "${file}"\n`).join(''));
    return unit;
  });
  console.log(units.join(' '));
}
