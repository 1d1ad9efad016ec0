// Groups the C++ sources of one library for node-gyp: about ten files that follow each other become one file that
// includes them. The compiler then reads the headers they share, and makes their templates' code, once for all, which
// takes half of its time. The native tests and clang-tidy take every file by itself, so none can come to rely on what
// another includes or declares.
//   node scripts/native-units.js LIBRARY   writes build/units/LIBRARY-N.cpp and prints the paths in one line
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourcesOf } from './native-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const MOST_FILES = 10;

/** As equal in size as they can be: the largest decides how long a build with many processors takes. */
function groups(files) {
  const count = Math.ceil(files.length / MOST_FILES);
  const start = (group) => Math.floor((group * files.length) / count);
  return Array.from({ length: count }, (_, group) => files.slice(start(group), start(group + 1)));
}

/** An unchanged file keeps its time, so that make finds it compiled. */
function write(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  writeFileSync(path, text);
}

const [library] = process.argv.slice(2);
mkdirSync(`${root}build/units`, { recursive: true });
const units = groups(sourcesOf(library)).map((files, index) => {
  const unit = `build/units/${library}-${index + 1}.cpp`;
  write(root + unit, files.map((file) => `#include "${file}"\n`).join(''));
  return unit;
});
console.log(units.join(' '));
