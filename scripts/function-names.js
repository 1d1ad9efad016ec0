// Writes lib/native/function-names.ts from the lists of functions in native/driver, or with --check compares it.
import { readFileSync } from 'node:fs';
import { generated } from './generated.js';

const namesOf = (library) => {
  const file = new URL(`../native/driver/${library}_functions.inc`, import.meta.url);
  return [...readFileSync(file, 'utf8').matchAll(/^GVB_[A-Z]+\((\w+)/gm)].map(([, name]) => name);
};
const names = ['cuda', 'nvml'].flatMap(namesOf);

const text = `/**
 * The driver and NVML functions whose owner a worker reports, for settings that are checked without an addon. Generated
 * from native/driver by npm run docs.
 */
export const functionNames = [
${names.map((name) => `  '${name}',\n`).join('')}];
`;

generated('lib/native/function-names.ts', text, { source: 'the lists in native/driver', command: 'npm run docs' });
