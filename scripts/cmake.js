// Runs cmake-js on native/CMakeLists.txt with the headers of the running Node, so that it downloads none.
//   node scripts/cmake.js build [OUT] [--CDNAME=VALUE …]   everything, then ctest; one of the tests needs what node-gyp builds
//   node scripts/cmake.js compile [OUT] [--CDNAME=VALUE …], node scripts/cmake.js test [OUT]   the same in two steps
//   node scripts/cmake.js kernels                          regenerates the committed PTX
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildEnvironment } from './build-environment.js';
import { isCurrent } from './current.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const [command = 'build', ...rest] = process.argv.slice(2);
const flags = rest.filter((argument) => argument.startsWith('--'));
const out = rest.find((argument) => !argument.startsWith('--')) ?? 'build-cmake';

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: buildEnvironment });
  if (error) console.error(`${program}: ${error.message}; it is needed for the native tests.`);
  if (status !== 0) process.exit(status ?? 1);
}

const cmakeJs = [require.resolve('cmake-js/bin/cmake-js'), 'build', '--directory', 'native', '--out', out, ...flags];
if (command === 'kernels') run(process.execPath, [...cmakeJs, '--target', 'kernels']);
else {
  if (!isCurrent('native')) run(process.execPath, ['scripts/build-native.js']);
  if (command !== 'test') run(process.execPath, cmakeJs);
  if (command !== 'compile') run('ctest', ['--test-dir', out, '--output-on-failure']);
}
