/**
 * Whether the libraries that a custom system names intercept anything: one that does not measures the bare driver under
 * another name.
 */
import { basename } from 'node:path';
import type { Description } from '../workers/description.js';
import { advice, type Finding } from './attestation.js';
import { replacedLibcuda } from './hidden-interception.js';
import { type Interceptor, interceptionText, interceptors } from './interception.js';
import { namesFile, parseVariable, realPath, sameFile } from './ld-preload.js';

const sharedObject = /\.so(\.\d+)*$/;

/** Preloaded in the worker, by whatever set it, or named by one of the system's variables: as mapped, or as written. */
export function namedLibraries({ preload }: Description, variables: Readonly<Record<string, string>>): string[] {
  const preloaded = preload.flatMap(({ source, entry, mapped }) => (source === 'LD_PRELOAD' ? [mapped ?? entry] : []));
  const named = Object.values(variables).flatMap(parseVariable);
  const libraries = [...preloaded, ...named.filter((word) => sharedObject.test(basename(word)))];
  return libraries.filter((library, index) => libraries.findIndex((other) => sameFile(other, library)) === index);
}

/** By pointers to driver or NVML functions, on any symbol path; what hooks every process of the machine is not the system's. */
export function ownInterceptors({ provenance, preload }: Description): Interceptor[] {
  const everywhere = preload.flatMap(({ source, mapped }) =>
    source === 'LD_PRELOAD' || mapped === null ? [] : [realPath(mapped)],
  );
  return interceptors(provenance).filter(({ owner }) => !everywhere.includes(realPath(owner)));
}

/** The first interceptor that is one of the libraries; a libcuda.so.1 in place of the driver intercepts, whatever pointers show. */
export function namedInterceptor(description: Description, libraries: readonly string[]): string | undefined {
  const replacement = replacedLibcuda(description)?.by;
  const owners = ownInterceptors(description).map(({ owner }) => owner);
  const all = replacement === undefined ? owners : [...owners, replacement];
  return all.find((owner) => libraries.some((library) => namesFile(library, owner)));
}

/** Null where there is nothing to ask: the system names no library. */
export function intercepts(description: Description, libraries: readonly string[]): Finding | null {
  if (libraries.length === 0) return null;
  const names = libraries.join(', ');
  const passed = namedInterceptor(description, libraries) !== undefined;
  const foreign = !passed && ownInterceptors(description).length > 0;
  const seen = interceptionSeen(description);
  return {
    proof: 'the named libraries intercept (dladdr)',
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
