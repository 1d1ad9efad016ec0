import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { functionNames } from '../../../lib/native/function-names.js';

const declared = ['cuda', 'nvml'].flatMap((library) => {
  const file = fileURLToPath(new URL(`../../../native/driver/${library}_functions.inc`, import.meta.url));
  return [...readFileSync(file, 'utf8').matchAll(/^GVB_[A-Z]+\((\w+)/gm)].map(([, name]) => name);
});

it('lists the functions that the addon resolves', () => {
  expect(declared).toContain('cuInit');
  expect(functionNames).toEqual(declared);
});
