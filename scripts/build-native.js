// Builds addon, simulated driver and standalone benchmark with node-gyp. Uses the headers that came with the running
// Node where they are there, so that nothing is downloaded and an empty HOME works. Not a rebuild: `npx gpu-virt-bench` in
// a checkout has npm prepare it once more, and make then finds everything done.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const prefix = dirname(dirname(process.execPath));
const nodedir = existsSync(`${prefix}/include/node/node_api.h`) ? [`--nodedir=${prefix}`] : [];
const jobs = `-j${availableParallelism()}`;

const { status } = spawnSync(
  process.execPath,
  [
    require.resolve('node-gyp/bin/node-gyp.js'),
    'configure',
    'build',
    jobs,
    '--loglevel=warn',
    ...nodedir,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
if (status !== 0) {
  console.error(
    'Building the native parts failed. It needs a C++17 compiler, make, Python 3 and the headers of this Node.',
  );
  process.exit(status ?? 1);
}
