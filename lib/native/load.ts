/** Finds and loads the addon and the simulated driver; errors say what is missing and what to do. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { packageRoot } from '../package-root.js';
import type { NativeAddon } from './addon-types.js';
import { nameCommandCard } from './command-card.js';
import { BenchError } from '../errors/bench-error.js';

const require = createRequire(import.meta.url);

let loaded: NativeAddon | null = null;

/** Loads the addon at first use. Loading needs no driver; measuring does. */
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
  nameCommandCard();
  try {
    return require('node-gyp-build')(packageRoot) as NativeAddon;
  } catch (cause) {
    if (isMusl())
      throw new BenchError(
        'NO_ADDON',
        'Measuring needs glibc 2.28 or newer but this Node is built for musl. Use a glibc-based image.',
      );
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new BenchError('NO_ADDON', `The native addon could not be loaded: ${reason}. ${remedy()}`, { cause });
  }
}

function remedy(): string {
  if (packageRoot.includes('$')) return 'The dynamic loader expands $ in a path: move the package to another folder.';
  return existsSync(`${packageRoot}/binding.gyp`) ? 'Run npm run build:native.' : 'Reinstall gpu-virt-bench.';
}

function isMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return report?.header?.glibcVersionRuntime === undefined;
}

/** Folders of native files other than the addon: the build of a checkout, or the package's. */
const nativeFolders = () => [
  `${packageRoot}/build/Release`,
  `${packageRoot}/prebuilds/${process.platform}-${process.arch}`,
];

/** Folder of the simulated libcuda.so.1 and libnvidia-ml.so.1, or null if they are neither built nor shipped. */
export function simulatedDriverFolder(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/sim`);
  return candidates.find((folder) => existsSync(`${folder}/libcuda.so.1`)) ?? null;
}

/**
 * Driver folder for requests to the addon: null means the machine's own driver. Throws if the simulation is not built.
 */
export function simulatedDriver(simulate: boolean): string | null {
  if (!simulate) return null;
  const folder = simulatedDriverFolder();
  if (folder === null)
    throw new BenchError('NO_DRIVER', 'The simulated driver is not built. Run npm run build:native in the checkout.');
  return folder;
}

/** The calibration interposer, an LD_PRELOAD library, or null if it is neither built nor shipped. */
export function interposerLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/interpose/libgvb-interpose.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The library that counts a program's driver calls, or null if it is neither built nor shipped. */
export function counterLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/interpose/libgvb-count.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The program of the compatibility probes, or null if it is neither built nor shipped. */
export function probeProgram(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/probe/gvb-probe`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

/** The program that starts a user's program and tracks its processes, or null if it is neither built nor shipped. */
export function keeperProgram(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/keeper/gvb-keeper`);
  return candidates.find((file) => existsSync(file)) ?? null;
}

export function keeperOrThrow(): string {
  const keeper = keeperProgram();
  if (keeper !== null) return keeper;
  throw new BenchError(
    'NO_ADDON',
    'gvb-keeper, which starts the program, is missing: run npm run build:native in a checkout, else reinstall the package.',
  );
}

/**
 * The library that records the mapped files of each process of a user's program, or null if it is neither built nor
 * shipped.
 */
export function witnessLibrary(): string | null {
  const candidates = nativeFolders().map((folder) => `${folder}/keeper/libgvb-witness.so`);
  return candidates.find((file) => existsSync(file)) ?? null;
}
