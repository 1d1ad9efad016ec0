/** Finds and loads the addon and the simulated driver; says what is missing and what to do about it. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { packageRoot } from '../package-root.js';
import type { NativeAddon } from './addon-types.js';
import { BenchError } from './errors.js';

const require = createRequire(import.meta.url);

let loaded: NativeAddon | null = null;

/** Loads the addon at first use. It needs no driver; measuring does. */
export function loadAddon(): NativeAddon {
  loaded ??= load();
  return loaded;
}

function load(): NativeAddon {
  const { platform, arch } = process;
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64'))
    throw new BenchError(
      'NO_ADDON',
      `Measuring needs Linux on x64 or arm64 but this is ${platform} on ${arch}. Reports, comparison and schemas work here.`,
    );
  try {
    return require('node-gyp-build')(packageRoot) as NativeAddon;
  } catch (cause) {
    if (isMusl())
      throw new BenchError(
        'NO_ADDON',
        'Measuring needs glibc 2.28 or newer but this Node is built for musl. Use a glibc-based image.',
      );
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    const remedy = existsSync(`${packageRoot}/binding.gyp`) ? 'Run npm run build:native.' : 'Reinstall gpu-virt-bench.';
    throw new BenchError('NO_ADDON', `The native addon could not be loaded: ${reason}. ${remedy}`, { cause });
  }
}

function isMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return report?.header?.glibcVersionRuntime === undefined;
}

/** Where native files other than the addon lie: the build of a checkout, or what the package ships. */
const nativeFolders = () => [
  `${packageRoot}/build/Release`,
  `${packageRoot}/prebuilds/${process.platform}-${process.arch}`,
];

/** Folder of the simulated libcuda.so.1 and libnvidia-ml.so.1, or null where they are not built or shipped. */
export function simulatedDriverFolder(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/sim`);
  return candidates.find((folder) => existsSync(`${folder}/libcuda.so.1`)) ?? null;
}

/** As a request to the addon names it: null for the machine's own driver. Throws where it is not built. */
export function simulatedDriver(simulate: boolean): string | null {
  if (!simulate) return null;
  const folder = simulatedDriverFolder();
  if (folder === null)
    throw new BenchError('NO_DRIVER', 'The simulated driver is not built. Run npm run build:native in the checkout.');
  return folder;
}

/** The calibration interposer, an LD_PRELOAD library, or null where it is not built or shipped. */
export function interposerLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/interpose/libgvb-interpose.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The library that counts a program's driver calls, or null where it is not built or shipped. */
export function counterLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/interpose/libgvb-count.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The program of the compatibility probes, or null where it is not built or shipped. */
export function probeProgram(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/probe/gvb-probe`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The program that starts a user's program and keeps what that starts, or null where it is not built or shipped. */
export function keeperProgram(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/keeper/gvb-keeper`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The library that notes what is mapped in each process of a user's program, or null where it is not built or shipped. */
export function witnessLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/keeper/libgvb-witness.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}
