// Writes lib/native/function-names.ts from the lists of functions in native/driver, or with --check compares it.
import { readFileSync } from 'node:fs';
import { generated } from './generated.js';

const source = (file) => readFileSync(new URL(`../native/driver/${file}`, import.meta.url), 'utf8');

/** The branches of drivers that the project speaks of, and their CUDA versions. */
const OLDEST = 525;
const branches = [...source('driver_branches.h').matchAll(/\{"(\d+)", (\d+)\}/g)]
  .map(([, name, version]) => [name, Number(version)])
  .filter(([name]) => name >= OLDEST);
const [[, oldest]] = branches;

const functions = ['cuda', 'nvml'].flatMap((library) =>
  [...source(`${library}_functions.inc`).matchAll(/^GVB_[A-Z]+\((\w+), (?:"\w+", )?(\d+)/gm)].map(
    ([, name, version]) => [name, Number(version)],
  ),
);
const newer = functions.filter(([, version]) => version > oldest);

const text = `/**
 * The driver and NVML functions whose owner a worker reports, for settings that are checked without an addon. Generated
 * from native/driver by npm run docs.
 */
export const functionNames = [
${functions.map(([name]) => `  '${name}',\n`).join('')}];

/** CUDA versions of the drivers that brought the functions which the oldest of the branches lacks. */
export const newerFunctions: Readonly<Record<string, number>> = {
${newer.map(([name, version]) => `  ${name}: ${version},\n`).join('')}};

/** Branches of drivers with their CUDA versions, oldest first. */
export const driverBranches: readonly (readonly [name: string, cudaVersion: number])[] = [
${branches.map(([name, version]) => `  ['${name}', ${version}],\n`).join('')}];
`;

generated('lib/native/function-names.ts', text, { source: 'the lists in native/driver', command: 'npm run docs' });
