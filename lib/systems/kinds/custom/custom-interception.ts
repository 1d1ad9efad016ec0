/**
 * Whether the libraries that a custom system names intercept anything: if not, it would measure the bare driver under
 * another name.
 */
import { basename } from 'node:path';
import type { Description } from '../../../workers/description.js';
import { advice } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { replacedLibcuda } from '../../proof/hidden-interception.js';
import { type Interceptor, interceptionText, interceptors, NO_FILE } from '../../proof/interception.js';
import { namesFile, parseVariable, realPath, sameFile } from '../../proof/ld-preload.js';

const sharedObject = /\.so(\.\d+)*$/;

/**
 * Libraries preloaded in the worker, for whatever reason, or named by the system's variables: as mapped, or as written.
 */
export function namedLibraries({ preload }: Description, variables: Readonly<Record<string, string>>): string[] {
  const preloaded = preload.flatMap(({ source, entry, mapped }) => (source === 'LD_PRELOAD' ? [mapped ?? entry] : []));
  const named = Object.values(variables).flatMap(parseVariable);
  const libraries = [...preloaded, ...named.filter((word) => sharedObject.test(basename(word)))];
  return libraries.filter((library, index) => libraries.findIndex((other) => sameFile(other, library)) === index);
}

/**
 * Interceptors by pointers to driver or NVML functions, on any symbol path. Excludes those that hook every process of
 * the machine, which do not belong to the system.
 */
export function ownInterceptors({ provenance, preload }: Description): Interceptor[] {
  const everywhere = preload.flatMap(({ source, mapped }) =>
    source === 'LD_PRELOAD' || mapped === null ? [] : [realPath(mapped)],
  );
  return interceptors(provenance).filter(({ owner }) => !everywhere.includes(realPath(owner)));
}

/**
 * The first interceptor among the libraries. A libcuda.so.1 in place of the driver intercepts whatever the pointers
 * show.
 */
export function namedInterceptor(description: Description, libraries: readonly string[]): string | undefined {
  const replacement = replacedLibcuda(description)?.by;
  const owners = ownInterceptors(description).map(({ owner }) => owner);
  const all = replacement === undefined ? owners : [...owners, replacement];
  const named = all.find((owner) => libraries.some((library) => namesFile(library, owner)));
  // Nobody else can have put code there, natively nobody does.
  return named ?? (owners.includes(NO_FILE) ? mappedAmong(libraries, description) : undefined);
}

const mappedAmong = (libraries: readonly string[], { preload }: Description): string | undefined =>
  libraries.find((library) => preload.some(({ mapped }) => mapped !== null && namesFile(library, mapped)));

/** Null if the system names no library. */
export function intercepts(description: Description, libraries: readonly string[]): Finding | null {
  if (libraries.length === 0) return null;
  const names = libraries.join(', ');
  const passed = namedInterceptor(description, libraries) !== undefined;
  const foreign = !passed && ownInterceptors(description).length > 0;
  const seen = interceptionSeen(description);
  return {
    proof: 'the named libraries intercept',
    passed,
    detail: foreign ? `${names} intercepts nothing; another library does: ${seen}` : seen,
    advice: foreign
      ? 'Name the library that intercepts, or remove it from the environment.'
      : `${advice.wrongBuild} If ${names} is not meant to intercept driver calls, set interposes: false.`,
  };
}

export function interceptionSeen(description: Description): string {
  const found = ownInterceptors(description);
  const total = description.provenance.functions.length;
  const replaced = replacedLibcuda(description);
  const seen = [
    ...(found.length > 0 ? [interceptionText(found, total)] : []),
    ...(replaced ? [`${replaced.by} replaces the driver's libcuda.so.1: ${replaced.reason}`] : []),
  ];
  if (seen.length > 0) return seen.join('; ');
  return `nothing intercepts: the driver owns all ${total} functions on every symbol path, and those of NVML`;
}
