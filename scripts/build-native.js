// Builds addon, simulated driver and interposer with node-gyp; with --bench also the programs that only bench/ needs, with
// --description the addon that native-types.js reads. The build is incremental.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildEnvironment } from './build-environment.js';
import { forget, remember, sourcesOf } from './current.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const ADDED = ['bench', 'description'];
const given = process.argv.slice(2);
const added = ADDED.filter((name) => given.includes(`--${name}`));
const others = given.filter((argument) => !added.includes(argument.slice(2)));
const sources = sourcesOf('native');
forget('native');

// make does not know that ptx.cpp includes the PTX by the assembler's .incbin.
const holder = `${root}native/kernels/ptx.cpp`;
const changed = (file) => statSync(`${root}native/kernels/ptx/${file}`).mtimeMs > statSync(holder).mtimeMs;
if (readdirSync(`${root}native/kernels/ptx`).some(changed)) utimesSync(holder, new Date(), new Date());

const defines = [process.env.GYP_DEFINES ?? '', ...added.map((name) => `${name}=1`)].join(' ').trim();
const env = { ...buildEnvironment, GYP_DEFINES: defines };

const { status } = spawnSync(
  process.execPath,
  [require.resolve('node-gyp/bin/node-gyp.js'), 'configure', 'build', '--loglevel=warn', ...others],
  { cwd: root, stdio: 'inherit', env },
);
if (status !== 0) {
  console.error(
    'Building the native parts failed. It needs a C++17 compiler, make, Python 3 and the headers of this Node.',
  );
  process.exit(status ?? 1);
}
// Arguments of node-gyp may have made something else.
if (others.length === 0) remember('native', sources);
