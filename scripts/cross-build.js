// Builds the native parts for another architecture with the cross compiler that Debian has for it. node-gyp knows one
// folder for what it builds, so the sources are copied: build-ARCH/ has its own.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildEnvironment } from './build-environment.js';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));

/** The beginning of the names of compiler and tools, by Node's name of the architecture. */
const toolchains = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

export function toolchainOf(architecture) {
  if (Object.hasOwn(toolchains, architecture)) return toolchains[architecture];
  console.error(`Expected one of ${Object.keys(toolchains).join(', ')} but received ${architecture}.`);
  process.exit(1);
}

/** Returns the folder that corresponds to build/Release. */
export function crossBuild(architecture) {
  const tools = toolchainOf(architecture);
  const folder = `${root}build-${architecture}/`;
  for (const path of ['binding.gyp', 'package.json', 'native', 'scripts']) {
    // Without a file that is no longer there. make compiles what has changed, because the rest keeps its time.
    rmSync(folder + path, { recursive: true, force: true });
    cpSync(root + path, folder + path, { recursive: true, preserveTimestamps: true });
  }
  if (!existsSync(`${folder}node_modules`)) symlinkSync('../node_modules', `${folder}node_modules`);
  const { status } = spawnSync(
    process.execPath,
    [require.resolve('node-gyp/bin/node-gyp.js'), 'configure', 'build', `--arch=${architecture}`, '--loglevel=warn'],
    {
      cwd: folder,
      stdio: 'inherit',
      env: {
        ...buildEnvironment,
        CC: `${tools}-gcc`,
        CXX: `${tools}-g++`,
        AR: `${tools}-ar`,
        LINK: `${tools}-g++`,
      },
    },
  );
  if (status !== 0) {
    console.error(
      `Building for ${architecture} failed. It needs ${tools}-g++; on Debian: apt-get install g++-${tools}.`,
    );
    process.exit(1);
  }
  return `${folder}build/Release`;
}
