/** A kind of system is compared by name where it is defined; elsewhere a property of the system says what follows. */
import { expect, it } from 'vitest';
import { sourcesIn, textOf } from './source-files.js';

const kinds = ['native', 'hami-core', 'vgpu-manager', 'fcsp', 'mps', 'container', 'custom', 'environment'];
const comparison = new RegExp(`\\bkind\\)? *[=!]== *'(?:${kinds.join('|')})'`);
/** The systems themselves, and what a document says of theirs. */
const own = /^lib\/(systems\/|results\/recorded-kind\.ts$)/;

it('is compared in no file outside of its folder', () => {
  const files = sourcesIn('lib').filter((file) => !own.test(file));
  expect(files.filter((file) => comparison.test(textOf(file)))).toEqual([]);
});

it('would be found', () => expect("if (system.kind === 'mps')").toMatch(comparison));
