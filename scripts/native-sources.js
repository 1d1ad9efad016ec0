// The C++ sources of one library as listed in native/libraries.json, for both binding.gyp and native/CMakeLists.txt. An
// entry is a prefix of paths below native/; with a leading `!` it excludes them.
//   node scripts/native-sources.js LIBRARY [PREFIX]   prints the paths in one line, each after PREFIX (default: native/)
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const native = fileURLToPath(new URL('../native/', import.meta.url));
export const libraries = JSON.parse(readFileSync(`${native}libraries.json`, 'utf8'));

/** Paths relative to native/, sorted, so that every machine links in the same order. */
export function sourcesOf(library) {
  const entries = libraries[library];
  if (!entries) throw new Error(`native/libraries.json has no library ${library}.`);
  const begins = (file, wanted) => wanted.some((start) => file.startsWith(start));
  const kept = entries.filter((entry) => !entry.startsWith('!'));
  const left = entries.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  return readdirSync(native, { recursive: true })
    .filter((file) => file.endsWith('.cpp') && begins(file, kept) && !begins(file, left))
    .sort();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [library, prefix = 'native/'] = process.argv.slice(2);
  console.log(
    sourcesOf(library)
      .map((file) => prefix + file)
      .join(' '),
  );
}
