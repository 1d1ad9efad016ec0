/**
 * Whether the libraries that a custom system names intercept anything: one that does not measures the bare driver under
 * another name.
 */
import { basename } from 'node:path';
import type { Description } from '../workers/description.js';
import { advice, type Finding } from './attestation.js';
import { type Interceptor, interceptionText, interceptors } from './interception.js';
import { parseVariable, realPath } from './ld-preload.js';

const sharedObject = /\.so(\.\d+)*$/;

/** Preloaded in the worker, by whatever set it, or named by one of the system's variables. */
export function namedLibraries({ preload }: Description, variables: Readonly<Record<string, string>>): string[] {
  const preloaded = preload.filter(({ source }) => source === 'LD_PRELOAD').map(({ entry }) => entry);
  const named = Object.values(variables).flatMap(parseVariable);
  return [...new Set([...preloaded, ...named.filter((word) => sharedObject.test(basename(word)))])];
}

/** By pointers to driver or NVML functions, on any symbol path; what hooks every process of the machine is not the system's. */
export function ownInterceptors({ provenance, preload }: Description): Interceptor[] {
  const everywhere = preload.flatMap(({ source, mapped }) =>
    source === 'LD_PRELOAD' || mapped === null ? [] : [realPath(mapped)],
  );
  return interceptors(provenance).filter(({ owner }) => !everywhere.includes(realPath(owner)));
}

/** Null where there is nothing to ask: the system names no library. */
export function intercepts(description: Description, libraries: readonly string[]): Finding | null {
  if (libraries.length === 0) return null;
  return {
    proof: 'the named libraries intercept (dladdr)',
    passed: ownInterceptors(description).length > 0,
    detail: interceptionSeen(description),
    advice: `${advice.wrongBuild} Where ${libraries.join(', ')} is not meant to intercept driver calls, say interposes: false.`,
  };
}

export function interceptionSeen(description: Description): string {
  const found = ownInterceptors(description);
  const total = description.provenance.functions.length;
  if (found.length > 0) return interceptionText(found, total);
  return `nothing intercepts: the driver owns all ${total} functions on every symbol path, and those of NVML`;
}
